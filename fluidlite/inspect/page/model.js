// What the page holds of a program, and what of it is seen: groups are folded or not.

const ROLES = ["forward", "backward", "optimize", "learning rate"];
const BOXES = new Set(["scope", "repeat", "pass", "block"]);
const MOST = 1500; // nodes that are laid out at once

function columnOf(role) {
  return role === 2 || role === 3 ? "updates" : "main";
}

class Model {
  constructor(data) {
    this.ops = data.ops;
    this.vars = data.vars;
    this.edges = data.edges;
    this.docs = data.docs;
    this.steps = data.steps;
    this.stand(this.steps.at);
    this.groups = data.groups.map(([label, kind, role, children], number) => ({
      label, kind, role, children, number, parent: null,
    }));
    this.home = new Array(this.ops.length).fill(this.groups[0]); // the innermost group of an operator
    for (const group of this.groups) {
      for (const child of group.children) {
        if (child < 0) this.groups[-child].parent = group;
        else this.home[child] = group;
      }
    }
    this.open = new Set(data.open);
    this.gradients = this.ops.map(() => []);
    this.ops.forEach((op, number) => {
      if (op.f >= 0) this.gradients[op.f].push(number);
    });
    this.before = this.ops.map(() => new Set()); // operators whose values an operator reads
    this.after = this.ops.map(() => new Set());
    for (const [source, target] of this.edges) {
      this.before[target].add(source);
      this.after[source].add(target);
    }
    for (const variable of this.vars) variable.writers = variable.readers = null;
    for (const side of ["in", "out"]) {
      const field = side === "in" ? "readers" : "writers";
      this.ops.forEach((op, number) => {
        for (const [, names] of op[side]) {
          for (const name of names) {
            if (typeof name !== "number") continue;
            const variable = this.vars[name];
            variable[field] ??= [];
            if (variable[field][variable[field].length - 1] !== number) variable[field].push(number);
          }
        }
      });
    }
    this.byName = new Map(); // name -> numbers of variables
    this.vars.forEach((variable, number) => {
      if (!this.byName.has(variable.n)) this.byName.set(variable.n, []);
      this.byName.get(variable.n).push(number);
    });
    this.fed = new Map(); // variables that come from outside -> who reads them
    for (const [variable, reader] of data.given) {
      const kind = this.vars[variable].k;
      if (kind === "param" || kind === "kept") continue;
      if (!this.fed.has(variable)) this.fed.set(variable, []);
      this.fed.get(variable).push(reader);
    }
  }

  // Let variables have the values that they had when so many operators had been run.
  stand(at) {
    this.values = Object.fromEntries(this.steps.given);
    for (const [, results] of this.steps.ran.slice(0, at)) {
      for (const [variable, value] of results) this.values[variable] = value;
    }
  }

  // The groups around an operator or a group, from the outside in, without the program itself.
  around(group) {
    const found = [];
    for (let each = group; each && each.number > 0; each = each.parent) found.unshift(each);
    return found;
  }

  opsOf(group) {
    const found = [];
    const stack = [group];
    while (stack.length) {
      for (const child of stack.pop().children) {
        if (child < 0) stack.push(this.groups[-child]);
        else found.push(child);
      }
    }
    return found.sort((a, b) => a - b);
  }

  countVisible(open) {
    let count = 0;
    const stack = [this.groups[0]];
    while (stack.length) {
      for (const child of stack.pop().children) {
        if (child < 0 && open.has(-child)) stack.push(this.groups[-child]);
        else count += 1;
      }
    }
    return count;
  }

  // Unfold the groups around an operator.  False where too much would be seen.
  reveal(op) {
    const open = new Set(this.open);
    for (const group of this.around(this.home[op])) open.add(group.number);
    if (this.countVisible(open) > MOST) return false;
    this.open = open;
    return true;
  }

  toggle(group) {
    const open = new Set(this.open);
    if (!open.delete(group.number)) {
      open.add(group.number);
      if (this.countVisible(open) > MOST) return false;
    }
    this.open = open;
    return true;
  }

  unfoldAll() {
    const open = new Set(this.groups.map((group) => group.number));
    if (this.countVisible(open) > MOST) return false;
    this.open = open;
    return true;
  }

  foldAll() {
    this.open = new Set([0]);
  }

