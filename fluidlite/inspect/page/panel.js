// Says what is known of what was selected, and finds what is searched for.

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function say(text) {
  const line = document.getElementById("notice");
  line.textContent = text;
  line.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => line.classList.remove("shown"), 4000);
}

function number(value) {
  if (value === null) return "\u2014";
  if (typeof value === "string") return value; // nan, inf
  return Number.isInteger(value) && Math.abs(value) < 1e7 ? String(value) : value.toPrecision(5);
}

class Panel {
  constructor(model, view) {
    this.model = model;
    this.view = view;
    this.body = document.getElementById("panel");
    this.start = [...this.body.childNodes]; // what stands there at first
  }

  show(what) {
    if (!what) this.body.replaceChildren(...this.start);
    else if (what.op !== undefined) this.body.replaceChildren(...this.ofOperator(what.op));
    else if (what.variable !== undefined) this.body.replaceChildren(...this.ofVariable(what.variable));
    else this.body.replaceChildren(...this.ofGroup(what.group));
    this.body.scrollTop = 0;
  }

  go(what) {
    const ops = what.op !== undefined ? [what.op] : this.mentions(what.variable);
    const unseen = ops.find((op) => this.view.scene.standsFor[op] !== "o" + op);
    const target = what.op ?? (ops.length ? unseen ?? ops[0] : undefined);
    if (target === undefined || this.view.scene.standsFor[target] === "o" + target) {
      this.view.select(what, true);
      return Promise.resolve();
    }
    if (!this.model.reveal(target)) {
      say(`showing it would take more than ${MOST} nodes; fold something first`);
      return Promise.resolve();
    }
    return this.view.show().then(() => this.view.select(what, true));
  }

  mentions(variable) {
    const { writers, readers } = this.model.vars[variable];
    return [...(writers ?? []), ...(readers ?? [])];
  }

  link(text, what, title = "") {
    return element("button", { class: "link", title, type: "button", onclick: () => this.go(what) }, text);
  }

  operatorLink(op) {
    const { t, out } = this.model.ops[op];
    const first = out.flatMap(([, names]) => names)[0];
    const name = typeof first === "number" ? this.model.vars[first].n : first ?? "";
    return this.link(t, { op }, name ? `${t}, which writes ${name}` : t);
  }

  variableLink(name) {
    if (typeof name !== "number") return element("span", { class: "name" }, name);
    const variable = this.model.vars[name];
    return element("span", {}, this.link(variable.n, { variable: name }), " ", element("span", { class: "type" }, variable.s));
  }

  section(title, ...children) {
    const inside = children.flat().filter(Boolean);
    return inside.length ? element("section", {}, element("h3", {}, title), ...inside) : null;
  }

  list(items) {
    return items.length ? element("ul", {}, ...items.map((item) => element("li", {}, item))) : null;
  }

