"""Samples of the operators in fluidlite/ops/optimizer.py."""

import numpy as np

from .form import Sample, samples


def arrays(rng, *slots):
    return {slot: rng.normal(size=[2, 3]) for slot in slots}


@samples("sgd")
def sgd(rng):
    yield Sample(dict(arrays(rng, "Param", "Grad"), LearningRate=np.array([0.1])))


@samples("momentum")
def momentum(rng):
    inputs = dict(arrays(rng, "Param", "Grad", "Velocity"), LearningRate=np.array([0.1]))
    yield Sample(inputs, dict(mu=0.9))
    yield Sample(inputs, dict(mu=0.9, use_nesterov=True), "nesterov")


@samples("adam", "adam_v2")
def adam(rng, type):
    inputs = dict(
        arrays(rng, "Param", "Grad", "Moment1"),
        Moment2=rng.uniform(0.1, 1.0, size=[2, 3]),
        LearningRate=np.array([0.1]),
        Beta1Pow=np.array([0.81]),
        Beta2Pow=np.array([0.998]),
    )
    yield Sample(inputs)
    yield Sample(inputs, dict(beta1=0.75, beta2=0.875, epsilon=0.125), "attributes")
    betas = dict(Beta1Tensor=np.array([0.8]), Beta2Tensor=np.array([0.9]))
    yield Sample(dict(inputs, **betas), name="tensors")
