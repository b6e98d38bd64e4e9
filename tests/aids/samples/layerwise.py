"""Samples of the operators in fluidlite/ops/layerwise.py."""

import numpy as np

from .form import Sample, samples
from .optimizer import arrays

RATE = np.array([0.1])


@samples("lars_momentum")
def lars_momentum(rng):
    inputs = dict(arrays(rng, "Param", "Grad", "Velocity"), LearningRate=RATE)
    yield Sample(inputs, dict(mu=0.9))
    yield Sample(inputs, dict(mu=0.9, lars_coeff=0.5, lars_weight_decay=0.25), "attributes")


@samples("lamb", "lamb_v2")
def lamb(rng, type):
    inputs = dict(
        arrays(rng, "Param", "Grad", "Moment1"),
        Moment2=rng.uniform(0.1, 1.0, size=[2, 3]),
        LearningRate=RATE,
        Beta1Pow=np.array([0.81]),
        Beta2Pow=np.array([0.998]),
    )
    yield Sample(inputs, dict(weight_decay=0.0))
    more = dict(weight_decay=0.25, beta1=0.8, beta2=0.9, epsilon=0.1)
    yield Sample(inputs, more, "attributes")
    if type == "lamb_v2":
        yield Sample(inputs, dict(weight_decay=0.0, always_adapt=True), "adapting")


@samples("dpsgd")
def dpsgd(rng):
    inputs = dict(arrays(rng, "Param", "Grad"), LearningRate=RATE)
    yield Sample(inputs, values_matter=False)
    yield Sample(inputs, dict(clip=0.5, batch_size=4.0, sigma=0.1, seed=3), "seed")
