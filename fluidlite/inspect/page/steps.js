// Goes through a run: a slider over the operators, in the order in which they were run.

class Steps {
  constructor(model, view, panel) {
    this.model = model;
    this.view = view;
    this.panel = panel;
    this.slider = document.getElementById("step");
    this.slider.max = model.steps.ran.length;
    this.slider.value = model.steps.at;
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    document.getElementById("steps").hidden = !model.steps.ran.length;
    this.tell();
  }

  get at() {
    return Number(this.slider.value);
  }

  // Stand where so many operators have been run.  A variable that is selected stays so.
  go(at) {
    const { model, view } = this;
    this.slider.value = at; // which keeps within its ends
    model.stand(this.at);
    view.showValues();
    this.tell();
    const op = this.at ? model.steps.ran[this.at - 1][0] : -1;
    if (view.selected?.variable !== undefined) this.panel.show(view.selected);
    else view.select(op >= 0 ? { op } : null, true);
  }

  tell() {
    const { model, at } = this;
    const { ran, before } = model.steps;
    let text = `${before + at} of ${before + ran.length}`;
    if (at) {
      const [op, results] = ran[at - 1];
      const names = results.map(([variable]) => model.vars[variable].n);
      text += `: ${op >= 0 ? model.ops[op].t : "an operator"} wrote ${names.join(", ") || "nothing"}`;
    }
    document.getElementById("stepped").textContent = text;
  }
}
