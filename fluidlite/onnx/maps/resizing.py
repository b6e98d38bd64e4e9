"""Images in another size in ONNX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...backend import numpy_
from ...opdef.definition import lookup
from ...opdef.spec import spec
from ..graph import OnnxGraph
from ..namespace import has_traced, namespace
from ..rearranging import numbers, sizes_of
from ..tracing import TracedArray
from ..writing import maps
from .rows import counted


@maps("bilinear_interp", "trilinear_interp", "nearest_interp", "bicubic_interp")
def resize(graph: OnnxGraph, op: Any, X: Any, OutSize: Any, SizeTensor: Any, Scale: Any) -> Any:
    if X.dtype == np.uint8:
        return NotImplemented
    if -1 in (X.sizes[axis] for axis in op.axes) or has_traced([OutSize, SizeTensor, Scale]):
        return resized(graph, op, X, new_sizes(graph, op, X, OutSize, SizeTensor, Scale))
    out = X
    for axis, attrs in op.weights(
        X.sizes, op.sizes(X.spec, OutSize, SizeTensor, Scale), X.spec.dtype
    ):
        weights = lookup("resize_weights")(attrs).run(numpy_.xp).T
        order = [*(i for i in range(X.ndim) if i != axis), axis]
        out = graph.MatMul(graph.Transpose(out, perm=order), weights)
        out = graph.Transpose(out, perm=[order.index(i) for i in range(X.ndim)])
    return out


def single(graph: OnnxGraph, value: Any) -> Any:
    """One whole number, as a value without dimensions."""
    found = graph.Reshape(graph.like(value, np.int64), np.zeros(0, np.int64))
    found.spec = spec([], np.int64)
    return found


def new_sizes(
    graph: OnnxGraph, op: Any, X: Any, OutSize: Any, SizeTensor: Any, Scale: Any
) -> Iterator[Any]:
    """The size along each dimension, from the first of the places that gives it."""
    for k, axis in enumerate(op.axes):
        if SizeTensor:
            yield single(graph, SizeTensor[k])
        elif OutSize is not None:
            yield single(graph, graph.Gather(OutSize, numbers([k]), axis=0))
        elif Scale is not None or op.scale > 0:
            factor = graph.like(op.scale if Scale is None else Scale, np.float64)
            old = graph.like(sizes_of(graph, X, axis, axis + 1), np.float64)
            yield single(graph, graph.Mul(old, factor))
        else:
            yield single(graph, numbers([op.asked[k]]))


def resized(graph: OnnxGraph, op: Any, X: Any, sizes: Iterator[Any]) -> TracedArray:
    """Images as sums of neighbours by their weights, dimension by dimension."""
    out = X
    for axis, size in zip(op.axes, sizes):
        old = single(graph, sizes_of(graph, X, axis, axis + 1))
        sampling = UnknownSizes(op, old, size)
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
    """

    def __init__(self, op: Any, old: Any, new: Any) -> None:
        self.align_corners: bool = op.align_corners
        self.align_mode: int = op.align_mode
        self.old: Any = old
        self.new: Any = new

    def __getattr__(self, name: str) -> Any:
        return getattr(lookup("resize_weights"), name).__get__(self)

    def step(self, xp: Any) -> Any:
        """How far apart new elements are among the old ones."""
        steps = self.new - 1 if self.align_corners else self.new
        span = (self.old - 1 if self.align_corners else self.old).astype("float32")
        gap = span / np.maximum(steps, 1).astype("float32")
        return np.where(np.equal(self.new, 1), np.zeros((), "float32"), gap)

    def exact_step(self) -> Any:
        """The same in double precision."""
        return self.step(np).astype("float64")
