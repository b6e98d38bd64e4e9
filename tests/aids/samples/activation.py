"""Samples of what neural networks put between their layers."""

import numpy as np

from .form import Sample, samples
from .unary import apart


@samples("tanh", "tanh_shrink", "sigmoid", "logsigmoid", "softplus")
def smooth(rng, type):
    yield Sample(dict(X=rng.uniform(-2, 2, [2, 3])), order=3)
    yield Sample(dict(X=rng.uniform(-2, 2, [2, 3, 4])), name="cube")
    if type == "softplus":
        attrs = dict(beta=2.0, threshold=1.0)
        yield Sample(dict(X=apart(rng, [2, 5], 0.5)), attrs, "bent")


@samples("silu")
def silu(rng):
    yield Sample(dict(X=rng.uniform(-2, 2, [2, 3])), order=3)


@samples("celu")
def celu(rng):
    for alpha in (1.0, 0.5, -1.5):
        yield Sample(dict(X=apart(rng, [2, 5], 0)), dict(alpha=alpha), name=f"alpha_{alpha}")


@samples("stanh")
def stanh(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), order=3)
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(scale_a=1.5, scale_b=0.5), name="scales")


@samples("soft_relu")
def soft_relu(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), order=3)
    yield Sample(dict(X=apart(rng, [2, 5], -1, 1)), dict(threshold=1.0), name="threshold", order=3)


@samples("thresholded_relu")
def thresholded_relu(rng):
    yield Sample(dict(X=apart(rng, [2, 5], 1)))
    yield Sample(dict(X=apart(rng, [2, 5], -0.5)), dict(threshold=-0.5), name="threshold")


@samples("softsign", "relu")
def with_a_kink_at_zero(rng, type):
    yield Sample(dict(X=apart(rng, [3, 4], 0)))


@samples("gelu")
def gelu(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), name="exact", order=3)
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(approximate=True), name="approximate")


@samples("swish")
def swish(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), order=3)
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(beta=1.7), name="beta")


@samples("mish")
def mish(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), order=3)
    yield Sample(dict(X=apart(rng, [2, 5], -1, 1)), dict(threshold=1.0), name="threshold")


@samples("relu6")
def relu6(rng):
    yield Sample(dict(X=apart(rng, [2, 5], 0, 6, low=-2, high=8)))
    yield Sample(dict(X=apart(rng, [2, 5], 0, 1)), dict(threshold=1.0), name="threshold")


@samples("brelu")
def brelu(rng):
    yield Sample(dict(X=apart(rng, [2, 5], 0, 24, low=-10, high=30)))
    yield Sample(dict(X=apart(rng, [2, 5], -1, 2)), dict(t_min=-1.0, t_max=2.0), name="bounds")


@samples("leaky_relu", "elu", "leaky_relu_v2")
def leaky(rng, type):
    yield Sample(dict(X=apart(rng, [2, 5], 0)))
    yield Sample(dict(X=apart(rng, [2, 5], 0)), dict(alpha=0.3), name="alpha")
    if type == "leaky_relu_v2":
        yield Sample(dict(X=apart(rng, [2, 5], 0)), dict(alpha=-0.3), name="falling")


@samples("selu")
def selu(rng):
    yield Sample(dict(X=apart(rng, [2, 5], 0)), order=3)
    yield Sample(dict(X=apart(rng, [2, 5], 0)), dict(alpha=0.5, scale=2.0), name="scaled")


@samples("hard_shrink")
def hard_shrink(rng):
    yield Sample(dict(X=apart(rng, [2, 5], -0.5, 0.5)))
    yield Sample(dict(X=apart(rng, [2, 5], -1, 1)), dict(threshold=1.0), name="threshold")


@samples("softshrink")
def softshrink(rng):
    yield Sample(dict(X=apart(rng, [2, 5], -0.5, 0.5)))
    yield Sample(dict(X=apart(rng, [2, 5], -1, 1)), {"lambda": 1.0}, name="lambda")


@samples("hard_sigmoid")
def hard_sigmoid(rng):
    yield Sample(dict(X=apart(rng, [2, 5], -2.5, 2.5)))
    attrs = dict(slope=0.5, offset=0.25)
    yield Sample(dict(X=apart(rng, [2, 5], -0.5, 1.5)), attrs, name="slope")


@samples("hard_swish")
def hard_swish(rng):
    yield Sample(dict(X=apart(rng, [2, 7], -3, 3, low=-5, high=5)))
    attrs = dict(threshold=4.0, scale=3.0, offset=1.0)
    yield Sample(dict(X=apart(rng, [2, 7], -1, 3, low=-5, high=5)), attrs, name="bent")


@samples("prelu")
def prelu(rng):
    for mode, shape in {"all": [1], "channel": [1, 3, 1, 1], "element": [1, 3, 4, 5]}.items():
        ins = dict(X=apart(rng, [2, 3, 4, 5], 0), Alpha=rng.uniform(0.1, 0.9, shape))
        yield Sample(ins, dict(mode=mode), name=mode)
    ins = dict(X=apart(rng, [2, 3], 0), Alpha=rng.uniform(0.1, 0.9, [3]))
    yield Sample(ins, dict(mode="channel"), name="matrix")


@samples("maxout")
def maxout(rng):
    distinct = lambda *shape: rng.permutation(np.prod(shape)).reshape(shape) / 10
    yield Sample(dict(X=distinct(2, 6, 3, 4)), dict(groups=2), name="channels")
    yield Sample(dict(X=distinct(2, 3, 4, 6)), dict(groups=3, axis=3), name="last")
    yield Sample(dict(X=distinct(2, 3, 4, 6)), dict(groups=3, axis=-1), name="negative_axis")
