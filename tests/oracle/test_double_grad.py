"""Gradients of gradients are those of the real system.

``y = op(xs)``, ``g = gradients(y, xs, u)``, ``p`` the sum of ``reduce_sum(g * v)``, and
``s = gradients(p, xs + [u])``.
"""

import numpy as np

import fluidlite as fluid
from oracle.golden import GRADIENT, OUTPUT, arrays, close, every, holds, load
from oracle.recorded import Recorded

CASES = {"double_grad." + case["id"]: case for case in load("double_grad.json.gz")}
HIDDEN_OUTPUTS = {"reshape2": ["XShape"]}


class TwiceDifferentiated:
    """The program of a case, with a value for every variable it reads."""

    def __init__(self, case):
        self.case, self.values = case, arrays("double_grad.npz")
        target, wrt = case["target"], case["wrt"]
        one = Recorded(
            {
                "op": case["op"],
                "attrs": case["attrs"],
                "inputs": {s: [{"key": f"{case['id']}:in:{s}"}] for s in case["inputs"]},
                "outputs": {s: [{}] for s in [target, *HIDDEN_OUTPUTS.get(case["op"], [])]},
            },
            self.values,
        )
        self.one, self.y = one, one.outputs[target][0]
        self.xs = [one.inputs[slot][0] for slot in wrt]
        self.u = one.given("u", self.value("u"), self.y.shape)
        self.first = fluid.gradients([self.y], self.xs, [self.u])
        with fluid.program_guard(one.program):
            parts = [self.weighed(slot, g) for slot, g in zip(wrt, self.first)]
            total = parts[0]
            for part in parts[1:]:
                total = fluid.layers.elementwise_add(total, part)
            self.second = fluid.gradients([total], [*self.xs, self.u])

    def value(self, *parts):
        return self.values[":".join((self.case["id"], *parts))]

    def weighed(self, slot, gradient):
        value = self.value("v", slot)
        v = self.one.given("v_" + slot, value, gradient.shape, stop_gradient=True)
        return fluid.layers.reduce_sum(fluid.layers.elementwise_mul(gradient, v))


@every("ops", "second")
def test_second_derivatives_are_those_of_the_real_system(name):
    case = CASES[name]
    with holds("ops", name, "second"):
        twice = TwiceDifferentiated(case)
        names = [*case["wrt"], "u"]
        second = {n: g for n, g in zip(names, twice.second) if g is not None}
        values = iter(twice.one.run([twice.y, *twice.first, *second.values()]))
        close("y", next(values), twice.value("out"), OUTPUT)
        for slot in case["wrt"]:
            golden = twice.value("first", slot)
            close(f"first derivative by {slot}", next(values), golden, GRADIENT)
        found = dict(zip(second, values))
        for by in names:
            if by in case["second_none"]:
                assert np.abs(found.get(by, 0.0)).max() < 1e-5, f"second derivative by {by}"
            else:
                assert by in found, f"no second derivative by {by}"
                golden = twice.value("second", by)
                close(f"second derivative by {by}", found[by], golden, GRADIENT)
