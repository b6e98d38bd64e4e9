"""Windows that move over images and through volumes: what their convolutions and poolings share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arithmetic import add, multiply
from ...functions.shaping import numbers_in, reshape
from ...opdef.windows import FORMATS, WindowArguments


def windows_of(
    rank: int, sizes: Any, stride: Any, padding: Any, data_format: str, dilation: Any = 1
) -> WindowArguments:
    """Windows, from what users of paddle 2 write.

    Args:
        rank: how many dimensions they have: 2 or 3.
        sizes: a number, or one for every dimension.
        stride: the same; the sizes when None.
        padding: a number, one or two for every dimension, pairs, or SAME or VALID.
        data_format: of what they move over.
        dilation: a number, or one for every dimension.

    Raises:
        ArgumentError: one of them is of another form.
    """
    if data_format not in FORMATS[rank]:
        expected = " or ".join(FORMATS[rank])
        raise ArgumentError(f"expected data_format {expected}, got {data_format!r}")
    numbers = each("kernel_size", sizes, rank)
    steps = numbers if stride is None else each("stride", stride, rank)
    around, algorithm = _padding(rank, padding, data_format)
    spread = each("dilation", dilation, rank)
    return WindowArguments(numbers, steps, around, spread, data_format, algorithm)


def _padding(rank: int, given: Any, data_format: str) -> tuple[tuple[int, ...], str]:
    """Paddings, one or two for every dimension, and the algorithm."""
    if isinstance(given, str):
        return (0,) * rank, given.upper()
    if isinstance(given, (list, tuple)) and given and isinstance(given[0], (list, tuple)):
        first = 1 if data_format[-1] == "C" else 2
        pairs = given[first : first + rank] if len(given) == rank + 2 else given
        given = [n for pair in pairs for n in pair]
    numbers = numbers_in("padding", given)
    if len(numbers) not in (1, rank, 2 * rank):
        raise ArgumentError(f"expected padding to be a number, {rank} or {2 * rank}, got {given!r}")
    return numbers * rank if len(numbers) == 1 else numbers, "EXPLICIT"


def _counts(windows: WindowArguments, x: Tensor, out: Tensor) -> Any:
    """How many elements of ``x`` lie under each window, in a form that spreads over ``out``."""
    found: Any = np.ones((), "int64")
    for i, place in enumerate(windows.places):
        size, step = windows.sizes[i], windows.steps[i]
        length, count = x.array.shape[place], out.array.shape[place]
        before = windows.sides[i][0]
        if windows.algorithm == "SAME":
            before = max((count - 1) * step + size - length, 0) // 2
        first = np.arange(count) * step - before
        inside = np.minimum(first + size, length) - np.maximum(first, 0)
        along = [1] * (windows.rank + 2)
        along[place] = -1
        found = found * inside.reshape(along)
    return found


def each(what: str, given: Any, rank: int) -> tuple[int, ...]:
    """A number for every dimension.

    Raises:
        ArgumentError: there are others.
    """
    numbers = numbers_in(what, given)
    if len(numbers) not in (1, rank):
        raise ArgumentError(f"expected {what} to be a number, or {rank}, got {given!r}")
    return numbers * rank if len(numbers) == 1 else numbers


def _with_bias(out: Tensor, bias: Tensor | None, windows: WindowArguments) -> Tensor:
    if bias is None:
        return out
    return add(out, bias if windows.is_channels_last else reshape(bias, [-1, *[1] * windows.rank]))


def convolution(
    rank: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
) -> Tensor:
    """The convolution of images or volumes; arguments as of ``conv2d`` and ``conv3d``."""
    windows = windows_of(rank, weight.array.shape[2:], stride, padding, data_format, dilation)
    out = getattr(eager, f"conv{rank}d")(
        x, weight, dilations=windows.dilation, groups=groups, **windows.attributes()
    )
    return _with_bias(out, bias, windows)


def transposed_convolution(
    rank: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
    output_size: Any,
    data_format: str,
) -> Tensor:
    """The adjoint of a convolution; arguments as of ``conv2d_transpose``."""
    windows = windows_of(rank, weight.array.shape[2:], stride, padding, data_format, dilation)
    extra = each("output_padding", output_padding, rank)
    attrs: dict[str, Any] = {}
    if output_size is not None:
        attrs["output_size"] = each("output_size", output_size, rank)
    elif any(extra):
        attrs["output_size"] = windows.spread(x.array.shape, extra)
    out = getattr(eager, f"conv{rank}d_transpose")(
        x, weight, dilations=windows.dilation, groups=groups, **windows.attributes(), **attrs
    )
    return _with_bias(out, bias, windows)


def pooling(
    rank: int,
    kind: str,
    x: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    data_format: str,
    divisor_override: int | None = None,
    **attrs: Any,
) -> Tensor:
    """The largest elements, or averages, under windows; arguments as of ``avg_pool2d``."""
    if divisor_override == 0:
        raise ArgumentError(
            f"avg_pool{rank}d: expected divisor_override other than 0, or None, got 0"
        )
    windows = windows_of(rank, kernel_size, stride, padding, data_format)
    if divisor_override is not None:
        attrs["exclusive"] = True
    out: Tensor = getattr(eager, f"pool{rank}d")(
        x, pooling_type=kind, ksize=windows.sizes, **windows.attributes(), **attrs
    )
    if divisor_override is None:
        return out
    factors = _counts(windows, x, out) / divisor_override
    return multiply(out, x.results(factors.astype(x.array.dtype)))


def adaptive_pooling(rank: int, kind: str, x: Tensor, output_size: Any, data_format: str) -> Tensor:
    """The same of as many parts as are asked for, as of ``adaptive_avg_pool2d``."""
    out: Tensor = getattr(eager, f"pool{rank}d")(
        x,
        pooling_type=kind,
        ksize=each("output_size", output_size, rank),
        adaptive=True,
        data_format=data_format,
    )
    return out
