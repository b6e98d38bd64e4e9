"""Pooling: what is left of windows that move over images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..building import need_room
from ..forms import operator
from .conv import NodeWindows
from .elementwise import lowest


@dataclass(frozen=True)
class PoolWindows:
    """Where windows lie along one dimension."""

    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    behind: int
    ceil: bool

    @property
    def count(self) -> int:
        """How many there are."""
        span = (self.kernel - 1) * self.dilation + 1
        room = self.size + self.before + self.behind - span
        count = (-(-room // self.stride) if self.ceil else room // self.stride) + 1
        if self.ceil and (count - 1) * self.stride >= self.size + self.before:
            count -= 1
        if not 0 < count <= 1 << 24 or not 0 < self.kernel <= 1 << 24:
            raise UnsupportedError(f"a window of {span} does not fit into {room + span} elements")
        return count

    @property
    def places(self) -> Any:
        """The places that each window reads, counted from the first element: [count, kernel]."""
        need_room(self.count, self.kernel)
        begin = np.arange(self.count) * self.stride - self.before
        return begin[:, None] + np.arange(self.kernel) * self.dilation

    def inside(self, with_pads: bool) -> Any:
        """How many elements each window has."""
        first, last = (-self.before, self.size + self.behind) if with_pads else (0, self.size)
        places = self.places
        return ((places >= first) & (places < last)).sum(1)


@dataclass(frozen=True)
class PoolNode(NodeWindows):
    """How the windows of a pool move."""

    ceil_mode: int = 0

    def windows(self, f: Any, x: Any, kernel: Sequence[int]) -> list[PoolWindows]:
        """The windows along each dimension of an image."""
        rank, sides = len(kernel), self.around(f, x, kernel)
        sizes = f.known_sizes(x, range(2, rank + 2))
        dilations, strides = self.spacing(rank)
        around = zip(sides[:rank], sides[rank:])
        return [
            PoolWindows(size, k, stride, dilation, *pads, bool(self.ceil_mode))
            for size, k, stride, dilation, pads in zip(sizes, kernel, strides, dilations, around)
        ]

    def is_plain(self, f: Any, x: Any, kernel: Any, sides: Sequence[int]) -> bool:
        """Whether fluid's operator does the same."""
        rank = len(kernel)
        fits = all(max(sides[i], sides[rank + i]) < kernel[i] for i in range(rank))
        big = all(n == -1 or n >= k for n, k in zip(f.sizes(x)[2:], kernel))
        dense = set(self.spacing(rank)[0]) == {1} and not self.ceil_mode
        return rank <= 3 and dense and fits and big and f.type_of(x).kind == "f"


def taken(f: Any, x: Any, axis: int, windows: PoolWindows, around: float) -> Any:
    """The elements of windows along a dimension: [..., count, kernel, ...].

    Args:
        around: what lies outside.
    """
    places = windows.places
    before = max(-int(places.min()), 0)
    behind = max(int(places.max()) + 1 - windows.size, 0)
    rank = f.ndim(x)
    if before or behind:
        sides = [0] * (2 * rank)
        sides[2 * axis : 2 * axis + 2] = before, behind
        x = f.pad(x, paddings=sides, pad_value=around)
    elements = f.index_select(x, (places + before).reshape(-1).astype("int64"), dim=axis)
    sizes = f.sizes(x)
    shape = [*sizes[:axis], *places.shape, *sizes[axis + 1 :]]
    if shape.count(-1) < 2:
        return f.reshaped(elements, shape)
    return f.reshape2(
        elements, shape=[0 if n == -1 else n for n in shape]
    )  # copied: they are in front


def pooled(f: Any, x: Any, windows: list[PoolWindows], kind: str) -> Any:
    """The largest elements of windows, or their sums, one dimension after the other."""
    dtype = f.type_of(x)
    around = float(lowest(dtype)) if kind == "max" else 0.0
    for axis, each in enumerate(windows, 2):
        x = f.summed(taken(f, x, axis, each, around), [axis + 1], keep=False, kind=kind)
    return x


def _direct(
    f: Any, x: Any, kind: str, kernel: Any, pooling: PoolNode, sides: Sequence[int], **more: Any
) -> Any:
    """By fluid's operator, which knows neither dilations nor windows that reach beyond."""
    rank, (_, strides) = len(kernel), pooling.spacing(len(kernel))
    one = rank == 1
    pairs = [n for i in range(rank) for n in (sides[i], sides[rank + i])] + [0, 0] * one
    attrs = dict(
        pooling_type=kind,
        ksize=[*kernel, *[1] * one],
        strides=[*strides, *[1] * one],
        paddings=pairs,
        **more,
    )
    x = f.added(x, 3) if one else x
    out = (f.pool3d if rank == 3 else f.pool2d)(x, **attrs)
    return f.dropped(out, 3) if one else out


@operator("MaxPool")
def max_pool(
    f: Any,
    x: Any,
    *,
    kernel_shape: Any,
    storage_order: int = 0,
    pooling: PoolNode = PoolNode(),
    wanted: Any,
) -> Any:
    if len(wanted) > 1 and wanted[1]:
        windows = pooling.windows(f, x, kernel_shape)
        return pooled(f, x, windows, "max"), _largest_at(f, x, windows, bool(storage_order))
    sides = pooling.around(f, x, kernel_shape)
    if pooling.is_plain(f, x, kernel_shape, sides):
        return _direct(f, x, "max", kernel_shape, pooling, sides)
    kind = f.type_of(x)
    wide = x if kind.kind == "f" else f.to(x, "float32")
    return f.to(pooled(f, wide, pooling.windows(f, x, kernel_shape), "max"), kind)


