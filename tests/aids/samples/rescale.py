"""Samples of rescaling."""

import numpy as np

from .form import Sample, samples


@samples("affine_channel")
def affine_channel(rng):
    for attrs, shape, channels in [
        (dict(data_layout="NCHW"), (2, 3, 4, 5), 3),
        (dict(data_layout="NHWC"), (2, 3, 4), 4),
        (dict(), (3, 2), 2),
    ]:
        x, scale, bias = (rng.normal(size=s) for s in (shape, channels, channels))
        yield Sample(dict(X=x, Scale=scale, Bias=bias), attrs)


@samples("data_norm")
def data_norm(rng):
    for shape, channels, attrs in [
        ((4, 3), 3, dict()),
        ((2, 3, 2, 4), 3, dict()),
        ((2, 3, 4), 4, dict(data_layout="NHWC")),
    ]:
        sums = dict(
            BatchSize=np.full(channels, 5.0),
            BatchSum=rng.normal(size=channels),
            BatchSquareSum=rng.uniform(3, 6, size=channels),
        )
        inputs = dict(X=rng.normal(size=shape), **sums)
        yield Sample(inputs, attrs)
        more = dict(scale_w=rng.normal(size=channels), bias=rng.normal(size=channels))
        yield Sample({**inputs, **more}, dict(attrs, enable_scale_and_shift=True))
    rows = rng.normal(size=[3, 4])
    rows[1, 2] = 0  # nothing flows to a part that begins with 0, wherever it moves
    why = "a step away from 0 makes a part count"
    yield Sample(dict(X=rows, **sums), dict(slot_dim=2), name="slots", order=0, why=why)


@samples("begins_with_something")
def begins_with_something(rng):
    rows = rng.normal(size=[3, 6])
    rows[1, 3] = rows[2, 0] = 0
    yield Sample(dict(X=rows), dict(size=3), order=0, why="a step away from 0 changes the answer")


@samples("inplace_abn")
def inplace_abn(rng):
    for attrs, shape in [
        (dict(), (4, 3, 2, 5)),
        (dict(activation="leaky_relu", alpha=0.3), (6, 4)),
        (dict(activation="elu", alpha=0.5, epsilon=1e-3), (2, 3, 4)),
        (dict(activation="identity", is_test=True), (2, 3, 4)),
    ]:
        inputs = dict(X=rng.normal(size=shape))
        for slot in ("Scale", "Bias", "Mean", "Variance"):
            inputs[slot] = rng.uniform(0.5, 1.5, size=shape[1])
        yield Sample(inputs, attrs)


@samples("lrn")
def lrn(rng):
    yield Sample(dict(X=rng.normal(size=[2, 6, 3, 4])), dict(n=3, alpha=0.1, k=1.5))
    yield Sample(dict(X=rng.normal(size=[1, 2, 3, 4])), dict(n=7, alpha=0.2, beta=0.5))
    attrs = dict(n=3, alpha=0.1, data_format="NHWC")
    yield Sample(dict(X=rng.normal(size=[2, 3, 4, 5])), attrs, name="last")


@samples("neighbour_sum")
def neighbour_sum(rng):
    yield Sample(dict(X=rng.normal(size=[2, 5, 3])), dict(n=3, axis=1))
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(n=9, axis=1))


@samples("spectral_norm")
def spectral_norm(rng):
    for shape, dim, iterations in [((4, 3), 0, 2), ((3, 4, 2), 1, 1), ((2, 3), 0, 0)]:
        rows = shape[dim]
        start = [rng.normal(size=n) for n in (rows, int(np.prod(shape)) // rows)]
        inputs = dict(Weight=rng.normal(size=shape), U=start[0], V=start[1])
        yield Sample(inputs, dict(dim=dim, power_iters=iterations))