  // What is seen now: nodes, boxes around them, edges between them, and levels to lay out.
  scene(measure) {
    const nodes = new Map(); // id -> node
    const boxes = new Map(); // id -> unfolded group that is drawn
    const standsFor = new Array(this.ops.length); // operator -> id of the node that is seen
    // what updates parameters stands beside the rest
    const levels = new Map(["root", "main", "updates"].map((id) => [id, { id, items: [], edges: new Map() }]));
    levels.get("root").items.push("main", "updates");
    const visit = (group, path) => {
      for (const child of group.children) {
        const inner = child < 0 ? this.groups[-child] : null;
        if (inner && this.open.has(inner.number)) {
          if (!BOXES.has(inner.kind)) {
            visit(inner, path);
            continue;
          }
          const id = "b" + inner.number;
          const around = path.length ? path : [columnOf(inner.role)];
          boxes.set(id, { id, group: inner, path: around });
          levels.get(around[around.length - 1]).items.push(id);
          levels.set(id, { id, items: [], edges: new Map() });
          visit(inner, [...around, id]);
          continue;
        }
        const id = inner ? "g" + inner.number : "o" + child;
        const node = inner ? { id, group: inner, role: inner.role } : { id, op: child, role: this.ops[child].r };
        node.path = path.length ? path : [columnOf(node.role)];
        node.level = node.path[node.path.length - 1];
        Object.assign(node, measure(node));
        nodes.set(id, node);
        levels.get(node.level).items.push(id);
        for (const op of inner ? this.opsOf(inner) : [child]) standsFor[op] = id;
      }
    };
    visit(this.groups[0], []);
    const edges = new Map();
    const add = (a, b, variable, kind) => {
      if (a === b || a === undefined || b === undefined) return;
      const key = a + ">" + b;
      const known = edges.get(key);
      if (known) {
        known.variables.add(variable);
        if (known.kind === "reads") known.kind = kind;
      } else edges.set(key, { key, a, b, kind, variables: new Set([variable]) });
    };
    for (const [source, target, variable] of this.edges) {
      const from = this.ops[source].r;
      const to = this.ops[target].r;
      const kind = from === to ? (from === 1 ? "back" : "flow") : from === 0 && to === 1 ? "reads" : "flow";
      add(standsFor[source], standsFor[target], variable, kind);
    }
    for (const [variable, readers] of this.fed) {
      const forward = readers.filter((reader) => this.ops[reader].r !== 1);
      if (!forward.length) continue;
      const id = "v" + variable;
      const node = { id, variable, role: -1, path: ["main"], level: "main" };
      Object.assign(node, measure(node));
      nodes.set(id, node);
      levels.get("main").items.push(id);
      for (const reader of forward) add(id, standsFor[reader], variable, "flow");
    }
    const scene = { nodes, boxes, edges: [...edges.values()], standsFor, levels };
    for (const edge of scene.edges) {
      if (edge.kind === "reads") continue;
      this.connect(scene, edge, edge.kind === "back", 3);
    }
    this.ops.forEach((op, number) => {
      if (op.f < 0 || op.r !== 1) return;
      const edge = { a: standsFor[op.f], b: standsFor[number] };
      if (edge.a !== edge.b) this.connect(scene, edge, false, 1);
    });
    return scene;
  }

  // Tell the level that holds both ends of an edge.  What flows backwards is laid out upwards.
  connect(scene, edge, upwards, weight) {
    const a = scene.nodes.get(edge.a);
    const b = scene.nodes.get(edge.b);
    let depth = 0;
    while (depth < a.path.length && depth < b.path.length && a.path[depth] === b.path[depth]) depth += 1;
    edge.level = depth ? a.path[depth - 1] : "root";
    const x = a.path[depth] ?? a.id;
    const y = b.path[depth] ?? b.id;
    if (x === y) return;
    edge.aside = edge.level === "root";
    if (edge.aside) return;
    edge.upwards = upwards;
    edge.route = upwards ? y + ">" + x : x + ">" + y;
    const routes = scene.levels.get(edge.level).edges;
    const known = routes.get(edge.route);
    if (known) known.weight = Math.max(known.weight, weight);
    else routes.set(edge.route, { a: upwards ? y : x, b: upwards ? x : y, weight });
  }
}
