"""The array namespace that kernels get when their source is written: NumPy's, where what NumPy does
not have becomes a function in the file.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..backend import numpy_
from ..errors import UnsupportedError
from ..kernels import linear_algebra
from ..onnx.namespace import has_traced
from ..onnx.tracing import TracedArray, traced
from ..opdef.spec import spec
from . import library
from .statements import SourceGraph

#: functions of the namespace that NumPy does not have, and whose source the file gets
_OWN = ("in_range", "scatter_add", "scatter_set", "segment_sum", "segment_max", "segment_argmax")
_MADE = ("zeros", "empty", "full", "ones")


def namespace(graph: SourceGraph, writable: bool = False) -> SimpleNamespace:
    """The functions that a kernel calls.

    Args:
        graph: takes what is written out.
        writable: whether arrays that kernels make are values of the graph, so that values can be
            written into them.
    """
    xp = SimpleNamespace(**vars(numpy_.xp))
    rows = ("add_rows", "max_rows", "min_rows")
    for name in (*_OWN, *rows, "windows", "erf", "erfc", "complex_of", "real", "imag"):
        setattr(xp, name, _either(graph, getattr(numpy_, name)))
    for name in linear_algebra.NAMES:
        setattr(xp, name, _of_matrices(graph, getattr(linear_algebra, name)))
    for name in ("matmul", "zeros_like", "take_along_axis"):
        setattr(xp, name, getattr(np, name))
    xp.sum = _total
    xp.add_at = _add_at
    for name in ("asarray", "array", "ascontiguousarray"):
        setattr(xp, name, _as_array(graph, getattr(np, name)))
    if writable:
        for name in _MADE:
            setattr(xp, name, _made(graph, name))
    return xp


def _either(graph: SourceGraph, function: Any) -> Any:
    def call(*args: Any, **named: Any) -> Any:
        if has_traced(args) or has_traced(list(named.values())):
            if function.__name__.startswith("segment_"):
                args = (args[0], np.asarray(args[1]))  # how many there are is to be known
            return traced(graph, function, args, named)  # type: ignore[arg-type]
        return function(*args, **named)

    return call


def _of_matrices(graph: SourceGraph, function: Any) -> Any:
    """A function of matrices, with the source of it in the file."""

    def call(*args: Any, **named: Any) -> Any:
        if not has_traced(args):
            return function(*args, **named)
        results = function(*map(_regular, args), **named)
        several = isinstance(results, tuple)
        count = len(results) if several else 1
        made = graph.innermost.helper(function, *args, outputs=count, **named)
        for value, array in zip(made if several else [made], results if several else [results]):
            value.spec = spec(array.shape, array.dtype)
        return made

    return call


def _regular(value: Any) -> Any:
    """An array in place of one that is traced, for which nothing fails."""
    if not isinstance(value, TracedArray):
        return value
    if np.dtype(value.dtype).kind in "iu":
        return np.ones(value.shape, value.dtype)
    return np.zeros(value.shape, value.dtype) + np.eye(*value.shape[-2:], dtype=value.dtype)


def _total(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    if getattr(x, "dtype", None) == np.float16 and dtype in (None, np.float16):
        return np.sum(x, axis=axis, dtype=np.float32, keepdims=keepdims).astype(np.float16)
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


def _add_at(x: Any, index: Any, values: Any) -> Any:
    if not has_traced((x, values)):
        return numpy_.add_at(x, index, values)
    graph = next(v.graph for v in (x, values) if isinstance(v, TracedArray))
    return traced(graph, library.put_sum, (x, index, values), {})


def _as_array(graph: SourceGraph, plain: Any) -> Any:
    def call(x: Any, dtype: Any = None, **named: Any) -> Any:
        if not has_traced([x]):
            return plain(x, dtype, **named)
        if isinstance(x, (list, tuple)):
            x = np.stack([v if isinstance(v, TracedArray) else np.asarray(v) for v in x])
        return x if dtype is None else graph.like(x, dtype)

    return call


def _made(graph: SourceGraph, name: str) -> Any:
    plain = getattr(np, "zeros" if name == "empty" else name)

    def call(*args: Any, **named: Any) -> Any:
        if has_traced(args):
            raise UnsupportedError("a size or a value of an array depends on values")
        return graph.constant(plain(*args, **named))

    return call


class DrawnNumbers:
    """A source of random numbers whose draws are written down.

    Args:
        graph: takes them.
        made: the call that makes the source, as text.
    """

    def __init__(self, graph: SourceGraph, made: str) -> None:
        self._graph, self._made = graph, made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def draw(*args: Any, **named: Any) -> Any:
            like = getattr(np.random.default_rng(0), name)(*args, **named)
            return self._graph.drawn(f"{self._made}.{name}", args, named, np.asarray(like))

        return draw
