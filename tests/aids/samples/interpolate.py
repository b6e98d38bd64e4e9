"""Samples of images in another size."""

import numpy as np

from .form import Sample, samples

MODES = [
    dict(align_corners=True),
    dict(align_corners=False, align_mode=0),
    dict(align_corners=False, align_mode=1),
]


@samples("bilinear_interp", "nearest_interp", "bicubic_interp")
def interpolation(rng, type):
    for mode in MODES:
        yield Sample(dict(X=rng.normal(size=[2, 3, 4, 5])), dict(mode, out_h=6, out_w=3))
    images = rng.normal(size=[1, 4, 3, 2])
    yield Sample(dict(X=images), dict(out_h=2, out_w=5, data_layout="NHWC"), name="last")
    yield Sample(dict(X=images), dict(scale=1.5), name="scale")
    yield Sample(dict(X=images, Scale=np.array([2.0])), dict(scale=1.5), name="scale_tensor")
    size = np.array([5, 1], "int32")
    yield Sample(dict(X=images, OutSize=size), dict(out_h=3, out_w=3), name="size_tensor")
    each = [np.array([2], "int32"), np.array([3], "int32")]
    yield Sample(dict(X=images, SizeTensor=each, OutSize=size), name="size_tensors")


@samples("linear_interp")
def linear_interp(rng):
    for mode in MODES:
        yield Sample(dict(X=rng.normal(size=[2, 3, 5])), dict(mode, out_w=7))
    yield Sample(dict(X=rng.normal(size=[2, 5, 3])), dict(scale=1.5, data_layout="NWC"), "last")


@samples("linear_interp_v2")
def linear_interp_v2(rng):
    for mode in MODES:
        yield Sample(dict(X=rng.normal(size=[2, 3, 5])), dict(mode, scale=[1.5]))
    inputs = dict(X=rng.normal(size=[2, 3, 5]), Scale=np.array([1.5]))
    yield Sample(inputs, dict(align_corners=False), "tensor")


@samples("bilinear_interp_v2", "nearest_interp_v2", "bicubic_interp_v2")
def of_each_factor(rng, type):
    for mode in MODES:
        yield Sample(dict(X=rng.normal(size=[2, 3, 4, 5])), dict(mode, scale=[1.4, 0.7]))
    images = rng.normal(size=[1, 4, 3, 2])
    centred = dict(align_corners=False, align_mode=0)
    yield Sample(dict(X=images), dict(out_h=2, out_w=5, data_layout="NHWC"), name="last")
    yield Sample(dict(X=images, Scale=np.array([2.5, 1.5])), centred, "scale_tensor")
    yield Sample(dict(X=images, OutSize=np.array([5, 1], "int32")), centred, "size_tensor")
    if type == "nearest_interp_v2":
        volumes = rng.normal(size=[1, 2, 3, 4, 5])
        yield Sample(dict(X=volumes), dict(out_d=5, out_h=2, out_w=3), "volumes")
        yield Sample(dict(X=np.arange(6).reshape(1, 1, 2, 3)), dict(out_h=4, out_w=2), "integers")


@samples("trilinear_interp", "trilinear_interp_v2")
def trilinear_interp(rng, type):
    for mode in MODES:
        volumes = rng.normal(size=[1, 2, 3, 4, 5])
        yield Sample(dict(X=volumes), dict(mode, out_d=5, out_h=2, out_w=3))
    yield Sample(dict(X=volumes), dict(out_d=2, out_h=6, out_w=1, data_layout="NDHWC"), name="last")


@samples("resize_weights")
def resize_weights(rng):
    for method in ("linear", "nearest", "cubic"):
        yield Sample(dict(), dict(old=4, new=7, method=method, align_corners=False, align_mode=0))
        yield Sample(dict(), dict(old=5, new=1, method=method))
