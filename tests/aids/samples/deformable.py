"""Samples of deformable convolutions."""

from .form import Sample, samples
from .points import within


@samples("deformable_conv", "deformable_conv_v1")
def deformable_conv(rng, type):
    for attrs, image, filter, positions in [
        (dict(paddings=[1, 0]), (2, 3, 4, 5), (4, 3, 2, 3), (5, 3)),
        (dict(strides=[3, 1]), (1, 2, 2, 4), (2, 2, 4, 2), (1, 3)),  # reaches beyond
        (
            dict(strides=[2, 1], dilations=[1, 2], groups=2, deformable_groups=2),
            (1, 4, 5, 6),
            (6, 2, 3, 2),
            (2, 4),
        ),
    ]:
        elements = filter[2] * filter[3] * attrs.get("deformable_groups", 1)
        offset = within(rng, (image[0], 2 * elements, *positions), -2, 2)
        inputs = dict(Input=rng.normal(size=image), Offset=offset, Filter=rng.normal(size=filter))
        if type == "deformable_conv":
            inputs.update(Mask=rng.uniform(size=(image[0], elements, *positions)))
        yield Sample(inputs, attrs)


@samples("window_places")
def window_places(rng):
    yield Sample(dict(), dict(kernel=3, count=4, stride=2, padding=1, dilation=2))
