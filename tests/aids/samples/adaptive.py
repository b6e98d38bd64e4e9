"""Samples of the operators in fluidlite/ops/adaptive.py."""

import numpy as np

from .form import Sample, samples
from .optimizer import arrays

RATE = np.array([0.1])


@samples("adagrad", "decayed_adagrad")
def adagrad(rng, type):
    inputs = dict(
        arrays(rng, "Param", "Grad"), Moment=rng.uniform(0.1, 1.0, size=[2, 3]), LearningRate=RATE
    )
    yield Sample(inputs)
    yield Sample(inputs, dict(epsilon=0.25), "epsilon")
    if type == "decayed_adagrad":
        yield Sample(inputs, dict(decay=0.5), "decay")


@samples("adamax")
def adamax(rng):
    inputs = dict(
        arrays(rng, "Param", "Grad", "Moment"),
        InfNorm=rng.uniform(0.1, 1.0, size=[2, 3]),
        LearningRate=RATE,
        Beta1Pow=np.array([0.81]),
    )
    yield Sample(inputs)
    yield Sample(inputs, dict(beta1=0.8, beta2=0.9, epsilon=0.1), "attributes")


@samples("adadelta", "adadelta_v2")
def adadelta(rng, type):
    inputs = dict(
        arrays(rng, "Param", "Grad"),
        AvgSquaredGrad=rng.uniform(0.1, 1.0, size=[2, 3]),
        AvgSquaredUpdate=rng.uniform(0.1, 1.0, size=[2, 3]),
    )
    if type == "adadelta_v2":
        inputs["LearningRate"] = RATE
    yield Sample(inputs)
    yield Sample(inputs, dict(rho=0.5, epsilon=0.1), "attributes")


@samples("rmsprop")
def rmsprop(rng):
    inputs = dict(
        arrays(rng, "Param", "Grad", "Moment"),
        MeanSquare=rng.uniform(1.0, 2.0, size=[2, 3]),
        LearningRate=RATE,
    )
    yield Sample(inputs)
    yield Sample(inputs, dict(decay=0.5, momentum=0.9, epsilon=0.1), "attributes")
    inputs = dict(inputs, MeanGrad=rng.uniform(-0.5, 0.5, size=[2, 3]))
    yield Sample(inputs, name="mean")
    yield Sample(inputs, dict(centered=True), "centered")
