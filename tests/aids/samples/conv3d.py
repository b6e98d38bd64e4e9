"""Samples of the convolutions of volumes."""

from .form import Sample, samples

#: attributes, shape of the input (NCDHW), filters, size of the filter
CONVOLUTIONS = [
    (dict(), (2, 3, 3, 4, 5), 4, (2, 3, 1)),
    (
        dict(strides=[2, 1, 1], paddings=[1, 0, 2], dilations=[1, 2, 1]),
        (1, 2, 4, 5, 3),
        3,
        (3, 2, 1),
    ),
    (dict(groups=2, paddings=[1, 0, 0, 1, 2, 0]), (1, 4, 3, 2, 4), 6, (2, 1, 3)),
    (dict(padding_algorithm="SAME", strides=[2, 3, 1]), (1, 2, 5, 4, 3), 3, (3, 2, 2)),
    (dict(padding_algorithm="SAME", dilations=[1, 2, 3]), (1, 2, 3, 4, 3), 2, (2, 3, 2)),
    (dict(strides=[2, 2, 1]), (1, 2, 2, 4, 3), 3, (3, 2, 2)),
    (dict(data_format="NDHWC", paddings=[1, 0, 0]), (2, 3, 2, 3, 4), 4, (1, 2, 3)),
]
TRANSPOSED = [
    (dict(), (2, 3, 2, 3, 4), 4, (2, 1, 3)),
    (dict(strides=[2, 1, 3], paddings=[1, 0, 0]), (1, 2, 3, 2, 2), 3, (3, 2, 1)),
    (dict(strides=[2, 1, 1], output_size=[6, 3, 2]), (1, 2, 3, 2, 1), 3, (1, 2, 2)),
    (dict(groups=2, data_format="NDHWC"), (1, 4, 2, 3, 2), 6, (2, 2, 1)),
]
#: attributes, shape of the input and of the output (NCDHW), shape of the filter
ADJOINTS = [
    (
        dict(strides=[2, 1, 1], paddings=[1, 0, 0]),
        (2, 3, 4, 2, 3),
        (2, 5, 2, 2, 2),
        (5, 3, 3, 1, 2),
    ),
    (dict(groups=2, data_format="NDHWC"), (1, 4, 3, 2, 4), (1, 6, 2, 2, 2), (6, 2, 2, 1, 3)),
]


def volume(rng, attrs, shape):
    """Random volumes of an NCDHW shape, in the format that the attributes ask for."""
    x = rng.normal(size=shape)
    return x.transpose(0, 2, 3, 4, 1) if attrs.get("data_format") == "NDHWC" else x


@samples("conv3d")
def conv3d(rng):
    for attrs, shape, filters, kernel in CONVOLUTIONS:
        depth = shape[1] // attrs.get("groups", 1)
        weights = rng.normal(size=(filters, depth, *kernel))
        yield Sample(dict(Input=volume(rng, attrs, shape), Filter=weights), attrs)


@samples("conv3d_transpose")
def conv3d_transpose(rng):
    for attrs, shape, filters, kernel in TRANSPOSED:
        weights = rng.normal(size=(shape[1], filters // attrs.get("groups", 1), *kernel))
        yield Sample(dict(Input=volume(rng, attrs, shape), Filter=weights), attrs)


@samples("conv3d_adjoint_input")
def conv3d_adjoint_input(rng):
    for attrs, size, out, filter in ADJOINTS:
        inputs = dict(G=volume(rng, attrs, out), Filter=rng.normal(size=filter))
        yield Sample(inputs, dict(attrs, size=list(volume(rng, attrs, size).shape)))


@samples("conv3d_adjoint_filter")
def conv3d_adjoint_filter(rng):
    for attrs, size, out, filter in ADJOINTS:
        inputs = dict(Input=volume(rng, attrs, size), G=volume(rng, attrs, out))
        yield Sample(inputs, dict(attrs, size=list(filter)))
