// Starts the page: model, view, panel, search, buttons and keys.

const model = new Model(JSON.parse(document.getElementById("program").textContent));
const canvas = document.getElementById("canvas");
let panel = null;
const view = new View(model, canvas, (what) => panel.show(what));
panel = new Panel(model, view);
const search = new Search(model, panel);
const steps = new Steps(model, view, panel);

function dark(on) {
  document.documentElement.dataset.theme = on ? "dark" : "light";
}

async function fold(all) {
  if (all) model.foldAll();
  else if (!model.unfoldAll()) {
    say(`the program has more than ${MOST} operators; unfold parts of it`);
    return;
  }
  await view.show();
  view.fit();
}

function twin() {
  const op = view.selected?.op;
  if (op === undefined) return;
  const target = model.ops[op].f >= 0 ? model.ops[op].f : model.gradients[op][0];
  if (target === undefined) say("it has no gradient operator in this program");
  else panel.go({ op: target });
}

// Go along an edge: to what reads the selected node, or to what it reads.
function follow(forwards) {
  const [id] = view.nodesOf(view.selected);
  if (!id) {
    const [first] = view.scene.nodes.keys();
    if (first) view.select(view.whatIs(first), true);
    return;
  }
  const edges = view.scene.edges.filter((edge) => (forwards ? edge.a : edge.b) === id);
  edges.sort((a, b) => (a.kind === "reads") - (b.kind === "reads"));
  if (edges.length) view.select(view.whatIs(forwards ? edges[0].b : edges[0].a), true);
}

// Go to another node that the same node leads to.
function aside(step) {
  const [id] = view.nodesOf(view.selected);
  const here = view.scene.nodes.get(id);
  if (!here) return;
  const row = [...view.scene.nodes.values()].filter((node) => Math.abs(node.top - here.top) < 30);
  row.sort((a, b) => a.left - b.left);
  const next = row[row.indexOf(here) + step];
  if (next) view.select(view.whatIs(next.id), true);
}

function foldSelected() {
  const { selected } = view;
  if (selected?.group) view.toggle(selected.group);
}

function foldAround() {
  const { selected } = view;
  if (selected?.op !== undefined) {
    const around = model.around(model.home[selected.op]);
    if (around.length) view.toggle(around[around.length - 1]);
  } else if (selected?.group && model.open.has(selected.group.number)) view.toggle(selected.group);
  else if (selected?.group?.parent?.number > 0) view.toggle(selected.group.parent);
}

const help = document.getElementById("help");
const KEYS = {
  "/": () => search.input.focus(),
  g: twin,
  ArrowDown: () => follow(true),
  ArrowUp: () => follow(false),
  ArrowLeft: () => aside(-1),
  ArrowRight: () => aside(1),
  Enter: foldSelected,
  f: foldAround,
  0: () => view.fit(),
  "+": () => view.zoom(1.25),
  "=": () => view.zoom(1.25),
  "-": () => view.zoom(0.8),
  u: () => fold(false),
  r: () => fold(true),
  d: () => dark(document.documentElement.dataset.theme !== "dark"),
  "[": () => steps.go(steps.at - 1),
  "]": () => steps.go(steps.at + 1),
  "?": () => help.showModal(),
  Escape: () => view.select(null),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.key === "Enter" && event.target.closest("button")) return;
  if (event.key.startsWith("Arrow") && event.target.type === "range") return;
  const action = KEYS[event.key];
  if (!action) return;
  action();
  event.preventDefault();
});

const BUTTONS = {
  fit: () => view.fit(),
  closer: () => view.zoom(1.25),
  farther: () => view.zoom(0.8),
  unfold: () => fold(false),
  fold: () => fold(true),
  back: KEYS["["],
  forward: KEYS["]"],
  theme: KEYS.d,
  keys: () => help.showModal(),
};
for (const [id, action] of Object.entries(BUTTONS)) {
  document.getElementById(id).addEventListener("click", action);
}

dark(matchMedia("(prefers-color-scheme: dark)").matches);
view.show().then(() => {
  view.begin();
  requestAnimationFrame(() => requestAnimationFrame(() => { // it has been painted
    document.body.dataset.ready = Math.round(performance.now());
  }));
});
