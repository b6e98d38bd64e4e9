// The interpreter of the playground. It is loaded from one of two places, which the address cannot
// extend: the distribution's public home, or the folder "pyodide" beside this file.

const PLACES = {
  public: "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/",
  local: new URL("pyodide/", import.meta.url).href,
};
const place = new URL(import.meta.url).searchParams.get("python");
let session = null;

async function loaded(run) {
  const tell = (status) => postMessage({ run, status });
  tell("Loading Python");
  const base = PLACES[place === "local" ? "local" : "public"];
  const { loadPyodide } = await import(`${base}pyodide.mjs`);
  const python = await loadPyodide({ indexURL: base });
  tell("Loading NumPy");
  await python.loadPackage(["numpy", "networkx"]);
  tell("Loading fluidlite");
  const wheel = await fetched("fluidlite.whl");
  python.unpackArchive(await wheel.arrayBuffer(), "wheel");
  const source = await fetched("session.py");
  python.FS.writeFile("session.py", await source.text());
  return python.pyimport("session");
}

async function fetched(name) {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return answer;
}

onmessage = async ({ data }) => {
  try {
    session ??= await loaded(data.run);
    postMessage({ run: data.run, status: "Running" });
    const answer = session.answer(data.kind, data.source, data.gradients);
    postMessage({ run: data.run, answer });
  } catch (error) {
    postMessage({ run: data.run, failure: `The interpreter failed: ${error}` });
  }
};
