"""Elements of images moved between channels, places and frames; windows laid out in columns."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .sizes import integers
from .windows import each


@layer
def pixel_shuffle(f: LayerBuilder, x: Variable, upscale_factor: int) -> Variable:
    """Larger images of fewer channels: squares of channels become squares of places.

    Shi et al., Real-time single image super-resolution, CVPR 2016.

    Args:
        x: images, [N, C, H, W].
        upscale_factor: how many times higher and wider they get; its square divides C.

    Returns:
        A variable of shape [N, C / r^2, H * r, W * r].

    >>> fluid.layers.pixel_shuffle(fluid.data("x", [None, 8, 4, 4]), 2).shape
    (-1, 2, 8, 8)
    """
    return f.pixel_shuffle(x, upscale_factor=upscale_factor)


@layer
def shuffle_channel(f: LayerBuilder, x: Variable, group: int, name: str | None = None) -> Variable:
    """Images with their channels dealt out: the first of each group, then the second, and so on.

    Zhang et al., ShuffleNet, CVPR 2018.

    Args:
        x: images, [N, C, H, W].
        group: how many groups of neighbouring channels there are; divides C.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.shuffle_channel(fluid.data("x", [None, 6, 4, 4]), group=2).shape
    (-1, 6, 4, 4)
    """
    return f.shuffle_channel(x, group=group)


@layer
def space_to_depth(
    f: LayerBuilder, x: Variable, blocksize: int, name: str | None = None
) -> Variable:
    """Smaller images of more channels, in the order of Darknet's "reorg" layer.

    Args:
        x: images, [N, C, H, W].
        blocksize: how many times lower and narrower they get; divides H and W, its square C.

    Returns:
        A variable of shape [N, C * b^2, H / b, W / b].

    >>> fluid.layers.space_to_depth(fluid.data("x", [None, 4, 6, 8]), 2).shape
    (-1, 16, 3, 4)
    """
    return f.space_to_depth(x, blocksize=blocksize)


@layer
def temporal_shift(
    f: LayerBuilder,
    x: Variable,
    seg_num: int,
    shift_ratio: float = 0.25,
    name: str | None = None,
) -> Variable:
    """Frames with some channels of the frame before, and some of the one after.

    Lin et al., TSM: temporal shift module, ICCV 2019.

    Args:
        x: frames of clips, one after the other: [clips * seg_num, C, H, W].
        seg_num: how many frames a clip has.
        shift_ratio: which part of the channels comes from before, and which from after.

    Returns:
        A variable of the shape of ``x``.

    >>> fluid.layers.temporal_shift(fluid.data("x", [None, 8, 4, 4]), seg_num=2).shape
    (-1, 8, 4, 4)
    """
    return f.temporal_shift(x, seg_num=seg_num, shift_ratio=shift_ratio)


@layer
def unfold(
    f: LayerBuilder,
    x: Variable,
    kernel_sizes: int | Sequence[int],
    strides: int | Sequence[int] = 1,
    paddings: int | Sequence[int] = 0,
    dilations: int | Sequence[int] = 1,
    name: str | None = None,
) -> Variable:
    """What lies under each position of a window over images, a column for each.

    Args:
        x: images, [N, C, H, W].
        kernel_sizes: height and width of the window, or one number for both.
        strides: steps of the window, down and across.
        paddings: zeros around the image: one number; two, down and across; or four, above, left,
            below and right.
        dilations: distances between neighbouring elements of the window.

    Returns:
        A variable of shape [N, C * height * width, positions].

    Raises:
        ArgumentError: a parameter has none of the forms above.

    >>> fluid.layers.unfold(fluid.data("x", [None, 3, 8, 8]), [2, 3], paddings=1).shape
    (-1, 18, 72)
    """
    pads = integers(paddings, "paddings")
    if len(pads) not in (1, 2, 4):
        raise ArgumentError(f"expected one, two or four paddings, got {paddings!r}")
    return f.unfold(
        x,
        kernel_sizes=each(kernel_sizes, "kernel_sizes"),
        strides=each(strides, "strides"),
        paddings=pads * (4 // len(pads)),
        dilations=each(dilations, "dilations"),
    )
