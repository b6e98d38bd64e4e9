"""Pooling of one to three dimensions, in OneFlow's spelling."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ....eager.engine import located
from ....eager.flat import kinked
from ....eager.recording import eager
from ....errors import ArgumentError
from ....functions.arguments import Integers
from ....functions.arithmetic import add, multiply
from ....functions.items import get_item
from ....functions.reduction import argmax
from ....functions.shaping import flatten, reshape, squeeze
from ....nn.functional.pooling import parts_of, pooled, with_places
from ....nn.functional.windows import of_rank
from ....opdef.windows import FORMATS, WindowArguments
from .windows import batched, each

if TYPE_CHECKING:
    from ...spelling import Function
    from ...tensor import Tensor


@dataclass(frozen=True)
class _Windows(WindowArguments):
    """The windows that move over an image."""

    counts: tuple[int, ...] = ()  #: how many there are along each dimension

    def starts(self, d: int) -> Any:
        """Where they begin along a dimension."""
        return np.arange(self.counts[d]) * self.steps[d] - self.padding[d]


def _windows(
    shape: tuple[int, ...],
    kernel: Integers,
    stride: Integers | None,
    padding: Integers,
    dilation: Integers,
    ceil_mode: bool,
) -> _Windows:
    dims = len(shape)
    size = each("kernel_size", kernel, dims)
    step = size if stride is None else each("stride", stride, dims)
    pad, spread = each("padding", padding, dims), each("dilation", dilation, dims)
    if any(2 * p > k for p, k in zip(pad, size)):
        raise located(
            ArgumentError, f"expected padding of at most half the window {size}, got {pad}"
        )
    counts = []
    for n, k, s, p, d in zip(shape, size, step, pad, spread):
        room = n + 2 * p - d * (k - 1) - 1
        count = -(-room // s) + 1 if ceil_mode else room // s + 1
        if ceil_mode and (count - 1) * s >= n + p:  # would begin in the padding at the end
            count -= 1
        if room < 0 or count < 1:
            raise located(
                ArgumentError, f"the window {size} does not fit an image of sizes {list(shape)}"
            )
        counts.append(count)
    return _Windows(size, step, pad, spread, FORMATS[dims][0], counts=tuple(counts))


def _flat(kind: str, x: Tensor, w: _Windows, **attrs: Any) -> Tensor:
    """The pool of an operator, padded at the end as far as the last window reaches."""
    pads: list[int] = []
    for d, n in enumerate(x.array.shape[2:]):
        last = (w.counts[d] - 1) * w.steps[d] + w.sizes[d]
        pads += [w.padding[d], max(last - n - w.padding[d], 0)]
    windows = WindowArguments(w.sizes, w.steps, tuple(pads), w.dilation, w.data_format)
    return pooled(kind, x, windows, **attrs)


def _pool(
    rank: int,
    input: Tensor,
    kernel_size: Integers,
    stride: Integers | None = None,
    padding: Integers = 0,
    dilation: Integers = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    largest: bool = True,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element under a window that moves over an image.

    Args:
        rank: how many dimensions windows have.
        input: [N, C, H, W], or [C, H, W].
        kernel_size: of the window: a number, or two.
        stride: its steps; its size when None.
        padding: around the image; at most half the window.
        dilation: steps of its elements.
        return_indices: also give the places of these elements, counted by rows.
        ceil_mode: also a window that reaches beyond the end.
        count_include_pad: whether the zeros around the image count.
        divisor_override: what sums are divided by, in place of the number of elements.
        largest: the largest element; else the mean.
    """
    if divisor_override is not None and not divisor_override:
        raise located(ArgumentError, "expected a divisor_override other than 0, or None")
    x, alone = batched(input, rank)
    w = _windows(x.array.shape[2:], kernel_size, stride, padding, dilation, ceil_mode)
    if largest and (return_indices or set(w.dilation) != {1}):
        return _chosen(_max_and_places(kinked(x), w), alone, return_indices)
    out = _flat("max", x, w) if largest else _mean(x, w, count_include_pad, divisor_override)
    return squeeze(out, 0) if alone else out


def _mean(x: Tensor, w: _Windows, counts_padding: bool, divisor_override: int | None) -> Tensor:
    """The mean of each window."""
    shape = x.array.shape[2:]
    out = _flat("avg", kinked(x), w, exclusive=True)
    inside = divisor = np.ones((), "int64")
    for d, n in enumerate(shape):
        first = w.starts(d)
        last = np.minimum(first + w.sizes[d], n + w.padding[d])
        along = [-1 if i == d else 1 for i in range(len(shape))]
        inside = inside * (np.minimum(last, n) - np.maximum(first, 0)).reshape(along)
        divisor = divisor * (last - first).reshape(along)
    if divisor_override is not None:
        divisor = np.asarray(divisor_override)
    elif not counts_padding:
        divisor = inside
    share = inside / divisor
    if (share != 1).any():
        out = multiply(out, out.results(share.astype(x.array.dtype)))
    return out


def _chosen(
    pair: tuple[Tensor, Tensor], alone: bool, return_indices: bool
) -> Tensor | tuple[Tensor, Tensor]:
    """Elements, and their places if they are requested."""
    out, places = (squeeze(each, 0) for each in pair) if alone else pair
    return (out, places) if return_indices else out


