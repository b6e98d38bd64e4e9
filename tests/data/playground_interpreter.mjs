// Stands in for Pyodide: answers with results that the test has recorded beforehand.
export async function loadPyodide({ indexURL }) {
  const recorded = await (await fetch(`${indexURL}recorded.json`)).json();
  const session = {
    answer(kind, source, gradients) {
      while (source.includes("while True")); // as Python would
      const key = JSON.stringify([kind, source, gradients]);
      if (!(key in recorded)) throw new Error(`nothing is recorded for ${key}`);
      return recorded[key];
    },
  };
  const nothing = () => {};
  return {
    loadPackage: async () => {},
    unpackArchive: nothing,
    FS: { writeFile: nothing },
    pyimport: () => session,
  };
}
