"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..building import need_room
from ..forms import operator
from .shape import padded


def same_pads(
    f: Any, sizes: Sequence[int], spans: Sequence[int], strides: Sequence[int], auto_pad: str
) -> list[int] | None:
    """What "SAME_UPPER" and "SAME_LOWER" put around: before and behind; None where it depends on
    sizes that are not known.
    """
    before, behind = [], []
    for size, span, stride in zip(sizes, spans, strides):
        if size == -1 and stride > 1:
            return None
        rest = 0 if size == -1 else -size % stride
        total = max(span - stride + (rest if size != -1 else 0), 0) if stride > 1 else span - 1
        small, large = total // 2, total - total // 2
        before.append(small if auto_pad == "SAME_UPPER" else large)
        behind.append(large if auto_pad == "SAME_UPPER" else small)
    return before + behind


@dataclass(frozen=True)
class WindowMoves:
    """Attributes of windows that move over images: 1 and no padding where they are absent."""

    dilations: Sequence[int] | None = None
    pads: Sequence[int] | None = None
    strides: Sequence[int] | None = None

    def spacing(self, rank: int) -> tuple[list[int], list[int]]:
        """Dilations and strides, one for each dimension."""
        return list(self.dilations or [1] * rank), list(self.strides or [1] * rank)

    def sides(self, rank: int) -> list[int]:
        """What is put around the dimensions of an image: before them, then behind them."""
        return list(self.pads or [0] * (2 * rank))


@dataclass(frozen=True)
class NodeWindows(WindowMoves):
    """The same, where the padding may follow from sizes."""

    auto_pad: str = "NOTSET"

    def around(self, f: Any, x: Any, kernel: Sequence[int]) -> list[int]:
        """What is put around the dimensions of an image: before them, then behind them."""
        rank = len(kernel)
        if self.auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
            return self.sides(rank)
        dilations, strides = self.spacing(rank)
        spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        found = same_pads(f, f.sizes(x)[2:], spans, strides, self.auto_pad)
        if found is None:
            f.known_sizes(x, range(2, f.ndim(x)))
        return found or []


@dataclass(frozen=True)
class ConvWindows(NodeWindows):
    """The same of convolutions; the sizes of their windows are those of the filters."""

    group: int = 1
    kernel_shape: Sequence[int] | None = None


