"""Images in another size in ONNX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...backend import numpy_
from ...opdef.definition import lookup
from ...opdef.spec import size_of, spec
from ..graph import OnnxGraph
from ..namespace import has_traced, namespace
from ..rearranging import numbers, sizes_of
from ..tracing import TracedArray
from ..writing import maps
from .rows import counted

_KINDS = ("linear", "bilinear", "trilinear", "nearest", "bicubic")


@maps(*(f"{kind}_interp{version}" for kind in _KINDS for version in ("", "_v2")))
def resize(graph: OnnxGraph, op: Any, X: Any, OutSize: Any, SizeTensor: Any, Scale: Any) -> Any:
    if X.dtype.kind in "iu":
        return NotImplemented
    op = op.of_rank(X.ndim)
    if -1 in (X.sizes[axis] for axis in op.axes) or has_traced([OutSize, SizeTensor, Scale]):
        factors = () if SizeTensor or OutSize is not None else factors_of(graph, op, Scale)
        sizes = new_sizes(graph, op, X, OutSize, SizeTensor, factors)
        return resized(graph, op, X, sizes, factors)
    out = X
    sizes = op.sizes(X.spec, OutSize, SizeTensor, Scale)
    factors = op.factors_in(OutSize, SizeTensor, Scale)
    for axis, attrs in op.weights(X.sizes, sizes, X.spec.dtype, factors):
        weights = lookup("resize_weights")(attrs).run(numpy_.xp).T
        order = [*(i for i in range(X.ndim) if i != axis), axis]
        out = graph.MatMul(graph.Transpose(out, perm=order), weights)
        out = graph.Transpose(out, perm=[order.index(i) for i in range(X.ndim)])
    return out


def single(graph: OnnxGraph, value: Any, dtype: Any = np.int64) -> Any:
    """One number, as a value without dimensions."""
    found = graph.Reshape(graph.like(value, dtype), np.zeros(0, np.int64))
    found.spec = spec([], dtype)
    return found


def factors_of(graph: OnnxGraph, op: Any, Scale: Any) -> list[Any]:
    """The factor of each size; none where nothing says them."""
    if Scale is None:
        return [np.float32(factor) for factor in op.factors]
    several = size_of(Scale.shape) == op.rank
    places = range(op.rank) if several else [0] * op.rank
    flat = graph.Reshape(Scale, numbers([-1]))
    return [single(graph, graph.Gather(flat, numbers([k]), axis=0), np.float32) for k in places]


def new_sizes(
    graph: OnnxGraph, op: Any, X: Any, OutSize: Any, SizeTensor: Any, factors: Sequence[Any]
) -> Iterator[Any]:
    """The size along each dimension, from the first of the places that gives it."""
    for k, axis in enumerate(op.axes):
        if SizeTensor:
            yield single(graph, SizeTensor[k])
        elif OutSize is not None:
            yield single(graph, graph.Gather(OutSize, numbers([k]), axis=0))
        elif factors:
            old = graph.like(sizes_of(graph, X, axis, axis + 1), np.float32)
            yield single(graph, graph.Mul(old, factors[k]))
        else:
            yield single(graph, numbers([op.asked[k]]))


def resized(
    graph: OnnxGraph, op: Any, X: Any, sizes: Iterator[Any], factors: Sequence[Any]
) -> TracedArray:
    """Images as sums of neighbours by their weights, dimension by dimension."""
    out = X
    used = factors if op.keeps_factors and factors else [None] * op.rank
    for axis, size, factor in zip(op.axes, sizes, used):
        old = single(graph, sizes_of(graph, X, axis, axis + 1))
        sampling = UnknownSizes(op, old, size, factor)
        rows = counted(graph, size)
        rows.spec = spec([-1], np.int64)
        along, terms = [-1 if i == axis else 1 for i in range(X.ndim)], []
        for place, weight in getattr(sampling, op.method)(namespace(graph), rows):
            place = graph.like(np.minimum(np.maximum(place, 0), old - 1), np.int64)
            part = graph.Gather(out, place, axis=axis)
            if isinstance(weight, TracedArray):
                weight = graph.Reshape(graph.like(weight, X.dtype), numbers(along))
                part = graph.Mul(part, weight)
            terms.append(part)
        out = graph.node("Sum", terms) if len(terms) > 1 else terms[0]
    return out


class UnknownSizes:
    """What the formulas of ``resize_weights`` read, of sizes that are values of a graph.

    Args:
        op: the resizing operator.
        old, new: how many elements there are.
        factor: what says how far apart new elements are; None where their numbers do.
    """

    def __init__(self, op: Any, old: Any, new: Any, factor: Any) -> None:
        self.align_corners: bool = op.align_corners
        self.align_mode: int = op.align_mode
        self.old: Any = old
        self.new: Any = new
        self.factor: Any = factor

    def __getattr__(self, name: str) -> Any:
        return getattr(lookup("resize_weights"), name).__get__(self)

    def step(self, xp: Any) -> Any:
        """How far apart new elements are among the old ones."""
        steps = self.new - 1 if self.align_corners else self.new
        span = (self.old - 1 if self.align_corners else self.old).astype("float32")
        gap = span / np.maximum(steps, 1).astype("float32")
        if self.factor is not None and not self.align_corners:
            gap = np.float32(1) / self.factor
        return np.where(np.equal(self.new, 1), np.zeros((), "float32"), gap)

    def exact_step(self) -> Any:
        """The same in double precision."""
        return self.step(np).astype("float64")
