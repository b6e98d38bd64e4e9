"""Images of another size, rearranged, or as windows."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError
from ...imperative.recording import eager
from ...imperative.shaping import moveaxis, numbers_in
from ...imperative.tensor import Tensor
from .images import pad

#: by the number of dimensions of what is resized: how its sizes are called, last first
_SIZES = ("out_w", "out_h", "out_d")
_OPERATORS = {
    ("nearest", 2): "nearest_interp",
    ("bilinear", 2): "bilinear_interp",
    ("bicubic", 2): "bicubic_interp",
    ("trilinear", 3): "trilinear_interp",
}


def interpolate(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Images, or volumes, of another size.

    Args:
        x: [N, C, H, W], or [N, C, D, H, W] for ``trilinear``.
        size: the new sizes: a number, or one for every dimension.
        scale_factor: how many times larger they are, in the place of ``size``; the new sizes must
            be whole numbers.
        mode: nearest, bilinear, bicubic or trilinear.
        align_corners: the outermost elements stay where they are.
        align_mode: 0 for elements in the middle of their cells, 1 for elements at their beginning;
            of ``bilinear`` and ``trilinear``.
        data_format: NCHW, NHWC, NCDHW or NDHWC.

    Raises:
        ArgumentError: the mode is unknown or does not fit the dimensions, or the sizes are not
            given once.

    >>> fluid.nn.functional.interpolate(fluid.ones([1, 1, 2, 2]), scale_factor=2).shape
    [1, 1, 4, 4]
    """
    rank = x.array.ndim - 2
    if (mode, rank) not in _OPERATORS:
        modes = ", ".join(f"{each} ({n} dimensions)" for each, n in _OPERATORS)
        raise ArgumentError(f"expected mode to be one of {modes}; got {mode!r} for {rank}")
    if (size is None) == (scale_factor is None):
        raise ArgumentError("expected size or scale_factor, and not both")
    first = 1 if data_format[-1] == "C" else 2
    old = x.array.shape[first : first + rank]
    sizes = _scaled(old, scale_factor) if size is None else numbers_in("size", size)
    sizes = sizes * rank if len(sizes) == 1 else sizes
    if len(sizes) != rank:
        raise ArgumentError(f"expected {rank} sizes, got {list(sizes)}")
    operator = getattr(eager, _OPERATORS[mode, rank])
    return operator(
        x,
        interp_method=mode,
        align_corners=align_corners,
        align_mode=align_mode,
        data_layout=data_format,
        **dict(zip(_SIZES, reversed(sizes))),
    )


def _scaled(old: Any, factor: Any) -> tuple[int, ...]:
    factors = list(factor) if isinstance(factor, (list, tuple)) else [factor] * len(old)
    if len(factors) != len(old) or not all(isinstance(f, (int, float)) for f in factors):
        raise ArgumentError(f"expected scale_factor to be a number, or {len(old)}, got {factor!r}")
    sizes = [length * each for length, each in zip(old, factors)]
    if any(round(size) != size or size < 1 for size in sizes):
        raise ArgumentError(
            f"expected scale_factor to give whole sizes, got {factor!r} for {list(old)}; say size"
        )
    return tuple(int(size) for size in sizes)


def upsample(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """:func:`interpolate` by its other name."""
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


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
    pairs = {}
    for what, given in named.items():
        numbers = numbers_in(what, given)
        if len(numbers) not in (1, 2):
            raise ArgumentError(f"expected {what} to be a number, or two, got {given!r}")
        pairs[what] = numbers * 2 if len(numbers) == 1 else numbers
    return eager.unfold(x, paddings=around, **pairs)


def zeropad2d(
    x: Tensor, padding: Any, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Images with zeros around them.

    Args:
        x: [N, C, H, W].
        padding: how many: a number, or left, right, top, bottom.
        data_format: NCHW or NHWC.
    """
    amounts = numbers_in("padding", padding)
    return pad(x, amounts * 4 if len(amounts) == 1 else amounts, data_format=data_format)