@dataclass(frozen=True)
class TransposedWindows(ConvWindows):
    """The same of convolutions that are turned round."""

    output_padding: Sequence[int] | None = None
    output_shape: Sequence[int] | None = None

    def cut(self, f: Any, x: Any, spans: Sequence[int], more: Sequence[int]) -> list[int]:
        """What is cut off around the whole result: before its dimensions, then behind them.

        Args:
            spans: how many elements a window reaches over along each dimension.
            more: how many elements the result has beyond the last window.
        """
        rank, shape = len(spans), self.output_shape
        if not shape and not self.auto_pad.startswith("SAME"):
            return self.sides(rank)
        sizes = f.known_sizes(x, range(2, rank + 2)) if shape else [0] * rank
        wanted = shape[-rank:] if shape else [0] * rank
        totals = [
            (n - 1) * s + extra + span - m
            for n, s, extra, span, m in zip(sizes, self.spacing(rank)[1], more, spans, wanted)
        ]
        less = [t // 2 for t in totals]
        rest = [t - n for t, n in zip(totals, less)]
        return less + rest if self.auto_pad == "SAME_UPPER" else rest + less


DENSE_MOVES, DENSE = WindowMoves(), ConvWindows()  #: each element, and nothing around


@operator("Conv")
def conv(f: Any, x: Any, w: Any, b: Any = None, *, windows: ConvWindows = DENSE) -> Any:
    rank = f.ndim(x) - 2
    kernel = f.known_sizes(w, range(2, rank + 2))
    dilations, strides = windows.spacing(rank)
    sides = windows.around(f, x, kernel)
    if rank == 1:
        out = _conv(
            f,
            f.added(x, 3),
            f.added(w, 3),
            [*strides, 1],
            [*dilations, 1],
            windows.group,
            [sides[0], 0, sides[1], 0],
        )
        out = f.dropped(out, 3)
    else:
        out = _conv(f, x, w, strides, dilations, windows.group, sides)
    return out if b is None else f.elementwise_add(out, b, axis=1)


def _conv(
    f: Any, x: Any, w: Any, strides: list[int], dilations: list[int], group: int, sides: list[int]
) -> Any:
    rank = len(strides)
    pairs = [n for i in range(rank) for n in (sides[i], sides[rank + i])]
    attrs = dict(strides=strides, dilations=dilations, groups=group, paddings=pairs)
    return (f.conv2d if rank == 2 else f.conv3d)(x, w, **attrs)


@operator("ConvTranspose")
def conv_transpose(
    f: Any, x: Any, w: Any, b: Any = None, *, windows: TransposedWindows = TransposedWindows()
) -> Any:
    """The whole result of a convolution that is turned round, cut and padded at its edges."""
    rank = f.ndim(x) - 2
    kernel = f.known_sizes(w, range(2, rank + 2))
    dilations, strides = windows.spacing(rank)
    more = list(windows.output_padding or [0] * rank)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    sides = windows.cut(f, x, spans, more)
    wide = f.added(x, 3) if rank == 1 else x
    filter = f.added(w, 3) if rank == 1 else w
    flat = [1] * (rank == 1)
    attrs = dict(strides=strides + flat, dilations=dilations + flat, groups=windows.group)
    call = f.conv3d_transpose if rank == 3 else f.conv2d_transpose
    out = call(wide, filter, **attrs)
    out = f.dropped(out, 3) if rank == 1 else out
    out = _trimmed(f, out, sides[:rank], [b - m for b, m in zip(sides[rank:], more)])
    return out if b is None else f.elementwise_add(out, b, axis=1)


def _trimmed(f: Any, x: Any, before: list[int], behind: list[int]) -> Any:
    """An image with its edges cut off, or widened by zeros where less than none is cut."""
    out = x
    for axis, (a, b) in enumerate(zip(before, behind), 2):
        if a > 0 or b > 0:
            out = f.cut(out, axis, max(a, 0), -b if b > 0 else 2**30)
    grow = [max(-n, 0) for n in before], [max(-n, 0) for n in behind]
    return padded(f, out, [0, 0, *grow[0]], [0, 0, *grow[1]])


def less_zero(f: Any, x: Any, zero: Any, axis: int = 0) -> Any:
    """Quantised values as numbers whose zero is 0, exact ones."""
    wide = f.to(x, "float64")
    if zero is None:
        return wide
    zero = f.to(zero, "float64")
    if f.ndim(zero) == 1 and f.ndim(x) > 1 and f.sizes(zero) != (1,):
        zero = f.reshaped(zero, [-1 if i == axis % f.ndim(x) else 1 for i in range(f.ndim(x))])
    return f.elementwise_sub(wide, zero)


@operator("ConvInteger")
def conv_integer(
    f: Any, x: Any, w: Any, x_zero: Any = None, w_zero: Any = None, *, windows: ConvWindows = DENSE
) -> Any:
    x, w = less_zero(f, x, x_zero), less_zero(f, w, w_zero)
    out = conv(f, x, w, windows=windows)
    return f.to(out, "int32")


@operator("Col2Im")
def col2im(
    f: Any, x: Any, image_shape: Any, block_shape: Any, *, moves: WindowMoves = DENSE_MOVES
) -> Any:
    """Sums of blocks at the places that a convolution reads them from."""
    image = f.numbers(image_shape, "the shape of the image")
    block = f.numbers(block_shape, "the shape of the blocks")
    rank = len(image)
    dilations, strides = moves.spacing(rank)
    sides = moves.sides(rank)
    whole = [n + sides[i] + sides[rank + i] for i, n in enumerate(image)]
    counts = [
        (n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(whole, block, dilations, strides)
    ]
    need_room(*block, *counts)
    rows, columns = np.indices(block).reshape(rank, -1), np.indices(counts).reshape(rank, -1)
    steps, spaces = np.array(strides)[:, None, None], np.array(dilations)[:, None, None]
    places = rows[:, :, None] * spaces + columns[:, None, :] * steps
    flat = np.ravel_multi_index(tuple(places.reshape(rank, -1)), whole)
    n, c = f.known_sizes(x)[0], f.known_sizes(x)[1] // int(np.prod(block))
    updates = f.transposed(f.reshaped(x, [n * c, flat.size]), [1, 0])
    out = f.gather_adjoint(flat.astype("int64"), updates, size=int(np.prod(whole)))
    out = f.reshaped(f.transposed(out, [1, 0]), [n, c, *whole])
    return _trimmed(f, out, sides[:rank], sides[rank:])
