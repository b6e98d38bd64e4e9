"""Windows that move over images and through volumes: what their convolutions and poolings share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...imperative.arithmetic import add, multiply
from ...imperative.recording import eager
from ...imperative.shaping import numbers_in, reshape
from ...imperative.tensor import Tensor

#: by the number of dimensions that a window has: the formats, that with the channels last behind
_FORMATS = {2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


class WindowArguments:
    """The sizes and steps of windows, from what users write.

    Args:
        rank: how many dimensions they have: 2 or 3.
        sizes: a number, or one for every dimension.
        stride: the same; the sizes when None.
        padding: a number, one or two for every dimension, pairs, or SAME or VALID.
        dilation: a number, or one for every dimension.
        data_format: of what they move over.

    Raises:
        ArgumentError: one of them is of another form.
    """

    def __init__(
        self,
        rank: int,
        sizes: Any,
        stride: Any,
        padding: Any,
        data_format: str,
        dilation: Any = 1,
    ) -> None:
        if data_format not in _FORMATS[rank]:
            expected = " or ".join(_FORMATS[rank])
            raise ArgumentError(f"expected data_format {expected}, got {data_format!r}")
        self.rank, self.data_format = rank, data_format
        first = 1 if data_format[-1] == "C" else 2
        self.places = range(first, first + rank)  #: the dimensions that they move along
        self.sizes = each("kernel_size", sizes, rank)
        self.steps = self.sizes if stride is None else each("stride", stride, rank)
        self.dilation = each("dilation", dilation, rank)
        self.padding, self.algorithm = self._padding(padding)

    def _padding(self, given: Any) -> tuple[tuple[int, ...], str]:
        """Paddings, one or two for every dimension, and the algorithm."""
        if isinstance(given, str):
            return (0,) * self.rank, given.upper()
        if isinstance(given, (list, tuple)) and given and isinstance(given[0], (list, tuple)):
            whole = len(given) == self.rank + 2
            pairs = [given[place] for place in self.places] if whole else given
            given = [n for pair in pairs for n in pair]
        numbers = numbers_in("padding", given)
        if len(numbers) not in (1, self.rank, 2 * self.rank):
            raise ArgumentError(
                f"expected padding to be a number, {self.rank} or {2 * self.rank}, got {given!r}"
            )
        return numbers * self.rank if len(numbers) == 1 else numbers, "EXPLICIT"

    @property
    def sides(self) -> list[tuple[int, int]]:
        """The paddings before and after, for every dimension."""
        if len(self.padding) == 2 * self.rank:
            return list(zip(self.padding[::2], self.padding[1::2]))
        return [(n, n) for n in self.padding]

    def attributes(self) -> dict[str, Any]:
        """The attributes of operators that say the same."""
        return {
            "strides": self.steps,
            "paddings": self.padding,
            "padding_algorithm": self.algorithm,
            "data_format": self.data_format,
        }

    def counts(self, x: Tensor, out: Tensor) -> Any:
        """How many elements of ``x`` lie under each window, in a form that spreads over ``out``."""
        found: Any = np.ones((), "int64")
        for i, place in enumerate(self.places):
            length, count = x.array.shape[place], out.array.shape[place]
            before = self.sides[i][0]
            if self.algorithm == "SAME":
                before = max((count - 1) * self.steps[i] + self.sizes[i] - length, 0) // 2
            first = np.arange(count) * self.steps[i] - before
            inside = np.minimum(first + self.sizes[i], length) - np.maximum(first, 0)
            along = [1] * (self.rank + 2)
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
    last = windows.data_format[-1] == "C"
    return add(out, bias if last else reshape(bias, [-1, *[1] * windows.rank]))


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
    windows = WindowArguments(rank, weight.array.shape[2:], stride, padding, data_format, dilation)
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
    windows = WindowArguments(rank, weight.array.shape[2:], stride, padding, data_format, dilation)
    extra = each("output_padding", output_padding, rank)
    attrs: dict[str, Any] = {}
    if output_size is not None:
        attrs["output_size"] = each("output_size", output_size, rank)
    elif any(extra):
        attrs["output_size"] = tuple(
            (x.array.shape[place] - 1) * windows.steps[i]
            + (windows.sizes[i] - 1) * windows.dilation[i]
            + 1
            + extra[i]
            - sum(windows.sides[i])
            for i, place in enumerate(windows.places)
        )
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
    windows = WindowArguments(rank, kernel_size, stride, padding, data_format)
    if divisor_override is not None:
        attrs["exclusive"] = True
    out: Tensor = getattr(eager, f"pool{rank}d")(
        x, pooling_type=kind, ksize=windows.sizes, **windows.attributes(), **attrs
    )
    if divisor_override is None:
        return out
    factors = windows.counts(x, out) / divisor_override
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