def _largest_at(f: Any, x: Any, windows: list[PoolWindows], columns_first: bool) -> Any:
    """The places of the largest elements, counted through the whole tensor."""
    rank = len(windows)
    for axis, window in enumerate(windows):
        x = taken(f, x, 2 + 2 * axis, window, float("-inf"))
    n, c = f.known_sizes(x, [0, 1])
    counts, kernel = [w.count for w in windows], [w.kernel for w in windows]
    need_room(n, c)
    need_room(*counts, *kernel)
    order = [0, 1, *(2 + 2 * i for i in range(rank)), *(3 + 2 * i for i in range(rank))]
    flat = f.reshaped(f.transposed(x, order), [n, c, *counts, math.prod(kernel)])
    best = f.one_hot_v2(f.arg_max(flat, axis=-1), depth=math.prod(kernel))
    sizes = [w.size for w in windows]
    place: Any = np.zeros((), np.int64)
    for axis, window in enumerate(windows):
        factors = sizes[:axis] if columns_first else sizes[axis + 1 :]
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = window.count, window.kernel
        place = place + window.places.reshape(shape) * math.prod(factors)
    table = np.broadcast_to(place, [*counts, *kernel]).reshape(*counts, -1)
    within = f.summed(
        f.elementwise_mul(f.to(best, "float64"), table.astype("float64")), [-1], False
    )
    plane = np.arange(n * c).reshape(n, c, *[1] * rank) * math.prod(sizes)
    return f.elementwise_add(f.to(within, "int64"), plane)


@operator("AveragePool")
def average_pool(
    f: Any, x: Any, *, kernel_shape: Any, count_include_pad: int = 0, pooling: PoolNode = PoolNode()
) -> Any:
    rank, sides = len(kernel_shape), pooling.around(f, x, kernel_shape)
    if pooling.is_plain(f, x, kernel_shape, sides):
        exclusive = not count_include_pad
        return _direct(f, x, "avg", kernel_shape, pooling, sides, exclusive=exclusive)
    windows = pooling.windows(f, x, kernel_shape)
    total = pooled(f, x, windows, "sum")
    need_room(*(each.count for each in windows))
    count = np.ones((), f.type_of(x))
    for axis, each in enumerate(windows):
        inside = each.inside(bool(count_include_pad)).reshape(
            [-1 if i == axis else 1 for i in range(rank)]
        )
        count = count * inside
    return f.elementwise_div(total, count.astype(f.type_of(x)))


@operator("LpPool")
def lp_pool(
    f: Any, x: Any, *, kernel_shape: Any, p: int = 2, pooling: PoolNode = PoolNode()
) -> Any:
    windows = pooling.windows(f, x, kernel_shape)
    return _root(f, pooled(f, _powers(f, x, p), windows, "sum"), p)


def _powers(f: Any, x: Any, p: int) -> Any:
    return f.abs(x) if p == 1 else f.pow(f.abs(x), factor=float(p))


def _root(f: Any, x: Any, p: int) -> Any:
    return x if p == 1 else f.pow(x, factor=1.0 / p)


@operator("GlobalAveragePool")
def global_average_pool(f: Any, x: Any) -> Any:
    return f.summed(x, range(2, f.ndim(x)), kind="mean")


@operator("GlobalMaxPool")
def global_max_pool(f: Any, x: Any) -> Any:
    return f.summed(x, range(2, f.ndim(x)), kind="max")


@operator("GlobalLpPool")
def global_lp_pool(f: Any, x: Any, *, p: int = 2) -> Any:
    return _root(f, f.summed(_powers(f, x, p), range(2, f.ndim(x))), p)


@operator("MaxUnpool")
def max_unpool(
    f: Any,
    x: Any,
    indices: Any,
    output_shape: Any = None,
    *,
    kernel_shape: Any,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    """Elements at the places where they were the largest, zeros elsewhere."""
    rank = len(kernel_shape)
    strides = strides or [1] * rank
    sides = list(pads or [0] * (2 * rank))
    sizes = f.known_sizes(x)
    shape = [
        (n - 1) * s + k - sides[i] - sides[rank + i]
        for i, (n, s, k) in enumerate(zip(sizes[2:], strides, kernel_shape))
    ]
    places = f.reshaped(indices, [-1])
    whole = [*sizes[:2], *shape]
    if output_shape is not None:  # places are counted as in the smaller tensor
        larger = f.numbers(output_shape, "the shape of MaxUnpool")
        out = f.gather_adjoint(places, f.reshaped(x, [-1]), size=math.prod(whole))
        out = f.reshaped(out, whole)
        sides = [n for m, k in zip(whole, larger) for n in (0, k - m)]
        return f.pad(out, paddings=sides)
    return f.reshaped(f.gather_adjoint(places, f.reshaped(x, [-1]), size=math.prod(whole)), whole)


@operator("LRN")
def lrn(
    f: Any, x: Any, *, size: int, alpha: float = 0.0001, beta: float = 0.75, bias: float = 1.0
) -> Any:
    channels = f.known_sizes(x, [1])[0]
    windows = PoolWindows(channels, size, 1, 1, (size - 1) // 2, size - 1 - (size - 1) // 2, False)
    total = f.summed(taken(f, f.square(x), 1, windows, 0.0), [2], keep=False)
    below = f.pow(f.scale(total, scale=alpha / size, bias=bias), factor=beta)
    return f.elementwise_div(x, below)
