"""Samples of comparisons, logic, and tests of whole tensors."""

import numpy as np

from .elementwise import ALIGNED
from .form import Sample, samples


@samples("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
def compare(rng, type):
    for name, (x, y, axis) in ALIGNED.items():
        X, Y = rng.integers(3, size=x), rng.integers(3, size=y)
        yield Sample(dict(X=X, Y=Y), {} if axis == -1 else dict(axis=axis), name=name)
    yield Sample(dict(X=rng.normal(size=[2, 3]), Y=rng.normal(size=[3])), name="floats")


@samples("logical_and", "logical_or", "logical_xor")
def logical(rng, type):
    yield Sample(dict(X=rng.random([2, 3]) < 0.5, Y=rng.random([2, 3]) < 0.5), name="same")
    yield Sample(dict(X=rng.random([2, 3]) < 0.5, Y=rng.random([3]) < 0.5), name="broadcast")


@samples("logical_not")
def logical_not(rng):
    yield Sample(dict(X=rng.random([2, 3]) < 0.5))


@samples("equal_reduce")
def equal_reduce(rng):
    X = rng.integers(9, size=[2, 3])
    yield Sample(dict(X=X, Y=X.copy()), name="yes")
    yield Sample(dict(X=X, Y=X + 1), name="no")
    yield Sample(dict(X=X, Y=X[0]), name="shapes_differ")


@samples("allclose")
def allclose(rng):
    Input = rng.normal(size=[2, 3])
    yield Sample(dict(Input=Input, Other=Input * (1 + 1e-7)), name="yes")
    yield Sample(dict(Input=Input, Other=Input + 0.1), dict(rtol=0.0, atol=0.01), name="no")
    nan = dict(Input=np.array([1.0, np.nan]), Other=np.array([1.0, np.nan]))
    yield Sample(nan, dict(equal_nan=True), name="nan")
    near = dict(Input=Input, Other=Input + 0.1, Rtol=np.array([0.0]), Atol=np.array([0.2]))
    yield Sample(near, dict(zero_d=True), name="tensors")


@samples("isfinite_v2", "isnan_v2", "isinf_v2")
def question_of_each_element(rng, type):
    yield Sample(dict(X=np.array([[1.0, np.nan, -np.inf], [np.inf, 0.0, -2.0]])))
    yield Sample(dict(X=rng.integers(9, size=[2, 3])), name="integers")


@samples("isfinite", "isnan", "isinf", "is_empty")
def question(rng, type):
    yield Sample(dict(X=rng.normal(size=[2, 3])), name="finite")
    yield Sample(dict(X=np.array([1.0, np.nan])), name="nan")
    yield Sample(dict(X=np.array([1.0, -np.inf, 2.0])), name="infinite")
    yield Sample(dict(X=rng.integers(9, size=[2, 3])), name="integers")
    yield Sample(dict(X=np.zeros([2, 0])), name="empty")


@samples("equal_all")
def equal_all(rng):
    x = rng.integers(0, 2, [2, 3])
    yield Sample(dict(X=x, Y=x.copy()))
    yield Sample(dict(X=x, Y=1 - x), {}, "other")
    yield Sample(dict(X=x, Y=x[:1]), {}, "shape")


@samples("isclose")
def isclose(rng):
    x = np.array([1.0, 2.0, 3.0])
    y = np.array([1.0, 2.1, 3.0 + 1e-6])
    yield Sample(dict(Input=x, Other=y))
    yield Sample(dict(Input=x, Other=y), dict(rtol="0.2", atol="0.0", equal_nan=True), "wide")
    tensors = dict(Rtol=np.array([0.0]), Atol=np.array([0.5]))
    yield Sample(dict(Input=x, Other=y, **tensors), {}, "tensors")
