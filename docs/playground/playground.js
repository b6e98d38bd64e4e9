"use strict";
// The page of the playground. Programs run in a worker (worker.js), so the page answers meanwhile;
// ending the worker ends an endless loop. What comes from the address is text until "Run" is clicked.

const LONGEST = 65536; // letters of a program in the address
const PAUSE = 600; // milliseconds without a key, before a program runs while somebody types
const EXAMPLES = {
  python: `x = fluid.data("x", [None, 2])
y = fluid.layers.fc(x, size=3, act="tanh")
loss = fluid.layers.reduce_mean(y * y)
feed = {"x": np.array([[1, 2], [3, 4]], "float32")}
`,
  text: `program (seed=0) {
  block 0 {
    param w: float32[2, 1]
    data  x: float32[-1, 2]
    var   y: float32[-1, 1]

    y = mul(X=x, Y=w)
  }
}
`,
};

const part = (id) => document.getElementById(id);
let worker = null;
let running = 0; // the number of the run under way, or 0
let runs = 0;
let waiting = 0; // a timer
let trusted = false; // whether a person has clicked "Run" for what stands there

function encoded(text) {
  const letters = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));
  return btoa(letters.join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decoded(text) {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

// The program of the address; null if it has none that can be read.
function fromAddress() {
  const found = /^#(python|text)=([\w-]*)$/.exec(location.hash);
  if (!found || found[2].length > LONGEST) return null;
  try {
    return { kind: found[1], source: decoded(found[2]) };
  } catch {
    return null;
  }
}

function toAddress() {
  const code = encoded(part("source").value);
  if (code.length > LONGEST) return say("The program is too long for an address.");
  history.replaceState(null, "", `#${part("kind").value}=${code}`);
  return true;
}

function say(text) {
  part("status").textContent = text;
}

function open() {
  const program = fromAddress();
  trusted = false;
  part("live").checked = false;
  part("notice").hidden = program === null;
  if (program === null && location.hash.length > 1) say("The address holds no program.");
  part("kind").value = program?.kind ?? "python";
  part("source").value = program?.source ?? EXAMPLES.python;
}

function stop(text) {
  worker?.terminate();
  worker = null;
  settle(text);
}

function settle(text) {
  running = 0;
  part("stop").disabled = true;
  say(text);
}

function run() {
  if (running) stop("");
  trusted = true;
  part("notice").hidden = true;
  toAddress();
  if (worker === null) {
    const place = new URLSearchParams(location.search).get("python") === "local" ? "local" : "public";
    worker = new Worker(`worker.js?python=${place}`, { type: "module" });
    worker.onmessage = (event) => take(event.data);
    worker.onerror = (event) => stop(`The interpreter failed: ${event.message}`);
  }
  running = ++runs;
  part("stop").disabled = false;
  say("Running");
  worker.postMessage({
    run: running,
    kind: part("kind").value,
    source: part("source").value,
    gradients: part("gradients").checked,
  });
}

function take(message) {
  if (message.run !== running) return;
  if (message.status !== undefined) return say(message.status);
  if (message.failure !== undefined) return stop(message.failure);
  const result = JSON.parse(message.answer);
  settle(result.error ? "Ended with an error" : "Done");
  const output = part("output");
  output.textContent = [result.printed, result.error].filter(Boolean).join("\n");
  output.className = result.error ? "error" : "";
  if (result.page === "") return; // the last page stays beside an error
  fill(result.rows);
  show(result.page);
}

function fill(rows) {
  part("values").tBodies[0].replaceChildren(
    ...rows.map((row) => {
      const line = document.createElement("tr");
      for (const text of row) line.insertCell().textContent = text;
      return line;
    }),
  );
}

// A new frame for each page: the old one's scripts end with it.
function show(page) {
  const old = part("page");
  const frame = old.cloneNode();
  frame.onload = () => {
    frame.onload = null;
    frame.contentWindow.postMessage(page, "*");
  };
  old.replaceWith(frame);
}

part("run").onclick = run;
part("stop").onclick = () => stop("Stopped");
part("share").onclick = async () => {
  if (!toAddress()) return;
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
  } catch {
    say("The address of this page is the link.");
  }
};
part("kind").onchange = () => {
  const others = Object.values(EXAMPLES);
  if (others.includes(part("source").value)) part("source").value = EXAMPLES[part("kind").value];
};
part("source").oninput = () => {
  clearTimeout(waiting);
  if (trusted && part("live").checked) waiting = setTimeout(run, PAUSE);
};
part("source").onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
};
addEventListener("hashchange", () => {
  clearTimeout(waiting);
  if (running) stop("");
  open();
});
open();
document.body.dataset.ready = "yes";
