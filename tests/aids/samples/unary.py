"""Samples of the elementary functions of each element."""

import numpy as np

from .form import Sample, samples

#: where their inputs come from, for those that are not defined everywhere
RANGES = {
    "log": (0.3, 2.0),
    "log2": (0.3, 2.0),
    "log10": (0.3, 2.0),
    "log1p": (-0.7, 2.0),
    "sqrt": (0.3, 2.0),
    "rsqrt": (0.3, 2.0),
    "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9),
    "tan": (-1.0, 1.0),
    "acosh": (1.3, 3.0),
    "atanh": (-0.8, 0.8),
}
SMOOTH = ["exp", "expm1", "sinh", "cosh", "square", "sin", "cos", "atan", "asinh", "erf", "erfc"]


def apart(rng, shape, *kinks, low=-3.0, high=3.0):
    """Random numbers that keep away from all kinks."""
    x = rng.uniform(low, high, shape)
    for kink in kinks:
        close = abs(x - kink) < 0.05
        x = np.where(close, kink + np.where(x < kink, -0.05, 0.05), x)
    return x


@samples(*RANGES, *SMOOTH)
def smooth(rng, type):
    yield Sample(dict(X=rng.uniform(*RANGES.get(type, (-2.0, 2.0)), [2, 3])), order=3)
    yield Sample(dict(X=rng.uniform(*RANGES.get(type, (-2.0, 2.0)), [2, 3, 4])), name="cube")


@samples("reciprocal", "abs", "sign", "floor", "ceil", "round", "trunc")
def with_kinks(rng, type):
    yield Sample(dict(X=apart(rng, [3, 4], *np.arange(-3, 3.5, 0.5))))
    if type == "abs":
        yield Sample(dict(X=rng.integers(-5, 5, [2, 3])), name="integers")


@samples("pow")
def power(rng):
    for factor in (0.0, 1.0, 2.0, 0.5, -1.5):
        attrs = dict(factor=factor)
        yield Sample(dict(X=rng.uniform(0.5, 2, [2, 3])), attrs, name=f"{factor}", order=3)
    yield Sample(dict(X=np.array([-1.0, 0.0, 2.0])), dict(factor=3.0), name="zero")
    ins = dict(X=rng.uniform(0.5, 2, [2, 3]), FactorTensor=np.array([2.5]))
    yield Sample(ins, name="tensor", order=3)
    yield Sample(dict(X=rng.integers(-5, 5, [2, 3])), dict(factor=2.0), name="integers")
