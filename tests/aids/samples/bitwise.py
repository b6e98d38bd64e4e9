"""Samples of operators on bits and divisors."""

from .form import Sample, samples


@samples("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm")
def bitwise(rng, type):
    X, Y = rng.integers(-99, 99, size=[2, 3]), rng.integers(-99, 99, size=[2, 3])
    yield Sample(dict(X=X, Y=Y), name="same")
    yield Sample(dict(X=X.astype("int32"), Y=Y[0].astype("int32")), name="broadcast")


@samples("bitwise_not")
def bitwise_not(rng):
    yield Sample(dict(X=rng.integers(-9, 9, [2, 3])))
    yield Sample(dict(X=rng.integers(0, 9, [4]).astype("uint8")), {}, "unsigned")
    yield Sample(dict(X=rng.normal(size=[4]) > 0), {}, "truths")
