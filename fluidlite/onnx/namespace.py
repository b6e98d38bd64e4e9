"""The array namespace that kernels get when they are written out: NumPy's, with forms for what it
does not pass on to arrays of other kinds.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..backend import numpy_
from ..errors import UnsupportedError
from ..kernels import linear_algebra
from .graph import OnnxGraph
from .rearranging import known_key, places_of
from .tracing import REDUCED_AT, TracedArray


def has_traced(value: Any) -> bool:
    """Whether a value, or one in a list, is written out and not computed."""
    if isinstance(value, (list, tuple)):
        return any(map(has_traced, value))
    return isinstance(value, TracedArray)


def namespace(graph: OnnxGraph, writable: bool = False) -> SimpleNamespace:
    """The functions that a kernel calls.

    Args:
        graph: takes what is written out.
        writable: whether arrays that kernels make are values of the graph, so that values can be
            written into them.
    """
    xp = SimpleNamespace(**vars(numpy_.xp))
    for name, form in _OWN.items():
        setattr(xp, name, _either(graph, getattr(numpy_.xp, name), form))
    for name in linear_algebra.NAMES:
        setattr(xp, name, _either(graph, getattr(linear_algebra, name), _refused))
    if writable:
        for name in ("zeros", "empty", "full", "ones"):
            setattr(xp, name, _made(graph, getattr(np, name)))
    return xp


def _either(graph: OnnxGraph, plain: Any, form: Callable[..., Any]) -> Any:
    def function(*args: Any, **named: Any) -> Any:
        if has_traced(args) or has_traced(list(named.values())):
            return form(graph, *args, **named)
        return plain(*args, **named)

    return function


def _refused(graph: OnnxGraph, *args: Any, **named: Any) -> Any:
    raise UnsupportedError("runtimes decompose no matrices")


def _made(graph: OnnxGraph, plain: Any) -> Any:
    def function(*args: Any, **named: Any) -> Any:
        array = plain(*args, **named) if plain is not np.empty else np.zeros(*args, **named)
        return graph.constant(array)

    return function


def _asarray(graph: OnnxGraph, x: Any, dtype: Any = None, **named: Any) -> Any:
    if isinstance(x, (list, tuple)):
        x = np.stack([each if isinstance(each, TracedArray) else np.asarray(each) for each in x])
    return x if dtype is None else x.astype(dtype)


def _in_range(graph: OnnxGraph, index: Any, size: int, what: str) -> Any:
    graph.checks.append(f"{what} in [0, {size}) is not checked")
    return index


def _erf(graph: OnnxGraph, x: Any) -> Any:
    out = graph.innermost.Erf(x)
    out.spec = x.spec
    return out


def _erfc(graph: OnnxGraph, x: Any) -> Any:
    return 1 - _erf(graph, x)


def _zeros_like(graph: OnnxGraph, x: Any, *args: Any, **named: Any) -> Any:
    return np.zeros_like(x, *args, **named)


def _total(
    graph: OnnxGraph, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False
) -> Any:
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


def _matmul(graph: OnnxGraph, x: Any, y: Any) -> Any:
    return np.matmul(x, y)


def _add_at(graph: OnnxGraph, x: Any, index: Any, values: Any) -> Any:
    before = operator.getitem(x, index)
    x = x if isinstance(x, TracedArray) else graph.constant(x)
    x[index] = before + values
    return x


def _scattered(reduction: str) -> Any:
    def form(graph: OnnxGraph, x: Any, index: Any, updates: Any) -> Any:
        graph = graph.innermost
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(np.asarray(k) if isinstance(k, list) else k for k in index)
        if all(k.constant is not None for k in index if isinstance(k, TracedArray)):
            index = known_key(index)
        elif any(np.dtype(getattr(k, "dtype", int)).kind == "b" for k in index):
            raise UnsupportedError("how many elements it takes depends on values")
        if not has_traced(index):
            return _scattered_flat(graph, x, index, updates, reduction)
        places = graph.like(places_of(graph, index), np.int64)
        shape = places.shape[:-1] + tuple(np.shape(x)[len(index) :])
        updates = graph.like(np.broadcast_to(updates, shape), x.dtype)
        out = graph.ScatterND(x, places, updates, reduction=reduction)
        out.spec = x.spec if isinstance(x, TracedArray) else graph.constant(x).spec
        return out

    return form


def _scattered_flat(graph: OnnxGraph, x: Any, index: Any, updates: Any, reduction: str) -> Any:
    """Updates at places that are known, whatever they are said by."""
    x = x if isinstance(x, TracedArray) else graph.constant(x)
    places = np.arange(x.size).reshape(x.shape)[index]
    flat = np.reshape(np.broadcast_to(graph.like(updates, x.dtype), places.shape), (-1,))
    out = graph.ScatterElements(
        np.reshape(x, (-1,)), places.reshape(-1), flat, axis=0, reduction=reduction
    )
    out.spec = x.spec.with_shape([x.size])
    return np.reshape(out, x.shape)


def _windows(graph: OnnxGraph, x: Any, kernel: Any, strides: Any, dilations: Any) -> Any:
    count = math.prod(x.shape[x.ndim - len(kernel) :])
    plane = np.arange(count).reshape(x.shape[x.ndim - len(kernel) :])
    places = numpy_.windows(plane, kernel, strides, dilations)
    lead = x.shape[: x.ndim - len(kernel)]
    return np.take(np.reshape(x, (*lead, count)), np.ascontiguousarray(places), axis=len(lead))


def segments(reduction: str) -> Any:
    """What gives the sums, or the largest, of rows that lie one after the other."""

    def form(graph: OnnxGraph, x: Any, offsets: Any) -> Any:
        lengths = np.diff(np.asarray(offsets))
        number = np.repeat(np.arange(len(lengths)), lengths)
        begin = np.zeros((len(lengths), *x.shape[1:]), x.dtype)
        if reduction == "max":
            begin[lengths > 0] = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        return _scattered(reduction)(graph, begin, number, x)

    return form


def _segment_argmax(graph: OnnxGraph, x: Any, offsets: Any) -> Any:
    none = np.full((1, *x.shape[1:]), -1, np.int64)
    positions = [
        np.argmax(x[begin:end], axis=0, keepdims=True) + begin if end > begin else none
        for begin, end in itertools.pairwise(np.asarray(offsets).tolist())
    ]
    return np.concatenate(positions) if positions else none[:0]


def _rows(reduction: str) -> Any:
    """What puts rows together by their numbers, of which -1 stands for none."""
    lowest = {"max": -1, "min": 1}

    def form(graph: OnnxGraph, index: Any, updates: Any, size: int) -> Any:
        if not has_traced((index,)) and len(index) and index.min() < 0:
            kept = np.flatnonzero(index >= 0)
            updates, index = np.take(updates, kept, axis=0), index[kept]
        elif has_traced((index,)):
            index = np.mod(index, size + 1)  # the last row takes those at -1
        shape, dtype = (size + 1, *updates.shape[1:]), updates.dtype
        if reduction == "add":
            return _scattered("add")(graph, np.zeros(shape, dtype), index, updates)[:size]
        side = lowest[reduction]
        limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
        first = side * np.inf if dtype.kind == "f" else (limits.max if side > 0 else limits.min)
        rows = _scattered(reduction)(graph, np.full(shape, first, dtype), index, updates)
        ones = np.ones((updates.shape[0], *[1] * (len(shape) - 1)), dtype)
        there = _scattered("none")(graph, np.zeros((size + 1, *ones.shape[1:]), dtype), index, ones)
        return np.where(there > 0, rows, np.zeros([], dtype))[:size]

    return form


_OWN: dict[str, Callable[..., Any]] = {
    "ascontiguousarray": _asarray,
    "asarray": _asarray,
    "array": _asarray,
    "in_range": _in_range,
    "erf": _erf,
    "erfc": _erfc,
    "zeros_like": _zeros_like,
    "sum": _total,
    "matmul": _matmul,
    "add_at": _add_at,
    "scatter_add": _scattered("add"),
    "scatter_set": _scattered("none"),
    "windows": _windows,
    "segment_sum": segments("add"),
    "segment_max": segments("max"),
    "segment_argmax": _segment_argmax,
    "add_rows": _rows("add"),
    "max_rows": _rows("max"),
    "min_rows": _rows("min"),
}
REDUCED_AT.update({np.add: segments("add"), np.maximum: segments("max")})
