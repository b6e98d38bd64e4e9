"""Samples of the operators in fluidlite/ops/proximal.py."""

import numpy as np

from .form import Sample, samples
from .optimizer import arrays

RATE = np.array([0.1])


@samples("proximal_gd")
def proximal_gd(rng):
    inputs = dict(arrays(rng, "Param", "Grad"), LearningRate=RATE)
    yield Sample(inputs)
    yield Sample(inputs, dict(l1=0.5, l2=0.25), "decay")


@samples("proximal_adagrad")
def proximal_adagrad(rng):
    moment = rng.uniform(0.1, 1.0, size=[2, 3])
    inputs = dict(arrays(rng, "Param", "Grad"), Moment=moment, LearningRate=RATE)
    yield Sample(inputs)
    yield Sample(inputs, dict(l1=0.5, l2=0.25), "decay")


@samples("ftrl")
def ftrl(rng):
    inputs = dict(
        arrays(rng, "Param", "Grad", "LinearAccumulator"),
        SquaredAccumulator=rng.uniform(0.1, 1.0, size=[2, 3]),
        LearningRate=RATE,
    )
    yield Sample(inputs)
    yield Sample(inputs, dict(l1=0.5, l2=0.25), "decay")
    yield Sample(inputs, dict(l1=0.5, lr_power=-0.75), "power")
