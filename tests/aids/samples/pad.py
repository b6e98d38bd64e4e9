"""Samples of more elements around those of a tensor."""

import numpy as np

from .form import Sample, samples


@samples("pad")
def pad(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(paddings=[1, 0, 2, 1]))
    yield Sample(
        dict(X=rng.normal(size=[2, 3, 4])),
        dict(paddings=[0, 1, 0, 0, 2, 3], pad_value=0.5),
        "value",
    )


@samples("pad_constant_like")
def pad_constant_like(rng):
    x, y = np.zeros([4, 5]), rng.normal(size=[2, 5])
    yield Sample(dict(X=x, Y=y))
    yield Sample(dict(X=x, Y=y[:, :3]), dict(pad_value=0.75), "value")


@samples("pad2d")
def pad2d(rng):
    for mode in ("constant", "reflect", "edge"):
        x = rng.normal(size=[2, 1, 3, 4])
        yield Sample(dict(X=x), dict(paddings=[1, 2, 3, 0], mode=mode), mode)
        attrs = dict(paddings=[0, 1, 2, 1], mode=mode, data_format="NHWC", pad_value=0.5)
        yield Sample(dict(X=rng.normal(size=[1, 3, 4, 2])), attrs, f"{mode}_channels_last")
    paddings = np.array([2, 1, 0, 3], np.int32)
    yield Sample(dict(X=x, Paddings=paddings), dict(paddings=[0] * 4, mode="reflect"), "tensor")


@samples("pad3d")
def pad3d(rng):
    around = dict(paddings=[1, 2, 1, 0, 1, 1])
    for mode in ("constant", "reflect", "replicate", "circular"):
        yield Sample(dict(X=rng.normal(size=[1, 2, 3, 2, 4])), dict(around, mode=mode), mode)
    last = dict(paddings=[3, 4, 0, -1, 0, 0], mode="circular", data_format="NDHWC")
    yield Sample(dict(X=rng.normal(size=[1, 2, 3, 2, 2])), last, "last")
    given = np.array([0, 1, 2, 0, 1, 0], "int32")
    inputs = dict(X=rng.normal(size=[1, 2, 3, 2, 4]), Paddings=given)
    yield Sample(inputs, dict(paddings=[0] * 6, value=0.5), "tensor")
