"""Poolings of sequences, images and volumes: the largest elements, or averages, under windows."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arguments import Numbers
from ...functions.arithmetic import multiply
from ...functions.shaping import squeeze, unsqueeze
from ...ground.callsite import warn
from ...opdef.windows import FORMATS, WindowArguments
from .windows import WINDOWS, each, of_rank, windows_of


@WINDOWS
def max_pooling(
    rank: int,
    x: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers | str = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element under a window that moves over an image."""
    windows = windows_of(rank, kernel_size, stride, padding, data_format)
    if not return_mask:
        return pooled("max", x, windows, ceil_mode=ceil_mode)
    if windows.is_channels_last:
        raise ArgumentError(
            f"max_pool{rank}d with return_mask=True: expected channels first, got "
            f"data_format={data_format!r}; transpose the image"
        )
    if ceil_mode or windows.algorithm == "SAME":
        warn(
            f"max_pool{rank}d with return_mask=True leaves out windows that reach beyond the "
            f"elements, as in Paddle 2: ceil_mode=True and padding='SAME' have no effect",
            None,
        )
    if windows.algorithm != "EXPLICIT":
        windows = windows_of(rank, kernel_size, stride, 0, data_format)
    return with_places(x, windows)


@WINDOWS
def avg_pooling(
    rank: int,
    x: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers | str = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The average under a window that moves over an image.

    Args:
        exclusive: padding does not count.
        divisor_override: what averages are divided by, times the number of the window's elements.

    Raises:
        ArgumentError: an option is of another form, or ``divisor_override`` is 0.
    """
    if divisor_override == 0:
        raise ArgumentError(
            f"avg_pool{rank}d: expected divisor_override other than 0, or None, got 0"
        )
    windows = windows_of(rank, kernel_size, stride, padding, data_format)
    counted = {} if exclusive else {"clips": True}
    out = pooled("avg", x, windows, ceil_mode=ceil_mode, exclusive=exclusive, **counted)
    if divisor_override is not None:
        return multiply(out, prod(windows.sizes) / divisor_override)
    return out


def pooled(kind: str, x: Tensor, windows: WindowArguments, **attrs: Any) -> Tensor:
    """What an operator of pooling gives.

    Args:
        kind: max or avg.
        x: [N, C, ...], or with the channels last.
        windows: with sizes and steps; those of sequences are moved along rows.
        attrs: further attributes of the operator; with ``adaptive`` the sizes are those of the
            result, and nothing else of the windows counts.

    Raises:
        ArgumentError: windows that lie within the images are to reach beyond them.
    """
    if windows.algorithm == "VALID" and attrs.get("ceil_mode"):
        raise ArgumentError("expected ceil_mode=False where padding is 'VALID', got True")
    windows.warn_of_layout(x.array.shape)
    axis = windows.places[0] if windows.rank == 1 else None
    if axis is not None:
        x, windows = unsqueeze(x, axis), windows.of_images()
    call = eager.pool3d if windows.rank == 3 else eager.pool2d
    if windows.algorithm != "EXPLICIT" or windows.is_channels_last:
        attrs.update(windows.attributes())
    elif "adaptive" not in attrs:  # each attribute takes its time
        attrs.update(strides=windows.steps, paddings=windows.padding)
    out = call(x, pooling_type=kind, ksize=windows.sizes, **attrs)
    return out if axis is None else squeeze(out, axis)


def with_places(
    x: Tensor, windows: WindowArguments, adaptive: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest elements under windows, and their places, counted by rows.

    Args:
        x: [N, C, ...].
        windows: with sizes, steps and paddings.
        adaptive: the sizes are those of the result.
    """
    windows.warn_of_layout(x.array.shape)
    row = windows.rank == 1
    if row:
        x, windows = unsqueeze(x, 2), windows.of_images()
    call = getattr(eager, f"max_pool{windows.rank}d_with_index")
    moved = {} if adaptive else {"strides": windows.steps, "paddings": windows.padding}
    made = call.all(x, ksize=windows.sizes, adaptive=adaptive, **moved)
    out, places = made["Out"], made["Mask"]
    return (squeeze(out, 2), squeeze(places, 2)) if row else (out, places)


def parts_of(sizes: tuple[int, ...], data_format: str) -> WindowArguments:
    """As many windows as there are to be parts.

    Args:
        sizes: how many along every dimension.
        data_format: of what is cut.
    """
    ones = (1,) * len(sizes)
    return WindowArguments(sizes, ones, ones, ones, data_format)


def _parts(x: Tensor, output_size: Any, rank: int, data_format: str) -> tuple[int, ...]:
    """How many parts there are along each dimension: as many as it has elements, for None."""
    if isinstance(output_size, (list, tuple)) and None in output_size:
        first = 1 if data_format[-1] == "C" else 2
        old = x.array.shape[first : first + rank]
        output_size = [+n if part is None else part for n, part in zip(old, output_size)]
    return each("output_size", output_size, rank)


@WINDOWS
def adaptive_avg_pooling(
    rank: int, x: Tensor, output_size: Numbers, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Averages of a requested number of parts of an image."""
    if data_format not in FORMATS[rank]:
        allowed = " or ".join(FORMATS[rank])
        raise ArgumentError(f"expected data_format {allowed}, got {data_format!r}")
    windows = parts_of(_parts(x, output_size, rank, data_format), data_format)
    return pooled("avg", x, windows, adaptive=True)


@WINDOWS
def adaptive_max_pooling(
    rank: int, x: Tensor, output_size: Numbers, return_mask: bool = False, name: str | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements of a requested number of parts of an image."""
    windows = parts_of(_parts(x, output_size, rank, FORMATS[rank][0]), FORMATS[rank][0])
    if return_mask:
        return with_places(x, windows, adaptive=True)
    return pooled("max", x, windows, adaptive=True)


_SEQUENCE: dict[str, Any] = {"data_format": "NCL"}
_POOLED = """>>> fluid.nn.functional.{name}(fluid.ones([1, 1{4}]), 2).shape
[1, 1{2}]"""
_DIVIDED = """>>> x = fluid.full([1, 1{2}], 0.5)
>>> float(fluid.nn.functional.{name}(x, 2, divisor_override=16)) < 0.5
True"""

max_pool1d: Callable[..., Any] = of_rank(1, max_pooling, "max_pool1d", _POOLED, fixed=_SEQUENCE)
max_pool2d: Callable[..., Any] = of_rank(2, max_pooling, "max_pool2d", _POOLED)
max_pool3d: Callable[..., Any] = of_rank(3, max_pooling, "max_pool3d", _POOLED)
avg_pool1d: Callable[..., Tensor] = of_rank(
    1,
    avg_pooling,
    "avg_pool1d",
    _POOLED,
    fixed={**_SEQUENCE, "divisor_override": None},
    order="x, kernel_size, stride, padding, exclusive, ceil_mode, name",
)
avg_pool2d: Final = of_rank(2, avg_pooling, "avg_pool2d", _DIVIDED)
avg_pool3d: Callable[..., Tensor] = of_rank(3, avg_pooling, "avg_pool3d", _DIVIDED)
adaptive_avg_pool1d: Callable[..., Tensor] = of_rank(
    1, adaptive_avg_pooling, "adaptive_avg_pool1d", _POOLED, fixed=_SEQUENCE
)
adaptive_avg_pool2d: Final = of_rank(2, adaptive_avg_pooling, "adaptive_avg_pool2d", _POOLED)
adaptive_avg_pool3d: Callable[..., Tensor] = of_rank(
    3, adaptive_avg_pooling, "adaptive_avg_pool3d", _POOLED
)
adaptive_max_pool1d: Final = of_rank(1, adaptive_max_pooling, "adaptive_max_pool1d", _POOLED)
adaptive_max_pool2d: Final = of_rank(2, adaptive_max_pooling, "adaptive_max_pool2d", _POOLED)
adaptive_max_pool3d: Final = of_rank(3, adaptive_max_pooling, "adaptive_max_pool3d", _POOLED)
