"""Samples of the operators in fluidlite/ops/gru.py."""

from .form import Sample, samples
from .lstm import LODS


@samples("gru")
def gru(rng):
    def inputs(size=2, states=0):
        ins = dict(
            Input=rng.normal(size=[5, 3 * size]),
            Weight=rng.normal(size=[size, 3 * size]),
            Bias=rng.normal(size=[1, 3 * size]),
        )
        if states:
            ins.update(H0=rng.normal(size=[states, size]))
        return ins

    for name, lod in LODS.items():
        yield Sample(inputs(), name=f"plain{name}", lods=dict(Input=lod))
    given = dict(Input=LODS["_empty"])
    yield Sample(inputs(3), dict(origin_mode=True), "origin", lods=given)
    yield Sample(inputs(states=4), dict(is_reverse=True), "reverse_state", lods=given)
    attrs = dict(origin_mode=True, gate_activation="identity", activation="sigmoid")
    yield Sample(inputs(states=4), attrs, "origin_state", lods=given)
    bare = inputs()
    del bare["Bias"]
    yield Sample(bare, dict(activation="relu"), "relu", lods=dict(Input=LODS[""]))
