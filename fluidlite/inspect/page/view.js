// Draws a scene as SVG; pans, zooms and selects.

const SVG = "http://www.w3.org/2000/svg";
const LINE = 15; // height of a line of text in a node
const WIDEST = 34; // characters of a name in a node

function shape(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function shortened(text, most = WIDEST) {
  if (text.length <= most) return text;
  const half = (most - 1) >> 1;
  return text.slice(0, half) + "\u2026" + text.slice(text.length - half);
}

function roleClass(role) {
  return role < 0 ? "role-data" : "role-" + ROLES[role].replace(" ", "-");
}

class View {
  constructor(model, canvas, onSelect) {
    this.model = model;
    this.canvas = canvas;
    this.onSelect = onSelect;
    this.selected = null;
    this.scene = null;
    this.number = 0;
    this.x = this.y = 0;
    this.scale = 1;
    const probe = document.createElement("canvas").getContext("2d");
    probe.font = "12px " + getComputedStyle(canvas).getPropertyValue("--mono");
    this.letter = probe.measureText("mmmmmmmmmm").width / 10;
    this.world = shape("g", { class: "world" });
    canvas.append(this.world);
    this.startWorker();
    this.listen();
  }

  // -- layout -----------------------------------------------------------------------------------

  startWorker() {
    try {
      const source = ["dagre", "layout"].map((id) => document.getElementById(id).textContent);
      const blob = new Blob(source, { type: "text/javascript" });
      this.worker = new Worker(URL.createObjectURL(blob));
      this.worker.onmessage = ({ data }) => data.number === this.number && this.waiting(data.placed);
      this.worker.onerror = () => {
        this.worker = null; // some pages allow no workers: this one lays out by itself
        if (this.waiting) this.waiting(layoutLevels(this.request));
      };
    } catch (error) {
      this.worker = null;
    }
  }

  place(levels) {
    this.number += 1;
    this.request = levels;
    return new Promise((resolve) => {
      this.waiting = (placed) => {
        this.waiting = () => {};
        resolve(placed);
      };
      if (this.worker) this.worker.postMessage({ number: this.number, levels });
      else this.waiting(layoutLevels(levels));
    });
  }

  // Lay out and draw what is seen now; what is called `anchor` stays where it is on the screen.
  async show(anchor) {
    const before = anchor && this.scene && this.spot(anchor);
    const scene = this.model.scene((node) => this.measure(node));
    const levels = [...scene.levels.values()].reverse().map((level) => ({
      id: level.id,
      items: level.id === "root" ? [] : level.items.map((id) => {
        const node = scene.nodes.get(id);
        const label = node ? "" : this.boxLabel(scene.boxes.get(id).group);
        const role = node ? node.role : scene.boxes.get(id).group.role;
        return node ? [id, node.width, node.height, role] : [id, label.length * this.letter + 50, 0, role];
      }),
      edges: [...level.edges.values()].map(({ a, b, weight }) => [a, b, weight]),
    }));
    const placed = await this.place(levels);
    this.scene = scene;
    this.arrange("root", 0, 0, placed);
    this.draw(placed);
    if (before) {
      const after = this.spot(anchor);
      if (after) {
        this.x += before[0] - after[0];
        this.y += before[1] - after[1];
      }
      this.move();
    }
    this.mark();
  }

  // Where something is on the screen: its upper left corner.
  spot(id) {
    const found = this.scene.nodes.get(id) || this.scene.boxes.get("b" + id.slice(1));
    return found && [found.left * this.scale + this.x, found.top * this.scale + this.y];
  }

  arrange(level, left, top, placed) {
    const found = placed[level];
    this.scene.levels.get(level).corner = [left, top];
    for (const [id, [x, y, width, height]] of Object.entries(found.places)) {
      if (level === "root") {
        this.arrange(id, left + x - width / 2, top + y - height / 2, placed);
        continue;
      }
      const target = this.scene.nodes.get(id) || this.scene.boxes.get(id);
      Object.assign(target, { left: left + x - width / 2, top: top + y - height / 2, width, height });
      if (placed[id]) {
        const inner = placed[id];
        const gap = (width - inner.width) / 2;
        this.arrange(id, target.left + gap, target.top + HEADER, placed);
      }
    }
  }

  // -- nodes ------------------------------------------------------------------------------------

  // What a node says, and how large it is.
  measure(node) {
    const { model } = this;
    const lines = [];
    let title;
    if (node.variable !== undefined) {
      const variable = model.vars[node.variable];
      title = shortened(variable.n);
      lines.push(variable.s);
    } else if (node.group) {
      title = shortened(node.group.label);
      const ops = model.opsOf(node.group);
      lines.push(ops.length + " operators");
      const parameters = new Set();
      for (const op of ops) for (const [, names] of model.ops[op].in)
        for (const name of names) if (model.vars[name]?.k === "param") parameters.add(name);
      if (parameters.size && node.role === 0) lines.push(parameters.size + " parameters");
    } else {
      const op = model.ops[node.op];
      title = shortened(op.t);
      const written = op.out.flatMap(([, names]) => names).map((name) => model.vars[name]);
      const shown = node.role === 2 ? [] : written.filter(Boolean).slice(0, 2);
      for (const variable of shown) lines.push("\u2192 " + shortened(variable.n) + " " + variable.s);
      if (written.length > shown.length && node.role !== 2) lines.push("\u2192 and " + (written.length - shown.length) + " more");
      const parameters = op.in.flatMap(([slot, names]) => names.map((name) => [slot, model.vars[name]]));
      for (const [slot, variable] of parameters) {
        if (variable?.k === "param" && node.role === 2) lines.push("updates " + shortened(variable.n));
        else if (variable?.k === "param" && node.role === 0) lines.push(slot + " " + shortened(variable.n) + " " + variable.s);
      }
    }
    const tag = node.role > 0 ? ROLES[node.role] : "";
    const widest = Math.max(title.length * 1.09 + 4 + tag.length, ...lines.map((line) => line.length * 0.92));
    return { title, tag, lines, width: Math.ceil(widest * this.letter) + 24, height: 28 + lines.length * LINE };
  }

  boxLabel(group) {
    return shortened(group.label, 60);
  }

  outline(node) {
    const { left: x, top: y, width: w, height: h, role } = node;
    if (role === 2) {
      const c = 9; // cut corners
      const d = `M${x + c} ${y}H${x + w - c}L${x + w} ${y + c}V${y + h - c}L${x + w - c} ${y + h}H${x + c}L${x} ${y + h - c}V${y + c}Z`;
      return shape("path", { class: "shape", d });
    }
    const radius = role === 1 ? 14 : role < 0 ? h / 2 : 4;
    return shape("rect", { class: "shape", x, y, width: w, height: h, rx: radius });
  }

  drawNode(node) {
    const group = shape("g", { class: "node " + roleClass(node.role), "data-id": node.id, tabindex: -1 });
    if (node.group) {
      group.classList.add("folded");
      const { left: x, top: y, width, height } = node;
      group.append(shape("rect", { class: "behind", x: x + 4, y: y + 4, width, height, rx: 4 }));
    }
    group.append(this.outline(node));
    const inset = node.role < 0 ? 16 : 12;
    group.append(shape("text", { class: "title", x: node.left + inset, y: node.top + 19 }, node.title));
    if (node.tag) group.append(shape("text", { class: "tag", x: node.left + node.width - (node.group ? 30 : 10), y: node.top + 18 }, node.tag));
    node.lines.forEach((line, k) => {
      group.append(shape("text", { class: "line", x: node.left + inset, y: node.top + 35 + k * LINE }, line));
    });
    if (node.group) group.append(this.sign("+", "g" + node.group.number, node.left + node.width - 16, node.top + 15));
    this.markBad(node, group);
    const label = node.title + (node.tag ? ", " + node.tag : "") + ". " + node.lines.join(". ");
    group.append(shape("title", {}, label));
    return group;
  }

  // Say of a node whether it wrote what is not finite.
  markBad(node, group) {
    group.querySelector("text.bad")?.remove();
    if (node.op === undefined || !this.isBad(node.op)) return;
    group.append(shape("text", { class: "bad", x: node.left + node.width - 6, y: node.top - 3 }, "not finite"));
  }

  // Show values anew: they are those of another step.
  showValues() {
    for (const group of this.world.querySelectorAll(".node")) {
      const node = this.scene.nodes.get(group.dataset.id);
      if (node) this.markBad(node, group);
    }
  }

  isBad(op) {
    const { values, ops } = this.model;
    return ops[op].out.some(([, names]) => names.some((name) => values[name]?.bad));
  }

  sign(text, id, x, y) {
    const made = shape("g", { class: "sign", "data-toggle": id });
    made.append(shape("circle", { cx: x, cy: y, r: 9 }), shape("text", { x, y: y + 4.5 }, text));
    made.append(shape("title", {}, text === "+" ? "unfold" : "fold"));
    return made;
  }

  drawBox(box) {
    const { left: x, top: y, width, height, group } = box;
    const made = shape("g", { class: "box " + roleClass(group.role), "data-id": box.id });
    made.append(shape("rect", { x, y, width, height, rx: 6 }));
    made.append(shape("text", { class: "title", x: x + 12, y: y + 18 }, this.boxLabel(group)));
    made.append(this.sign("\u2212", "g" + group.number, x + width - 16, y + 14));
    return made;
  }

  // -- edges ------------------------------------------------------------------------------------

  pathOf(edge, placed) {
    const a = this.scene.nodes.get(edge.a);
    const b = this.scene.nodes.get(edge.b);
    if (edge.aside) return beside(a, b);
    const up = edge.upwards;
    const start = [a.left + a.width / 2, up ? a.top : a.top + a.height];
    const end = [b.left + b.width / 2, up ? b.top + b.height : b.top];
    const level = this.scene.levels.get(edge.level);
    let between = placed[edge.level].routes[edge.route];
    if (!between) return curve([start, end]);
    between = between.map(([x, y]) => [x + level.corner[0], y + level.corner[1]]);
    if (up) between.reverse();
    const first = a.level === edge.level || this.isDriver(a) ? between[0] : start;
    const last = b.level === edge.level ? between[between.length - 1] : end;
    return curve([first, ...between.slice(1, -1), last]);
  }

  // Whether a node is the operator that drives the block around it: what it writes leaves the box.
  isDriver(node) {
    const box = this.scene.boxes.get(node.level);
    return box?.group.kind === "block" && box.group.children[0] === node.op;
  }

  drawEdge(edge, d) {
    return shape("path", { class: "edge edge-" + edge.kind, d, "data-from": edge.a, "data-to": edge.b, "marker-end": "url(#arrow)" });
  }

  draw(placed) {
    const { nodes, boxes, edges } = this.scene;
    const layers = ["boxes", "edges", "nodes", "marks"].map((name) => shape("g", { class: name }));
    for (const box of boxes.values()) layers[0].append(this.drawBox(box));
    for (const edge of edges) {
      if (edge.kind !== "reads") layers[1].append(this.drawEdge(edge, this.pathOf(edge, placed)));
    }
    for (const node of nodes.values()) layers[2].append(this.drawNode(node));
    this.size = [placed.root.width, placed.root.height];
    this.world.replaceChildren(...layers);
  }

  // -- selection --------------------------------------------------------------------------------

  // what: {op}, {variable} or {group}; null for nothing.
  select(what, center) {
    this.selected = what;
    this.mark();
    if (center && what) this.center(this.nodesOf(what)[0]);
    this.onSelect(what);
  }

  // The ids of the nodes that stand for what is selected.
  nodesOf(what) {
    const { scene, model } = this;
    if (!what) return [];
    if (what.op !== undefined) return [scene.standsFor[what.op]];
    if (what.group) {
      const id = model.open.has(what.group.number) ? "b" + what.group.number : "g" + what.group.number;
      return [id];
    }
    const variable = model.vars[what.variable];
    const found = [...(variable.writers ?? []), ...(variable.readers ?? [])].map((op) => scene.standsFor[op]);
    return scene.nodes.has("v" + what.variable) ? ["v" + what.variable, ...found] : [...new Set(found)];
  }

  mark() {
    const marks = this.world.querySelector(".marks");
    if (!marks) return;
    for (const each of this.world.querySelectorAll(".selected, .near")) each.classList.remove("selected", "near");
    marks.replaceChildren();
    const { selected, scene, model } = this;
    if (!selected) return;
    const chosen = new Set(this.nodesOf(selected));
    const find = (id) => this.world.querySelector(`[data-id="${id}"]`);
    for (const id of chosen) find(id)?.classList.add("selected");
    for (const path of this.world.querySelectorAll(".edge")) {
      const { from, to } = path.dataset;
      const near = selected.variable === undefined ? chosen.has(from) || chosen.has(to) : chosen.has(from) && chosen.has(to);
      if (near) path.classList.add("near");
    }
    const joined = (a, b, name) => {
      const [p, q] = [scene.nodes.get(a), scene.nodes.get(b)];
      if (!p || !q || p === q) return;
      const d = beside(p, q);
      marks.append(shape("path", { class: name, d, "marker-end": name === "twin" ? "" : "url(#arrow)" }));
    };
    for (const edge of scene.edges) {
      if (edge.kind === "reads" && (chosen.has(edge.a) || chosen.has(edge.b))) joined(edge.a, edge.b, "edge near edge-reads");
    }
    if (selected.op !== undefined) {
      const twins = [model.ops[selected.op].f, ...model.gradients[selected.op]].filter((op) => op >= 0);
      for (const twin of twins) {
        joined(scene.standsFor[selected.op], scene.standsFor[twin], "twin");
        find(scene.standsFor[twin])?.classList.add("near");
      }
    }
  }

  // -- moving -----------------------------------------------------------------------------------

  move() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.world.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.scale})`);
    });
  }

  fit() {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight - 50; // the legend
    const all = Math.min(width / (this.size[0] + 60), height / (this.size[1] + 60), 1.2);
    this.scale = Math.max(all, 0.04);
    this.x = (width - this.size[0] * this.scale) / 2;
    this.y = (height - this.size[1] * this.scale) / 2;
    this.move();
  }

  // As large as can be read, from the top.
  begin() {
    this.fit();
    if (this.scale >= 0.5) return;
    const { clientWidth: width } = this.canvas;
    this.scale = Math.max(0.5, Math.min(0.8, width / (this.size[0] + 60)));
    this.x = Math.max((width - this.size[0] * this.scale) / 2, 30);
    this.y = 30;
    this.move();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(4, Math.max(0.03, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.move();
  }

  center(id) {
    const found = this.scene.nodes.get(id) || this.scene.boxes.get(id);
    if (!found) return;
    this.scale = Math.max(this.scale, 0.7);
    this.x = this.canvas.clientWidth / 2 - (found.left + found.width / 2) * this.scale;
    this.y = this.canvas.clientHeight / 2 - (found.top + found.height / 2) * this.scale;
    this.move();
  }

  whatIs(id) {
    if (id[0] === "o") return { op: Number(id.slice(1)) };
    if (id[0] === "v") return { variable: Number(id.slice(1)) };
    return { group: this.model.groups[Number(id.slice(1))] };
  }

  listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0) drag = { x: event.clientX - this.x, y: event.clientY - this.y, moved: false, from: [event.clientX, event.clientY] };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const far = Math.hypot(event.clientX - drag.from[0], event.clientY - drag.from[1]) > 4;
      if (!drag.moved && !far) return;
      if (!drag.moved) canvas.setPointerCapture(event.pointerId);
      drag.moved = true;
      this.x = event.clientX - drag.x;
      this.y = event.clientY - drag.y;
      this.move();
    });
    const release = (event) => {
      const was = drag;
      drag = null;
      if (!was || was.moved || event.type === "pointercancel") return;
      const toggle = event.target.closest("[data-toggle]");
      if (toggle) {
        this.toggle(this.whatIs(toggle.dataset.toggle).group);
        return;
      }
      const node = event.target.closest(".node") || (event.target.closest(".box text") && event.target.closest(".box"));
      this.select(node ? this.whatIs(node.dataset.id) : null);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("dblclick", (event) => {
      const node = event.target.closest(".node.folded, .box");
      if (node) this.toggle(this.whatIs(node.dataset.id).group);
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      const step = event.deltaMode ? event.deltaY * 16 : event.deltaY;
      this.zoom(Math.exp(-step * 0.0016), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
  }

  async toggle(group) {
    if (!this.model.toggle(group)) {
      say(`that would show more than ${MOST} nodes; unfold parts of it`);
      return;
    }
    await this.show("g" + group.number);
    this.select({ group });
  }
}

// A line from the side of a node to the side of another one.
function beside(a, b) {
  const right = a.left + a.width / 2 <= b.left + b.width / 2;
  const start = [right ? a.left + a.width : a.left, a.top + a.height / 2];
  const end = [right ? b.left : b.left + b.width, b.top + b.height / 2];
  const middle = (start[0] + end[0]) / 2;
  return `M${start}C${middle} ${start[1]} ${middle} ${end[1]} ${end}`;
}

// A smooth line through points.
function curve(points) {
  const [first, ...rest] = points.map(([x, y]) => [Math.round(x * 10) / 10, Math.round(y * 10) / 10]);
  if (rest.length === 1) {
    const [end] = rest;
    const middle = (first[1] + end[1]) / 2;
    return `M${first}C${first[0]} ${middle} ${end[0]} ${middle} ${end}`;
  }
  let d = `M${first}`;
  for (let k = 0; k < rest.length - 1; k += 1) {
    const [x, y] = rest[k];
    const after = rest[k + 1];
    const isLast = k === rest.length - 2;
    const end = isLast ? after : [(x + after[0]) / 2, (y + after[1]) / 2];
    d += `Q${x} ${y} ${end[0]} ${end[1]}`;
  }
  return d;
}
