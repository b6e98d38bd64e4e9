"""Samples of the operators in fluidlite/ops/lstm.py."""

from .form import Sample, samples

#: several lengths; an empty sequence; two levels
LODS = {"": ((0, 2, 5),), "_empty": ((0, 3, 3, 4, 5),), "_levels": ((0, 1, 3), (0, 1, 4, 5))}


@samples("lstm")
def lstm(rng):
    def inputs(size=2, wide=7, states=0):
        ins = dict(
            Input=rng.normal(size=[5, 4 * size]),
            Weight=rng.normal(size=[size, 4 * size]),
            Bias=rng.normal(size=[1, wide * size]),
        )
        if states:
            ins.update(H0=rng.normal(size=[states, size]), C0=rng.normal(size=[states, size]))
        return ins

    for name, lod in LODS.items():
        yield Sample(inputs(), name=f"peepholes{name}", lods=dict(Input=lod))
    given = dict(Input=LODS["_empty"])
    yield Sample(inputs(3, 4), dict(use_peepholes=False), "plain", lods=given)
    yield Sample(inputs(states=4), dict(is_reverse=True), "reverse_states", lods=given)
    attrs = dict(candidate_activation="sigmoid", cell_activation="identity", use_peepholes=False)
    yield Sample(inputs(wide=4), attrs, "identity", lods=given)
    attrs = dict(gate_activation="identity", candidate_activation="relu")
    yield Sample(inputs(states=2), attrs, "relu", lods=dict(Input=LODS[""]))


@samples("lstmp")
def lstmp(rng):
    def inputs(size=3, wide=7, states=0, projected=2):
        ins = dict(
            Input=rng.normal(size=[5, 4 * size]),
            Weight=rng.normal(size=[projected, 4 * size]),
            ProjWeight=rng.normal(size=[size, projected]),
            Bias=rng.normal(size=[1, wide * size]),
        )
        if states:
            ins.update(H0=rng.normal(size=[states, projected]), C0=rng.normal(size=[states, size]))
        return ins

    for name, lod in LODS.items():
        yield Sample(inputs(), name=f"peepholes{name}", lods=dict(Input=lod))
    given = dict(Input=LODS["_empty"])
    attrs = dict(use_peepholes=False, is_reverse=True, proj_activation="identity")
    yield Sample(inputs(wide=4, states=4), attrs, "reverse_states", lods=given)
    yield Sample(inputs(), dict(cell_clip=0.4, proj_clip=0.3), "clipped", lods=given)
