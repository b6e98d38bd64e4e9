// Places nodes: each level by dagre, inner levels first.  Runs in a worker.

const PADDING = 14;
const HEADER = 26; // of a box, for its label
const COLUMNS = 6; // of nodes without edges

// levels: [{id, items: [[id, width, height, role]], edges: [[a, b, weight]]}], inner ones first.
// Gives {level id: {width, height, places: {item: [x, y, width, height]}, routes: {edge: points}}}.
function layoutLevels(levels) {
  const done = {};
  for (const level of levels) {
    if (level.id === "root") {
      done.root = sideBySide(done.main, done.updates);
      continue;
    }
    const sizes = {};
    for (const [id, width, height] of level.items) {
      const inner = done[id];
      sizes[id] = inner
        ? [Math.max(inner.width + 2 * PADDING, width), inner.height + PADDING + HEADER]
        : [width, height];
    }
    done[level.id] = layoutLevel(level, sizes);
  }
  return done;
}

function sideBySide(main, updates) {
  const gap = main.width && updates.width ? 90 : 0;
  const height = Math.max(main.height, updates.height);
  const places = {};
  let left = 0;
  for (const [id, part] of [["main", main], ["updates", updates]]) {
    places[id] = [left + part.width / 2, height / 2, part.width, part.height];
    left += part.width + gap;
  }
  return { width: main.width + gap + updates.width, height, places, routes: {} };
}

function layoutLevel(level, sizes) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 20, edgesep: 10, ranksep: 30 });
  const alone = new Set(level.items.map(([id]) => id));
  for (const [id] of level.items) graph.setNode(id, { width: sizes[id][0], height: sizes[id][1] });
  for (const [a, b, weight] of level.edges) {
    graph.setEdge(a, b, { weight, minlen: 1 });
    alone.delete(a);
    alone.delete(b);
  }
  const column = [...alone]; // nodes without edges stand in rows
  if (column.length > COLUMNS) {
    column.forEach((id, k) => {
      if (k >= COLUMNS) graph.setEdge(column[k - COLUMNS], id, { weight: 1, minlen: 1, unseen: true });
    });
  }
  try {
    dagre.layout(graph);
  } catch (error) {
    return inOneColumn(level, sizes);
  }
  const places = {};
  let width = 0;
  let height = 0;
  for (const [id] of level.items) {
    const { x, y } = graph.node(id);
    places[id] = [x, y, ...sizes[id]];
    width = Math.max(width, x + sizes[id][0] / 2);
    height = Math.max(height, y + sizes[id][1] / 2);
  }
  const routes = {};
  for (const edge of graph.edges()) {
    const points = graph.edge(edge).points.map(({ x, y }) => [x, y]);
    for (const [x, y] of points) {
      width = Math.max(width, x);
      height = Math.max(height, y);
    }
    routes[edge.v + ">" + edge.w] = points;
  }
  if (isMirrored(level, places)) {
    for (const place of [...Object.values(places), ...Object.values(routes).flat()]) place[0] = width - place[0];
  }
  return { width, height, places, routes };
}

// Whether backward operators stand on the left of forward ones.
function isMirrored(level, places) {
  const mean = (role) => {
    const found = level.items.filter((item) => item[3] === role).map(([id]) => places[id][0]);
    return found.reduce((sum, x) => sum + x, 0) / found.length;
  };
  return mean(1) < mean(0);
}

function inOneColumn(level, sizes) {
  const places = {};
  const width = Math.max(...level.items.map(([id]) => sizes[id][0]), 0);
  let y = 0;
  for (const [id] of level.items) {
    places[id] = [width / 2, y + sizes[id][1] / 2, ...sizes[id]];
    y += sizes[id][1] + 30;
  }
  return { width, height: Math.max(0, y - 30), places, routes: {} };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) {
  self.onmessage = ({ data }) => {
    self.postMessage({ number: data.number, placed: layoutLevels(data.levels) });
  };
}
