"""Samples of Fourier transforms, and of frames of signals."""

from .complex_parts import numbers
from .form import Sample, samples


@samples("fft_c2c", "fft_r2c", "fft_c2r")
def transforms(rng, type):
    for k, (axes, normalization, forward, size) in enumerate(
        [
            ([1], "backward", True, 8),
            ([-1], "forward", False, 9),
            ([0, 2], "ortho", False, 4),
            ([2, 0], "backward", False, 3),
            ([0, 1, 2], "forward", True, 1),
        ]
    ):
        attrs = dict(axes=axes, normalization=normalization, forward=forward)
        shape = [2, 3, 5]
        if type == "fft_c2c":
            yield Sample(dict(X=numbers(rng, *shape)), attrs)
        elif type == "fft_r2c":
            yield Sample(dict(X=rng.normal(size=shape)), attrs | dict(onesided=k % 3 != 2))
        else:
            shape[axes[-1]] = size // 2 + 1
            yield Sample(dict(X=numbers(rng, *shape)), attrs | dict(last_dim_size=size))
    if type == "fft_c2r":
        attrs = dict(axes=[0], normalization="backward", forward=False)
        yield Sample(dict(X=numbers(rng, 4, 3)), attrs, "an even number")


@samples("frame", "overlap_add")
def frames(rng, type):
    for length, hop, axis in [(4, 2, -1), (3, 1, 0), (2, 3, -1), (5, 2, 0)]:
        attrs = dict(hop_length=hop, axis=axis)
        if type == "frame":
            shape = [2, 3, 11] if axis else [11, 3, 2]
            yield Sample(dict(X=rng.normal(size=shape)), attrs | dict(frame_length=length))
        else:
            shape = [2, length, 6] if axis else [6, length, 2]
            yield Sample(dict(X=rng.normal(size=shape)), attrs)
    attrs = dict(hop_length=2) | (dict(frame_length=4) if type == "frame" else {})
    yield Sample(dict(X=rng.normal(size=[9] if type == "frame" else [4, 3])), attrs, "one signal")


@samples("stft")
def short_time(rng):
    for n_fft, hop, normalized, onesided in [(4, 2, False, True), (5, 3, True, False)]:
        attrs = dict(n_fft=n_fft, hop_length=hop, normalized=normalized, onesided=onesided)
        yield Sample(dict(X=rng.normal(size=[2, 11]), Window=rng.uniform(1, 2, size=n_fft)), attrs)