  ofOperator(op) {
    const { model } = this;
    const found = model.ops[op];
    const parts = [
      element("h2", { class: roleClass(found.r) }, found.t, element("span", { class: "tag" }, ROLES[found.r])),
      model.docs[found.t] ? element("p", {}, model.docs[found.t]) : null,
      found.c ? element("p", { class: "site" }, "built at ", element("code", {}, found.c)) : null,
      found.l ? element("pre", { class: "source" }, found.l) : null,
    ];
    const gradients = model.gradients[op];
    if (found.f >= 0) {
      const label = found.t.endsWith("_grad") || found.t.includes("_grad") ? "gradient of " : "begins the gradient of ";
      parts.push(element("p", { class: "twins" }, label, this.operatorLink(found.f), element("kbd", {}, "g")));
    }
    if (gradients.length) {
      parts.push(element("p", { class: "twins" }, "its gradient: ", ...gradients.flatMap((each, k) => (k ? [", ", this.operatorLink(each)] : [this.operatorLink(each)])), element("kbd", {}, "g")));
    }
    for (const [side, title] of [["in", "Reads"], ["out", "Writes"]]) {
      const rows = found[side].map(([slot, names]) => element("tr", {},
        element("th", {}, slot),
        element("td", {}, ...names.map((name) => element("div", {}, this.variableLink(name), this.valueLine(name))))));
      if (rows.length) parts.push(this.section(title, element("table", {}, ...rows)));
    }
    if (found.a.length) {
      const rows = found.a.map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, element("code", {}, value))));
      parts.push(this.section("Attributes", element("table", {}, ...rows)));
    }
    parts.push(this.section("Producers", this.list([...model.before[op]].slice(0, 30).map((each) => this.operatorLink(each)))));
    parts.push(this.section("Consumers", this.list([...model.after[op]].slice(0, 30).map((each) => this.operatorLink(each)))));
    const around = model.around(model.home[op]).map((group) => this.groupLink(group));
    parts.push(this.section("Part of", around.length ? element("p", {}, ...around.flatMap((each, k) => (k ? [" \u203a ", each] : [each]))) : null));
    parts.push(this.section("Text", element("pre", {}, found.x), element("p", { class: "type" }, `block ${found.b}, operator ${found.i}`)));
    for (const [, names] of found.out) for (const name of names) if (model.values[name]) parts.push(this.values(name));
    return parts.filter(Boolean);
  }

  groupLink(group) {
    const show = () => {
      if (this.model.around(group).slice(0, -1).every((each) => this.model.open.has(each.number))) {
        this.view.select({ group }, true);
      } else this.go({ op: this.model.opsOf(group)[0] });
    };
    return element("button", { class: "link", type: "button", onclick: show }, group.label);
  }

  ofVariable(variable) {
    const { model } = this;
    const found = model.vars[variable];
    const related = (name) => (model.byName.get(name) ?? []).map((each) => this.link(model.vars[each].n, { variable: each }));
    const gradient = found.n.match(/^(.*)@GRAD(?:@RENAME@.*|_\d+)?$/s);
    return [
      element("h2", {}, found.n, element("span", { class: "tag" }, { data: "data", param: "parameter", kept: "persistable", var: "variable" }[found.k])),
      element("pre", {}, found.d),
      this.section("Written by", this.list((found.writers ?? []).map((op) => this.operatorLink(op))) ?? element("p", { class: "type" }, found.k === "data" ? "nobody: it is fed" : "no operator of this program")),
      this.section("Read by", this.list((found.readers ?? []).map((op) => this.operatorLink(op)))),
      this.section("Gradient", ...related(found.n + "@GRAD")),
      gradient && this.section("Gradient of", ...related(gradient[1])),
      model.values[variable] ? this.values(variable) : null,
    ].filter(Boolean);
  }

  ofGroup(group) {
    const { model } = this;
    const ops = model.opsOf(group);
    const counts = new Map();
    for (const op of ops) counts.set(model.ops[op].t, (counts.get(model.ops[op].t) ?? 0) + 1);
    const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([type, count]) => element("tr", {}, element("th", {}, type), element("td", {}, String(count))));
    const isOpen = model.open.has(group.number);
    const kind = { scope: "name scope", pass: "part that repeats", repeat: "repeated part" }[group.kind] ?? group.kind;
    return [
      element("h2", { class: roleClass(group.role === "" ? 0 : group.role) }, group.label, element("span", { class: "tag" }, kind)),
      element("p", {}, `${ops.length} operators`),
      element("p", {}, element("button", { type: "button", onclick: () => this.view.toggle(group) }, isOpen ? "Fold" : "Unfold"), " ", element("kbd", {}, "Enter")),
      this.section("Operators", element("table", {}, ...rows)),
    ];
  }

  // -- values of a traced run -----------------------------------------------------------------------

  valueLine(name) {
    const value = typeof name === "number" && this.model.values[name];
    if (!value) return null;
    const text = value.note ?? `${number(value.min)} \u2026 ${number(value.max)}, mean ${number(value.mean)}`;
    return element("div", { class: value.bad ? "value bad" : "value" }, text);
  }

  values(name) {
    const value = this.model.values[name];
    const rows = ["shape", "min", "max", "mean", "std", "nan", "infinite"].filter((key) => value[key] !== undefined)
      .map((key) => element("tr", {}, element("th", {}, key), element("td", {}, typeof value[key] === "object" && value[key] ? JSON.stringify(value[key]) : number(value[key]))));
    return this.section("Value of " + this.model.vars[name].n, element("table", {}, ...rows), this.histogram(value), this.image(value));
  }

  histogram(value) {
    if (!value.histogram) return null;
    const most = Math.max(...value.histogram, 1);
    const width = 280 / value.histogram.length;
    const bars = value.histogram.map((count, k) => shape("rect", { x: k * width, y: 50 - (46 * count) / most, width: width - 1, height: (46 * count) / most }));
    const svg = shape("svg", { class: "histogram", viewBox: "0 0 280 64", role: "img" }, ...bars);
    svg.append(shape("text", { x: 0, y: 62 }, number(value.min)), shape("text", { x: 280, y: 62, class: "end" }, number(value.max)));
    return svg;
  }

  image(value) {
    if (!value.image) return null;
    const [width, height, pixels] = value.image;
    const canvas = element("canvas", { class: "image", width, height, title: "the first element, black is the least" });
    const context = canvas.getContext("2d");
    const data = context.createImageData(width, height);
    const bytes = atob(pixels);
    for (let k = 0; k < width * height; k += 1) {
      data.data.fill(bytes.charCodeAt(k), 4 * k, 4 * k + 3);
      data.data[4 * k + 3] = 255;
    }
    context.putImageData(data, 0, 0);
    return canvas;
  }
}

