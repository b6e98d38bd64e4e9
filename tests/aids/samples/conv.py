"""Samples of the convolutions."""

from .form import Sample, samples

#: attributes, shape of the input (NCHW), filters, size of the filter
CONVOLUTIONS = [
    (dict(), (2, 3, 5, 4), 4, (2, 3)),
    (dict(strides=[1, 2], paddings=[-1, 1, 2, -2]), (2, 2, 6, 7), 3, (3, 2)),  # takes rows away
    (dict(strides=[2, 1], paddings=[1, 2], dilations=[1, 2]), (1, 2, 6, 5), 3, (3, 2)),
    (dict(groups=2, paddings=[1, 0, 2, 1]), (2, 4, 3, 5), 6, (2, 3)),
    (dict(padding_algorithm="SAME", strides=[2, 3], dilations=[2, 1]), (1, 2, 5, 6), 3, (3, 2)),
    (dict(padding_algorithm="VALID", paddings=[3, 3]), (1, 2, 5, 6), 3, (3, 2)),
    (dict(data_format="NHWC", paddings=[1, 0]), (2, 3, 5, 4), 4, (2, 3)),
    (dict(strides=[3, 2], paddings=[0, 1]), (2, 2, 2, 5), 3, (4, 2)),  # reaches beyond
]
BY_CHANNEL = [
    (dict(groups=3), (2, 3, 5, 4), 3, (2, 3)),
    (dict(groups=2, strides=[2, 1], paddings=[1, 1]), (1, 2, 4, 5), 4, (3, 2)),
    (dict(paddings=[0, 1]), (2, 1, 4, 5), 3, (3, 2)),
    (dict(groups=2, padding_algorithm="SAME", dilations=[3, 2]), (1, 2, 4, 5), 4, (3, 2)),
]
TRANSPOSED = [
    (dict(), (2, 3, 4, 3), 4, (2, 3)),
    (dict(strides=[2, 1], paddings=[1, -2, -1, 0]), (2, 2, 3, 4), 3, (3, 2)),  # adds rows
    (dict(strides=[2, 3], paddings=[1, 0]), (1, 2, 4, 3), 3, (3, 4)),
    (dict(strides=[2, 3], output_size=[8, 10]), (1, 2, 3, 3), 4, (3, 2)),
    (dict(groups=2, dilations=[1, 2], paddings=[1, 0, 2, 1]), (2, 4, 3, 5), 6, (4, 2)),
    (dict(padding_algorithm="SAME", strides=[2, 1]), (1, 2, 5, 4), 3, (3, 2)),
    (dict(padding_algorithm="SAME", strides=[1, 2], dilations=[2, 3]), (1, 2, 5, 4), 3, (3, 2)),
    (dict(data_format="NHWC", strides=[1, 2]), (2, 3, 4, 5), 2, (3, 2)),
]
TRANSPOSED_BY_CHANNEL = [(dict(groups=3, strides=[2, 1]), (2, 3, 4, 5), 3, (2, 3))]


def image(rng, attrs, shape):
    """Random images of an NCHW shape, in the format that the attributes ask for."""
    x = rng.normal(size=shape)
    return x.transpose(0, 2, 3, 1) if attrs.get("data_format") == "NHWC" else x


@samples("conv2d", "depthwise_conv2d")
def conv2d(rng, type):
    for attrs, shape, filters, kernel in BY_CHANNEL if type != "conv2d" else CONVOLUTIONS:
        depth = shape[1] // attrs.get("groups", 1)
        inputs = dict(
            Input=image(rng, attrs, shape), Filter=rng.normal(size=(filters, depth, *kernel))
        )
        yield Sample(inputs, attrs)
    yield Sample(dict(inputs, Bias=rng.normal(size=filters)), attrs, name="bias")


@samples("conv2d_transpose", "depthwise_conv2d_transpose")
def conv2d_transpose(rng, type):
    for attrs, shape, filters, kernel in (
        TRANSPOSED if type == "conv2d_transpose" else TRANSPOSED_BY_CHANNEL
    ):
        depth = filters // attrs.get("groups", 1)
        inputs = dict(
            Input=image(rng, attrs, shape), Filter=rng.normal(size=(shape[1], depth, *kernel))
        )
        yield Sample(inputs, attrs)
    yield Sample(dict(inputs, Bias=rng.normal(size=filters)), attrs, name="bias")


#: attributes, shape of the input and of the output (NCHW), shape of the filter
ADJOINTS = [
    (dict(strides=[2, 1], paddings=[1, 0]), (2, 3, 6, 4), (2, 5, 3, 3), (5, 3, 3, 2)),
    (dict(groups=2, dilations=[1, 2]), (1, 4, 3, 5), (1, 6, 2, 3), (6, 2, 2, 2)),
    (dict(padding_algorithm="SAME", data_format="NHWC"), (2, 3, 5, 4), (2, 2, 5, 4), (2, 3, 3, 2)),
    (dict(paddings=[-1, 0, 1, -1]), (2, 3, 6, 4), (2, 2, 3, 3), (2, 3, 3, 2)),
]


@samples("conv2d_adjoint_input")
def conv2d_adjoint_input(rng):
    for attrs, size, out, filter in ADJOINTS:
        inputs = dict(G=image(rng, attrs, out), Filter=rng.normal(size=filter))
        yield Sample(inputs, dict(attrs, size=list(image(rng, attrs, size).shape)))


@samples("conv2d_adjoint_filter")
def conv2d_adjoint_filter(rng):
    for attrs, size, out, filter in ADJOINTS:
        inputs = dict(Input=image(rng, attrs, size), G=image(rng, attrs, out))
        yield Sample(inputs, dict(attrs, size=list(filter)))
