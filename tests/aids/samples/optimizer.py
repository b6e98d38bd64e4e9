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
    decay = dict(regularization_method="l2_decay", regularization_coeff=0.5)
    yield Sample(inputs, dict(decay, mu=0.9), "decay")


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
    if type == "adam_v2":
        yield Sample(dict(inputs, EpsilonTensor=np.array([0.5])), name="epsilon")
        yield Sample(dict(inputs, SkipUpdate=np.array([True])), name="skipped")
        yield Sample(inputs, dict(use_global_beta_pow=True), "powers_stay")
    betas = dict(Beta1Tensor=np.array([0.8]), Beta2Tensor=np.array([0.9]))
    yield Sample(dict(inputs, **betas), name="tensors")


@samples("adamw")
def adamw(rng):
    inputs = dict(
        arrays(rng, "Param", "Grad", "Moment1"),
        Moment2=rng.uniform(0.1, 1.0, size=[2, 3]),
        LearningRate=np.array([0.1]),
        Beta1Pow=np.array([0.81]),
        Beta2Pow=np.array([0.998]),
    )
    yield Sample(inputs, dict(coeff=0.5, with_decay=True))
    yield Sample(inputs, dict(coeff=0.5), "without_decay")


def of_each(rng, shapes, *slots):
    """A list of arrays for each slot."""
    return {slot: [rng.uniform(0.1, 1.0, size=shape) for shape in shapes] for slot in slots}


@samples("merged_adam")
def merged_adam(rng):
    inputs = of_each(rng, [[2, 3], [4]], "Param", "Grad", "Moment1", "Moment2")
    inputs |= of_each(rng, [[1], [1]], "LearningRate", "Beta1Pow", "Beta2Pow")
    yield Sample(inputs)
    yield Sample(dict(inputs, LearningRate=[np.array([0.1])]), dict(epsilon=0.5), "one_rate")


@samples("merged_momentum")
def merged_momentum(rng):
    inputs = of_each(rng, [[2, 3], [4]], "Param", "Grad", "Velocity")
    inputs["LearningRate"] = [np.array([0.1])]
    yield Sample(inputs, dict(mu=0.9))
    decay = dict(regularization_method=["l2_decay", ""], regularization_coeff=[0.5, 0.0])
    yield Sample(inputs, dict(decay, mu=0.9, use_nesterov=True), "decay")
