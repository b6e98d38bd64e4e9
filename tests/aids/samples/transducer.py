"""Samples of the loss of a transducer."""

import numpy as np

from .form import Sample, samples


@samples("warprnnt")
def warprnnt(rng):
    numbers = rng.normal(size=[2, 4, 3, 5])
    inputs = dict(
        input=numbers - np.log(np.exp(numbers).sum(-1, keepdims=True)),
        label=np.array([[1, 2], [3, 3]], "int32"),
        input_lengths=np.array([4, 3], "int32"),
        label_lengths=np.array([2, 1], "int32"),
    )
    why = "paddle's gradient operator has no labels, which a second derivative needs"
    once = dict(order=1, why=why, outputs=("loss",))
    yield Sample(inputs, **once)
    yield Sample(inputs, dict(blank=4), "blank", **once)
