"""Samples of the element-wise operators on two tensors: every way to align them."""

import numpy as np

from .form import Sample, samples

#: shape of X, shape of Y, axis
ALIGNED = {
    "same": ([2, 3], [2, 3], -1),
    "last": ([2, 3, 4], [3, 4], -1),
    "first": ([2, 3, 4], [2], 0),
    "middle": ([2, 3, 4, 5], [3, 4], 1),
    "one": ([2, 3], [1], -1),
    "ones_within": ([2, 3, 4], [1, 3, 1], -1),
    "ones_at_end": ([2, 3, 4], [4, 1], 2),
    "both_stretch": ([2, 1, 4], [2, 3, 1], -1),
    "X_shorter": ([3, 4], [2, 3, 4], -1),
    "X_shorter_middle": ([3], [2, 3, 4], 1),
}
FLOATS = ["add", "sub", "mul", "div", "max", "min", "pow"]
INTEGERS = ["elementwise_mod", "elementwise_floordiv"]


@samples(*[f"elementwise_{name}" for name in FLOATS])
def elementwise(rng, type):
    for name, (x, y, axis) in ALIGNED.items():
        X, Y = rng.uniform(0.5, 2.0, x), rng.uniform(0.5, 2.0, y)
        attrs = {} if axis == -1 else dict(axis=axis)
        yield Sample(dict(X=X, Y=Y), attrs, name=name, order=3 if name == "middle" else 2)
    if type != "elementwise_pow":
        yield Sample(dict(X=rng.normal(size=[2, 3]), Y=-rng.uniform(0.5, 2.0, [3])), name="signs")
    integers = dict(X=rng.integers(-9, 9, [2, 3]), Y=rng.integers(1, 5, [3]))
    yield Sample(integers, name="integers")


OF_NUMBERS = ("elementwise_fmax", "elementwise_fmin", "elementwise_heaviside")


@samples("atan2")
def atan2(rng):
    yield Sample(dict(X1=rng.uniform(0.5, 2.0, [2, 3]), X2=rng.normal(size=[3])), order=3)


@samples("lerp")
def lerp(rng):
    x, y, weight = (rng.normal(size=shape) for shape in ([2, 3], [3], [2, 1]))
    yield Sample(dict(X=x, Y=y, Weight=weight), order=3)


@samples(*OF_NUMBERS)
def of_numbers(rng, type):
    yield Sample(dict(X=rng.uniform(0.5, 2.0, [2, 3]), Y=rng.uniform(0.9, 1.1, [3])))
    yield Sample(dict(X=rng.uniform(0.5, 2.0, [3]), Y=rng.uniform(0.9, 1.1, [4, 1])))


@samples("maximum", "minimum", "arctan2", "remainder", "floor_divide")
def elementwise_of_eager_tensors(rng, type):
    for name, (x, y, axis) in ALIGNED.items():
        X, Y = rng.uniform(2.1, 2.9, x), rng.uniform(0.9, 1.0, y)
        X = X if type in ("remainder", "floor_divide") else rng.uniform(0.5, 2.0, x)
        yield Sample(dict(X=X, Y=Y), {} if axis == -1 else dict(axis=axis), name=name)
    if type != "arctan2":
        integers = dict(X=rng.integers(-9, 9, [2, 3]), Y=rng.choice([-3, -2, 2, 3], [3]))
        yield Sample(integers, name="integers")


@samples(*INTEGERS)
def elementwise_of_integers(rng, type):
    for name, (x, y, axis) in ALIGNED.items():
        X, Y = rng.integers(-9, 9, x), rng.choice([-3, -2, 2, 3, 4], y)
        yield Sample(dict(X=X, Y=Y), {} if axis == -1 else dict(axis=axis), name=name)
    if type == "elementwise_mod":
        yield Sample(
            dict(X=np.array([-7.5, 7.5, -0.5]), Y=np.array([2.0, -2.0, 1.5])), name="floats"
        )


@samples("minus")
def minus(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3]), Y=rng.normal(size=[2, 3])))


@samples("grad_add")
def grad_add(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3]), Y=rng.normal(size=[2, 3])))
