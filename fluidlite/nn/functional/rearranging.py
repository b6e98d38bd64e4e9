"""Channels laid out as pixels, and windows laid out as columns."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError
from ...imperative.recording import eager
from ...imperative.shaping import moveaxis, numbers_in
from ...imperative.tensor import Tensor
from .windows import each


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
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"expected data_format NCHW or NHWC, got {data_format!r}")
    last = data_format == "NHWC"
    out = eager.pixel_shuffle(moveaxis(x, -1, 1) if last else x, upscale_factor=upscale_factor)
    return moveaxis(out, 1, -1) if last else out


def unfold(
    x: Tensor,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
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
    around = numbers_in("paddings", paddings)
    if len(around) not in (1, 2, 4):
        raise ArgumentError(f"expected paddings to be a number, two or four, got {paddings!r}")
    around = {1: around * 4, 2: around * 2, 4: around}[len(around)]
    named = {"kernel_sizes": kernel_sizes, "strides": strides, "dilations": dilations}
    pairs = {what: each(what, given, 2) for what, given in named.items()}
    return eager.unfold(x, paddings=around, **pairs)
