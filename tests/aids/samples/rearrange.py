"""Samples of elements moved between channels, places and frames."""

from .form import Sample, samples


@samples("pixel_shuffle")
def pixel_shuffle(rng):
    yield Sample(dict(X=rng.normal(size=[2, 12, 3, 4])), dict(upscale_factor=2))
    attrs = dict(upscale_factor=2, data_format="NHWC")
    yield Sample(dict(X=rng.normal(size=[2, 3, 5, 8])), attrs, "last")


@samples("shuffle_channel")
def shuffle_channel(rng):
    yield Sample(dict(X=rng.normal(size=[2, 6, 3, 4])), dict(group=3))


@samples("space_to_depth")
def space_to_depth(rng):
    yield Sample(dict(X=rng.normal(size=[2, 8, 4, 6])), dict(blocksize=2))


@samples("temporal_shift")
def temporal_shift(rng):
    yield Sample(dict(X=rng.normal(size=[6, 7, 2, 4])), dict(seg_num=3, shift_ratio=0.3))
    yield Sample(dict(X=rng.normal(size=[2, 5, 3, 1])), dict(seg_num=1))
    last = dict(seg_num=2, data_format="NHWC")
    yield Sample(dict(X=rng.normal(size=[4, 2, 3, 5])), last, "last")


@samples("shift_frames")
def shift_frames(rng):
    attrs = dict(frames=3, bounds=[1, 3], step=-1)
    yield Sample(dict(X=rng.normal(size=[6, 4, 2, 5])), attrs)


#: attributes, shape of the images
WINDOWS = [
    (  # reaches beyond the image
        dict(kernel_sizes=[4, 2], strides=[3, 1], paddings=[0, 0, 1, 0], dilations=[1, 2]),
        (1, 2, 2, 3),
    ),
    (
        dict(kernel_sizes=[2, 3], strides=[1, 2], paddings=[1, 0, 2, 1], dilations=[1, 1]),
        (2, 3, 4, 5),
    ),
    (
        dict(kernel_sizes=[3, 2], strides=[2, 1], paddings=[0, 1, 1, 0], dilations=[1, 3]),
        (1, 2, 6, 7),
    ),
]


@samples("unfold")
def unfold(rng):
    for attrs, shape in WINDOWS:
        yield Sample(dict(X=rng.normal(size=shape)), attrs)


@samples("unfold_adjoint")
def unfold_adjoint(rng):
    for columns, (attrs, shape) in zip([(1, 16, 1), (2, 18, 12), (1, 12, 15)], WINDOWS):
        yield Sample(dict(G=rng.normal(size=columns)), dict(attrs, size=list(shape)))


@samples("channel_shuffle")
def channel_shuffle(rng):
    yield Sample(dict(X=rng.normal(size=[2, 6, 3, 4])), dict(groups=2))
    yield Sample(dict(X=rng.normal(size=[2, 3, 4, 6])), dict(groups=3, data_format="NHWC"), "last")


@samples("pixel_unshuffle")
def pixel_unshuffle(rng):
    yield Sample(dict(X=rng.normal(size=[1, 2, 4, 6])), dict(downscale_factor=2))
    attrs = dict(downscale_factor=2, data_format="NHWC")
    yield Sample(dict(X=rng.normal(size=[1, 4, 6, 3])), attrs, "last")


@samples("fold")
def fold(rng):
    window = dict(kernel_sizes=[2, 3], strides=[1, 2], paddings=[1, 2, 1, 2], dilations=[1, 1])
    yield Sample(dict(X=rng.normal(size=[2, 12, 12])), dict(output_sizes=[3, 4], **window))
