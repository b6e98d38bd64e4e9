"""Convolutions and pooling of sparse images and volumes: which element goes where is found first,
from the places alone; what then is done with values are ordinary products, sums and maxima.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....errors import ArgumentError, ShapeError
from ....functions.shaping import concat
from ....ground.tracebacks import api_boundaries
from ....nn.functional.windows import each
from ..shaping import coalesce
from ..tensor import CooTensor, need_sparse, numbers_of, sum_at, taken

__all__ = ["Moves", "convolved", "moves_of"]


@dataclass(frozen=True)
class Moves:
    """Which elements of an input go where in windows.

    Args:
        sources: for each place in a window, the numbers of elements of the input.
        targets: for each place in a window, the numbers of elements of the result they go to.
        places: the coordinates of the result, [dimensions, stored].
        sizes: of the dimensions of the result that have coordinates.
    """

    sources: list[Any]
    targets: list[Any]
    places: Any
    sizes: list[int]


def _around(padding: Any, sizes: Sequence[int], spans: Sequence[int], strides: Any) -> Any:
    """How many zeros are before and behind each dimension."""
    rank = len(sizes)
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise ArgumentError(f"expected padding SAME or VALID, or numbers, got {padding!r}")
        if padding.upper() == "VALID":
            return [(0, 0)] * rank
        totals = [
            max(0, (-(-n // s) - 1) * s + span - n)
            for n, s, span in zip(sizes, strides, spans, strict=True)
        ]
        return [(total // 2, total - total // 2) for total in totals]
    if (
        not isinstance(padding, int) and len(padding) == rank + 2
    ):  # pairs, of batch and channels too
        padding = padding[1:-1]
    if not isinstance(padding, int) and any(not isinstance(size, int) for size in padding):
        return [tuple(pair) for pair in padding]
    if not isinstance(padding, int) and len(padding) == 2 * rank:
        return [*zip(padding[::2], padding[1::2], strict=True)]
    return [(size, size) for size in each("padding", padding, rank)]


def moves_of(
    x: CooTensor,
    kernel: Sequence[int],
    stride: Any,
    padding: Any,
    dilation: Any,
    *,
    same_places: bool = False,
    ceil_mode: bool = False,
) -> Moves:
    """Which elements of an input go where in windows that are moved over it.

    Args:
        x: [N, *sizes, C], with coordinates of all but the last dimension, each place once.
        kernel: the sizes of the window.
        stride, padding, dilation: a number, or one for each dimension.
        same_places: the result has the places of the input, and windows lie around them.
        ceil_mode: windows may begin that end behind the input.
    """
    batch, *sizes = x.sparse_shape()
    rank = len(sizes)
    strides, steps = each("stride", stride, rank), each("dilation", dilation, rank)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, steps, strict=True)]
    if same_places:
        strides = (1,) * rank
        around = [((span - 1) // 2, span // 2) for span in spans]
        outer = sizes
    else:
        around = _around(padding, sizes, spans, strides)
        rest = [n + sum(a) - span for n, a, span in zip(sizes, around, spans, strict=True)]
        if min(rest) < 0:
            raise ShapeError(f"a window of {spans} does not fit into {sizes} with {padding} around")
        more = [(s - 1) * ceil_mode for s in strides]
        outer = [(r + m) // s + 1 for r, m, s in zip(rest, more, strides, strict=True)]
    places, whole = x.coordinates(), [batch, *outer]
    shift = np.array([before for before, _ in around]).reshape(-1, 1)
    by = np.array(strides).reshape(-1, 1)
    bounds = np.array(outer).reshape(-1, 1)
    sources, numbers = [], []
    for place in itertools.product(*map(range, kernel)):
        moved = places[1:] + shift - np.multiply(place, steps).reshape(-1, 1)
        inside = (moved % by == 0) & (moved >= 0) & (moved // by < bounds)
        kept = np.flatnonzero(inside.all(axis=0))
        sources.append(kept)
        numbers.append(numbers_of(np.vstack([places[:1, kept], moved[:, kept] // by]), whole))
    if same_places:
        return _at_known(places, whole, sources, numbers)
    found, inverse = np.unique(np.concatenate(numbers), return_inverse=True)
    ends = np.cumsum([len(part) for part in numbers])[:-1]
    targets = np.split(inverse.reshape(-1), ends)
    reached = np.stack(np.unravel_index(found, whole)).astype(places.dtype)
    return Moves(sources, targets, reached, whole)


def _at_known(places: Any, sizes: list[int], sources: list[Any], numbers: list[Any]) -> Moves:
    """Of moves those that end at places that are there."""
    known = numbers_of(places, sizes)
    order = np.argsort(known)
    kept_sources, targets = [], []
    for source, number in zip(sources, numbers, strict=True):
        at = np.searchsorted(known, number, sorter=order)
        target = order[np.minimum(at, len(order) - 1)] if len(order) else at
        hit = known[target] == number if len(order) else np.zeros(0, bool)
        kept_sources.append(source[hit])
        targets.append(target[hit])
    return Moves(kept_sources, targets, places, sizes)


def convolved(
    x: CooTensor,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
    *,
    rank: int,
    same_places: bool,
) -> CooTensor:
    """A sparse convolution.

    Args:
        x: [N, *sizes, C].
        weight: [*kernel, C, filters].
        bias: [filters], or None.
        stride, padding, dilation: a number, or one for each dimension.
        groups: 1.
        data_format: with the channels last.
        rank: of the images.
        same_places: the result has the places of the input.

    Raises:
        ArgumentError: ``x`` is no sparse tensor, or ``groups`` or ``data_format`` is another one.
        ShapeError: shapes do not fit each other.
    """
    name = f"{'subm_' * same_places}conv{rank}d"
    x = images(name, x, rank, data_format)
    if groups != 1:
        raise ArgumentError(f"{name}: expected groups of 1, got {groups}")
    *kernel, channels, filters = weight.shape
    if len(kernel) != rank or channels != x.shape[-1]:
        raise ShapeError(
            f"{name}: expected a weight of {rank} sizes, {x.shape[-1]} channels and filters, got "
            f"shape {[*weight.shape]}"
        )
    moves = moves_of(x, kernel, stride, padding, dilation, same_places=same_places)
    at = list(itertools.product(*map(range, kernel)))
    terms = [
        taken(x.values(), source) @ weight[place]
        for place, source in zip(at, moves.sources, strict=True)
        if len(source)
    ]
    targets = np.concatenate(moves.targets)
    count = moves.places.shape[1]
    if not terms:
        terms = [x.values()[:0] @ weight[at[0]]]
    values = sum_at(concat(terms), targets, count)
    if bias is not None:
        values = values + bias
    return CooTensor(moves.places, values, [*moves.sizes, filters])


def images(name: str, x: Any, rank: int, data_format: str) -> CooTensor:
    """A sparse tensor of images, each place once.

    Raises:
        ArgumentError: it is none, or in another format.
    """
    need_sparse(name, x=x)
    form = {2: "NHWC", 3: "NDHWC"}[rank]
    if data_format != form:
        raise ArgumentError(f"{name}: expected data_format {form}, got {data_format!r:.60}")
    if x.ndim != rank + 2 or not isinstance(x, CooTensor) or len(x.sparse_shape()) != rank + 1:
        raise ArgumentError(
            f"{name}: expected a COO tensor {form} with coordinates of all but the channels, got "
            f"one of the {x.kind} form of shape {x.shape} with {len(x.sparse_shape())} of them"
        )
    if len(np.unique(numbers_of(x.coordinates(), x.sparse_shape()))) < x.nnz():
        return coalesce(x)
    return x


api_boundaries(globals())
