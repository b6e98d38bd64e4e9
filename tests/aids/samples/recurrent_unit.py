"""Samples of units of recurrent nets."""

from .form import Sample, samples


@samples("gru_unit")
def gru_unit(rng):
    def inputs(rows=4, size=2):
        return dict(
            Input=rng.normal(size=[rows, 3 * size]),
            HiddenPrev=rng.normal(size=[rows, size]),
            Weight=rng.normal(size=[size, 3 * size]),
            Bias=rng.normal(size=[1, 3 * size]),
        )

    yield Sample(inputs())
    yield Sample(inputs(), dict(origin_mode=True), name="origin")
    bare = inputs(3, 5)
    del bare["Bias"]
    yield Sample(bare, dict(activation=1, gate_activation=0), name="sigmoid_identity")
    yield Sample(inputs(), dict(activation=3), name="relu")


@samples("lstm_unit")
def lstm_unit(rng):
    inputs = dict(X=rng.normal(size=[3, 8]), C_prev=rng.normal(size=[3, 2]))
    yield Sample(inputs)
    yield Sample(inputs, dict(forget_bias=1.0), "forget_bias")
    yield Sample(inputs, name="state", outputs=("H",))
    yield Sample(inputs, name="cell", outputs=("C",))