class Search {
  constructor(model, panel) {
    this.model = model;
    this.panel = panel;
    this.input = document.getElementById("search");
    this.results = document.getElementById("results");
    this.at = -1;
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.results.replaceChildren(), 200));
    this.input.addEventListener("focus", () => this.find());
  }

  find() {
    const wanted = this.input.value.trim().toLowerCase();
    this.at = -1;
    const found = [];
    if (wanted) {
      const rate = (text) => {
        const lower = text.toLowerCase();
        return lower === wanted ? 0 : lower.startsWith(wanted) ? 1 : lower.includes(wanted) ? 2 : 9;
      };
      this.model.vars.forEach(({ n, s }, variable) => rate(n) < 9 && found.push([rate(n), n, s, { variable }]));
      this.model.ops.forEach(({ t, c, out }, op) => {
        const rated = Math.min(rate(t), c && c.toLowerCase().includes(wanted) ? 3 : 9);
        if (rated < 9) {
          const first = out.flatMap(([, names]) => names)[0];
          found.push([rated, t, typeof first === "number" ? "\u2192 " + this.model.vars[first].n : "", { op }]);
        }
      });
      found.sort((a, b) => a[0] - b[0] || a[1].length - b[1].length);
    }
    const rows = found.slice(0, 40).map(([, name, more, what]) => element("li", { role: "option", onmousedown: () => this.take(what) }, element("b", {}, name), " ", element("span", { class: "type" }, more)));
    if (wanted && !rows.length) rows.push(element("li", { class: "type" }, "nothing is called so"));
    if (found.length > 40) rows.push(element("li", { class: "type" }, `and ${found.length - 40} more`));
    this.found = found.slice(0, 40).map(([, , , what]) => what);
    this.results.replaceChildren(...rows);
  }

  take(what) {
    this.input.blur();
    this.results.replaceChildren();
    this.panel.go(what);
  }

  key(event) {
    if (event.key === "Escape") this.input.blur();
    else if (event.key === "Enter" && this.found?.length) this.take(this.found[Math.max(this.at, 0)]);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const count = this.found?.length ?? 0;
      if (count) this.at = (this.at + (event.key === "ArrowDown" ? 1 : -1) + count) % count;
      [...this.results.children].forEach((row, k) => row.classList.toggle("at", k === this.at));
      this.results.children[this.at]?.scrollIntoView({ block: "nearest" });
      event.preventDefault();
    }
    event.stopPropagation();
  }
}
