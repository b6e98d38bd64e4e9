"""Samples of the operators in fluidlite/ops/ctc.py."""

import numpy as np

from .form import Sample, samples


@samples("warpctc")
def warpctc(rng):
    def inputs(rows, labels, classes=3):
        return dict(
            Logits=rng.normal(size=[rows, classes]), Label=np.array(labels, "int32")[:, None]
        )

    lods = dict(Logits=((0, 4, 7),), Label=((0, 2, 3),))
    yield Sample(inputs(7, [1, 1, 2]), name="lod", lods=lods)
    lods = dict(Logits=((0, 1, 3, 3, 8),), Label=((0, 1, 1, 1, 3),))
    yield Sample(inputs(8, [0, 1, 0]), dict(blank=2), "empty", lods=lods)
    lods = dict(Logits=((0, 1, 2), (0, 2, 6)), Label=((0, 1, 2), (0, 1, 3)))
    yield Sample(inputs(6, [2, 1, 2]), name="levels", lods=lods)
    lods = dict(Logits=((0, 2, 6),), Label=((0, 2, 3),))
    yield Sample(inputs(6, [2, 2, 1]), name="too_long", lods=lods)
    padded = dict(
        Logits=rng.normal(size=[5, 2, 4]),
        Label=np.array([[1, 3, 2], [2, 0, 0]], "int32"),
        LogitsLength=np.array([5, 3]),
        LabelLength=np.array([3, 1]),
    )
    yield Sample(padded, name="padded")
    why = "the gradient is another one, as in fluid: that of the loss divided by the rows"
    yield Sample(padded, dict(norm_by_times=True), "by_times", order=0, why=why)


@samples("scale_gradient")
def scale_gradient(rng):
    ins = dict(X=rng.normal(size=[3, 2]), Scale=rng.normal(size=[3, 2]))
    yield Sample(ins, order=0, why="the gradient is not that of the result")