def _max_and_places(x: Tensor, w: _Windows) -> tuple[Tensor, Tensor]:
    """The largest element of each window, and its number in the image, by rows."""
    sizes = tuple(+n for n in x.array.shape[2:])
    numbers, outside = [], []
    for offset in itertools.product(*map(range, w.sizes)):
        along = [w.starts(d) + o * w.dilation[d] for d, o in enumerate(offset)]
        at = np.meshgrid(*along, indexing="ij")
        fits = np.logical_and.reduce([(a >= 0) & (a < n) for a, n in zip(at, sizes)])
        numbers.append(np.ravel_multi_index(at, sizes, mode="clip").reshape(-1))
        outside.append(np.where(fits, 0.0, -np.inf).reshape(-1))
    count, places = len(numbers), np.arange(len(numbers[0]))
    rows = flatten(x, 2)
    values = eager.index_select(rows, np.concatenate(numbers), dim=2)
    values = reshape(values, [0, 0, count, len(places)])
    penalty: Any = x.results(np.stack(outside).astype(x.array.dtype))
    best = argmax(add(values.detach(), penalty), 2)
    table: Any = x.results(np.stack(numbers))
    number = get_item(table, (best, places))
    taken = eager.take_along(rows, number, axis=2)
    shape = [0, 0, *w.counts]
    return reshape(taken, shape), reshape(number, shape)


def _parts(rank: int, x: Tensor, output_size: Any) -> WindowArguments:
    """The requested number of windows; None keeps a size."""
    listed = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * rank
    sizes = [n if given is None else given for given, n in zip(listed, x.array.shape[2:])]
    return parts_of(each("output_size", sizes, rank), FORMATS[rank][0])


def _adaptive_avg_pool(
    rank: int, input: Tensor, output_size: int | Sequence[int | None] | None
) -> Tensor:
    """Means of a requested number of parts of an image.

    Args:
        input: [N, C, H, W], or [C, H, W].
        output_size: how many parts there are: a number, or two; None keeps a size.
    """
    x, alone = batched(input, rank)
    out = pooled("avg", kinked(x), _parts(rank, x, output_size), adaptive=True)
    return squeeze(out, 0) if alone else out


def _adaptive_max_pool(
    rank: int,
    input: Tensor,
    output_size: int | Sequence[int | None] | None,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest elements of a requested number of parts of an image.

    Args:
        input: [N, C, H, W], or [C, H, W].
        output_size: how many parts there are: a number, or two; None keeps a size.
        return_indices: also give the places of these elements, counted by rows.
    """
    x, alone = batched(input, rank)
    out, places = with_places(kinked(x), _parts(rank, x, output_size), adaptive=True)
    pair = out, eager.cast(places, in_dtype="int32", out_dtype="int64")
    return _chosen(pair, alone, return_indices)


_PLACES = """>>> out, places = fluid.flow.nn.functional.{name}(
...     fluid.flow.ones(1, 1{2}), 2, return_indices=True
... )
>>> out.shape, int(places.sum())
(oneflow.Size([1, 1{1}]), 0)"""

_POOLED = """>>> fluid.flow.nn.functional.{name}(fluid.flow.ones(1, 1{4}), 2).shape
oneflow.Size([1, 1{2}])"""

_LARGEST: dict[str, Any] = dict(
    example=_PLACES, fixed={"largest": True, "count_include_pad": True, "divisor_override": None}
)
_MEAN: dict[str, Any] = {"largest": False, "dilation": 1, "return_indices": False}
_MEANS: dict[str, Any] = dict(
    example=_POOLED, prose="The mean under a window that moves over an image."
)
max_pool1d: Callable[..., Any] = of_rank(1, _pool, "max_pool1d", **_LARGEST)
max_pool2d: Callable[..., Any] = of_rank(2, _pool, "max_pool2d", **_LARGEST)
max_pool3d: Callable[..., Any] = of_rank(3, _pool, "max_pool3d", **_LARGEST)
avg_pool1d: Function = of_rank(
    1, _pool, "avg_pool1d", fixed={**_MEAN, "divisor_override": None}, **_MEANS
)
avg_pool2d: Function = of_rank(2, _pool, "avg_pool2d", fixed=_MEAN, **_MEANS)
avg_pool3d: Function = of_rank(3, _pool, "avg_pool3d", fixed=_MEAN, **_MEANS)
adaptive_avg_pool1d: Final = of_rank(1, _adaptive_avg_pool, "adaptive_avg_pool1d", _POOLED)
adaptive_avg_pool2d: Final = of_rank(2, _adaptive_avg_pool, "adaptive_avg_pool2d", _POOLED)
adaptive_avg_pool3d: Final = of_rank(3, _adaptive_avg_pool, "adaptive_avg_pool3d", _POOLED)
adaptive_max_pool1d: Final = of_rank(1, _adaptive_max_pool, "adaptive_max_pool1d", _POOLED)
adaptive_max_pool2d: Final = of_rank(2, _adaptive_max_pool, "adaptive_max_pool2d", _POOLED)
adaptive_max_pool3d: Final = of_rank(3, _adaptive_max_pool, "adaptive_max_pool3d", _POOLED)
