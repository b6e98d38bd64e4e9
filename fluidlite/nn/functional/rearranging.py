"""Channels and pixels laid out as each other, and windows laid out as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.shaping import moveaxis, numbers_in
from .windows import each

if TYPE_CHECKING:
    from ...functions.arguments import Numbers


def pixel_shuffle(
    x: Tensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Channels laid out as squares of pixels (Shi et al. 2016, "Real-time single image and video
    super-resolution using an efficient sub-pixel convolutional neural network").

    Args:
        x: [N, C, H, W].
        upscale_factor: the side of the squares; its square divides C.
        data_format: NCHW or NHWC.

    >>> fluid.nn.functional.pixel_shuffle(fluid.ones([1, 8, 2, 2]), 2).shape
    [1, 2, 4, 4]
    """
    last, x = _channels_first(x, data_format)
    out = eager.pixel_shuffle(x, upscale_factor=upscale_factor)
    return moveaxis(out, 1, -1) if last else out


def unfold(
    x: Tensor,
    kernel_sizes: Numbers,
    strides: Numbers = 1,
    paddings: Numbers = 0,
    dilations: Numbers = 1,
    name: str | None = None,
) -> Tensor:
    """What lies under each position of a window, as columns: [N, C * window, positions].

    Args:
        x: [N, C, H, W].
        kernel_sizes: of the window: a number, or two.
        strides, dilations: its steps, and those of its elements: a number, or two.
        paddings: zeros around: a number, two, or four: above, left, below, right.

    >>> fluid.nn.functional.unfold(fluid.ones([1, 2, 4, 4]), 2).shape
    [1, 8, 9]
    """
    return eager.unfold(x, **_window(kernel_sizes, strides, paddings, dilations))


def pixel_unshuffle(
    x: Tensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Squares of pixels laid out as channels: :func:`pixel_shuffle` undone.

    Args:
        x: [N, C, H, W].
        downscale_factor: the side of the squares; it divides H and W.
        data_format: NCHW or NHWC.

    Raises:
        ShapeError: it does not divide them.

    >>> fluid.nn.functional.pixel_unshuffle(fluid.ones([1, 2, 4, 4]), 2).shape
    [1, 8, 2, 2]
    """
    _need_layout(data_format)
    how = dict(downscale_factor=int(downscale_factor), data_format=data_format)
    return eager.pixel_unshuffle(x, **how)


def channel_shuffle(
    x: Tensor, groups: int, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Channels dealt out: first the first of each group, then the second (Zhang et al. 2018,
    "ShuffleNet").

    Args:
        x: [N, C, H, W].
        groups: how many groups of neighbouring channels there are.
        data_format: NCHW or NHWC.

    >>> x = fluid.arange(4.0).reshape([1, 4, 1, 1])
    >>> fluid.nn.functional.channel_shuffle(x, 2).flatten().tolist()
    [0.0, 2.0, 1.0, 3.0]
    """
    _need_layout(data_format)
    return eager.channel_shuffle(x, groups=int(groups), data_format=data_format)


def temporal_shift(
    x: Tensor,
    seg_num: int,
    shift_ratio: float = 0.25,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Tensor:
    """Frames with some channels of the frame before, and some of the one after (Lin, Gan and Han
    2019, "TSM").

    Args:
        x: frames of clips, one after the other: [clips * seg_num, C, H, W].
        seg_num: how many frames a clip has.
        shift_ratio: which part of the channels comes from before, and which from after.
        data_format: NCHW or NHWC.

    >>> fluid.nn.functional.temporal_shift(fluid.ones([2, 4, 1, 1]), seg_num=2).shape
    [2, 4, 1, 1]
    """
    last, x = _channels_first(x, data_format)
    out = eager.temporal_shift(x, seg_num=int(seg_num), shift_ratio=float(shift_ratio))
    return moveaxis(out, 1, -1) if last else out


def fold(
    x: Tensor,
    output_sizes: Numbers,
    kernel_sizes: Numbers,
    strides: Numbers = 1,
    paddings: Numbers = 0,
    dilations: Numbers = 1,
    name: str | None = None,
) -> Tensor:
    """Images of the columns of a window, added up where they overlap: the adjoint of
    :func:`unfold`.

    Args:
        x: [N, C * window, positions].
        output_sizes: rows and columns of the images: a number, or two.
        kernel_sizes: of the window: a number, or two.
        strides, dilations: its steps, and those of its elements: a number, or two.
        paddings: zeros around: a number, two, or four: above, left, below, right.

    Raises:
        ShapeError: the columns are none of such a window over such images.

    >>> fluid.nn.functional.fold(fluid.ones([1, 8, 9]), 4, 2)[0, 0, 0].tolist()
    [1.0, 2.0, 2.0, 1.0]
    """
    window = _window(kernel_sizes, strides, paddings, dilations)
    return eager.fold(x, output_sizes=each("output_sizes", output_sizes, 2), **window)


def _window(kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> dict[str, Any]:
    """A window as attributes of operators."""
    around = numbers_in("paddings", paddings)
    if len(around) not in (1, 2, 4):
        raise ArgumentError(f"expected paddings to be a number, two or four, got {paddings!r}")
    around = {1: around * 4, 2: around * 2, 4: around}[len(around)]
    named = {"kernel_sizes": kernel_sizes, "strides": strides, "dilations": dilations}
    pairs = {what: each(what, given, 2) for what, given in named.items()}
    return {"paddings": around, **pairs}


def _channels_first(x: Tensor, data_format: str) -> tuple[bool, Tensor]:
    """Whether channels come last, and the images with them first."""
    _need_layout(data_format)
    last = data_format == "NHWC"
    return last, moveaxis(x, -1, 1) if last else x


def _need_layout(data_format: str) -> None:
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"expected data_format NCHW or NHWC, got {data_format!r}")
