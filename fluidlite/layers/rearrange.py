"""Elements of images moved between channels, places and frames; windows laid out in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from .operator_layers import Layer, OperatorLayers, operator_layer, same_shape
from .sizes import integers
from .windows import each

pixel_shuffle: Layer = operator_layer("""
    pixel_shuffle(x, upscale_factor=...)

    >>> fluid.layers.pixel_shuffle(fluid.data("x", [None, 8, 4, 4]), 2).shape
    (-1, 2, 8, 8)
""")
shuffle_channel: Layer = same_shape("""
    shuffle_channel(x, group=..., name)

    >>> fluid.layers.shuffle_channel(fluid.data("x", [None, 6, 4, 4]), group=2).shape
    (-1, 6, 4, 4)
""")
space_to_depth: Layer = operator_layer("""
    space_to_depth(x, blocksize=..., name)

    >>> fluid.layers.space_to_depth(fluid.data("x", [None, 4, 6, 8]), 2).shape
    (-1, 16, 3, 4)
""")
temporal_shift: Layer = same_shape("""
    temporal_shift(x, seg_num, shift_ratio, name)

    >>> fluid.layers.temporal_shift(fluid.data("x", [None, 8, 4, 4]), seg_num=2).shape
    (-1, 8, 4, 4)
""")


def _windows(
    kernel_sizes: int | Sequence[int],
    strides: int | Sequence[int] = 1,
    paddings: int | Sequence[int] = 0,
    dilations: int | Sequence[int] = 1,
) -> dict[str, Any]:
    pads = integers(paddings, "paddings")
    if len(pads) not in (1, 2, 4):
        raise ArgumentError(f"expected one, two or four paddings, got {paddings!r}")
    given = {"kernel_sizes": kernel_sizes, "strides": strides, "dilations": dilations}
    return {
        **{name: each(value, name) for name, value in given.items()},
        "paddings": pads * (4 // len(pads)),
    }


unfold: Layer = OperatorLayers(convert=_windows)("""
    unfold(x, kernel_sizes, strides, paddings, dilations, name)

    Args:
        paddings: zeros around the image: one number; two, down and across; or four, above, left,
            below and right.

    Raises:
        ArgumentError: a parameter has none of the forms above.

    >>> fluid.layers.unfold(fluid.data("x", [None, 3, 8, 8]), [2, 3], paddings=1).shape
    (-1, 18, 72)
""")
