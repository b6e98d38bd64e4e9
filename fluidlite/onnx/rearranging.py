"""What NumPy's functions of whole arrays are in ONNX."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..opdef.spec import spec
from .elementwise import together
from .graph import OnnxGraph
from .tracing import NUMPY_FORMS, SizesNeeded, TracedArray, form_of


def numbers(values: Any) -> Any:
    """Integers as ONNX takes them."""
    return np.asarray(values, np.int64).reshape(-1)


def vector(graph: OnnxGraph, known: Any, whole: Any, parts: Any) -> Any:
    """Numbers that an attribute, a vector, or tensors of one number each give."""
    if parts:
        each = [graph.Reshape(graph.like(n, np.int64), numbers([1])) for n in parts]
        return graph.node("Concat", each, axis=0)
    return numbers(known) if whole is None else graph.like(whole, np.int64)


def sizes_of(graph: OnnxGraph, x: Any, begin: int, end: int) -> Any:
    """The sizes from one dimension to another: numbers where they are known."""
    known = x.shape if isinstance(x, np.ndarray) else x.sizes
    if -1 not in known[begin:end]:
        return numbers(known[begin:end])
    sizes = graph.Shape(x, start=begin, end=end)
    sizes.spec = spec([end - begin], np.int64)
    return sizes


def joined(graph: OnnxGraph, *parts: Any) -> Any:
    """A shape of parts, as :func:`sizes_of` gives them."""
    given = [p for p in parts if not isinstance(p, np.ndarray) or p.size]
    if all(isinstance(p, np.ndarray) for p in given):
        return np.concatenate(given)
    return graph.node("Concat", given, axis=0)


def in_shape(graph: OnnxGraph, x: Any, *parts: Any) -> Any:
    """A value in the shape that parts say together."""
    return graph.Reshape(x, joined(graph, *parts))


def _axes(axis: Any, ndim: int) -> Any:
    if axis is None:
        return None
    return numbers(sorted(a % ndim for a in np.atleast_1d(axis).tolist()))


def _reduction(type: str, through: str | None = None) -> Any:
    def form(graph: OnnxGraph, x: Any, axis: Any = None, dtype: Any = None, **named: Any) -> Any:
        axes = _axes(axis, x.ndim)
        if through is not None:
            x = graph.like(x, through)
        elif dtype is not None:
            x = graph.like(x, dtype)
        elif x.dtype == bool or (type in ("ReduceSum", "ReduceProd") and x.dtype.kind in "iu"):
            x = graph.like(x, np.int64)
        elif type == "ReduceMean" and x.dtype.kind != "f":
            x = graph.like(x, np.float64)
        found = graph.node(type, [x, axes], keepdims=int(bool(named.get("keepdims"))))
        return graph.Cast(found, to=9) if through is not None else found

    return form


for _function, _type in {
    np.sum: "ReduceSum",
    np.mean: "ReduceMean",
    np.max: "ReduceMax",
    np.min: "ReduceMin",
    np.prod: "ReduceProd",
}.items():
    form_of(_function)(_reduction(_type))
form_of(np.any)(_reduction("ReduceSum", "int64"))


@form_of(np.all)
def _all(graph: OnnxGraph, x: Any, axis: Any = None, **named: Any) -> Any:
    return graph.Not(np.any(np.logical_not(x), axis=axis, **named))


def _arg(type: str) -> Any:
    def form(graph: OnnxGraph, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if axis is None:
            x, axis = np.reshape(x, (-1,)), 0
        return graph.node(type, [x], axis=int(axis), keepdims=int(keepdims))

    return form


form_of(np.argmax)(_arg("ArgMax"))
form_of(np.argmin)(_arg("ArgMin"))


@form_of(np.reshape)
def _reshape(graph: OnnxGraph, x: Any, shape: Any = None, **named: Any) -> Any:
    shape = named.get("newshape", shape)
    return graph.Reshape(x, numbers(shape), allowzero=1 if 0 in np.atleast_1d(shape) else None)


NUMPY_FORMS.update(
    {
        np.ravel: lambda graph, x: graph.Reshape(x, numbers([-1])),
        np.expand_dims: lambda graph, x, axis: graph.Unsqueeze(x, numbers(axis)),
        np.broadcast_to: lambda graph, x, shape: graph.Expand(x, numbers(shape)),
        np.matmul: lambda graph, x, y: graph.node("MatMul", together(graph, x, y)),
        np.dot: lambda graph, x, y: graph.node("MatMul", together(graph, x, y)),
        np.zeros_like: lambda graph, x, dtype=None, **named: _filled(graph, x, 0, dtype),
        np.empty_like: lambda graph, x, dtype=None, **named: _filled(graph, x, 0, dtype),
        np.ones_like: lambda graph, x, dtype=None, **named: _filled(graph, x, 1, dtype),
        np.full_like: lambda graph, x, value, dtype=None, **named: _filled(graph, x, value, dtype),
        np.copy: lambda graph, x, *args, **named: TracedArray(graph, x.spec, x.cell),
        np.ascontiguousarray: lambda graph, x, *args, **named: TracedArray(graph, x.spec, x.cell),
        np.asfortranarray: lambda graph, x, *args, **named: TracedArray(graph, x.spec, x.cell),
    }
)


@form_of(np.transpose)
def _transpose(graph: OnnxGraph, x: Any, axes: Any = None) -> Any:
    order = range(x.ndim)[::-1] if axes is None else [a % x.ndim for a in axes]
    return graph.Transpose(x, perm=list(order))


@form_of(np.swapaxes)
def _swapaxes(graph: OnnxGraph, x: Any, a: int, b: int) -> Any:
    order = list(range(x.ndim))
    order[a], order[b] = order[b], order[a]
    return graph.Transpose(x, perm=order)


@form_of(np.moveaxis)
def _moveaxis(graph: OnnxGraph, x: Any, source: Any, destination: Any) -> Any:
    places = np.moveaxis(np.zeros(range(1, x.ndim + 1)), source, destination).shape
    return graph.Transpose(x, perm=[n - 1 for n in places])


@form_of(np.concatenate)
def _concatenate(graph: OnnxGraph, arrays: Any, axis: int = 0, **named: Any) -> Any:
    return graph.node("Concat", together(graph, *arrays), axis=int(axis))


@form_of(np.stack)
def _stack(graph: OnnxGraph, arrays: Any, axis: int = 0) -> Any:
    widened = [graph.Unsqueeze(v, numbers([axis])) for v in together(graph, *arrays)]
    return graph.node("Concat", widened, axis=int(axis))


@form_of(np.squeeze)
def _squeeze(graph: OnnxGraph, x: Any, axis: Any = None) -> Any:
    return graph.Squeeze(
        x, numbers([i for i, n in enumerate(x.shape) if n == 1] if axis is None else axis)
    )


@form_of(np.tile)
def _tile(graph: OnnxGraph, x: Any, reps: Any) -> Any:
    times = np.atleast_1d(reps).tolist()
    x = np.reshape(x, (1,) * (len(times) - x.ndim) + x.shape) if len(times) > x.ndim else x
    return graph.Tile(x, numbers([1] * (x.ndim - len(times)) + times))


@form_of(np.allclose)
def _allclose(
    graph: OnnxGraph,
    x: Any,
    y: Any,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Any:
    gap, bound = np.abs(np.subtract(x, y)), np.abs(y) * rtol + atol
    close = np.logical_or(np.less_equal(gap, bound), np.equal(x, y))
    if equal_nan:
        close = np.logical_or(close, np.logical_and(np.isnan(x), np.isnan(y)))
    finite = np.logical_or(np.isfinite(y), np.logical_or(np.equal(x, y), np.isnan(y)))
    return np.all(np.logical_and(close, finite))


@form_of(np.repeat)
def _repeat(graph: OnnxGraph, x: Any, repeats: Any, axis: int | None = None) -> Any:
    if axis is None:
        x, axis = np.ravel(x), 0
    axis %= x.ndim
    index = np.repeat(np.arange(x.shape[axis]), np.asarray(repeats))
    return graph.Gather(x, index, axis=axis)


@form_of(np.roll)
def _roll(graph: OnnxGraph, x: Any, shift: Any, axis: Any) -> Any:
    for count, dim in zip(np.atleast_1d(shift).tolist(), np.atleast_1d(axis).tolist()):
        size = x.sizes[dim]
        if size != -1:
            places: Any = np.roll(np.arange(size), count)
        else:
            end = graph.Reshape(
                graph.Shape(x, start=dim % x.ndim, end=dim % x.ndim + 1), numbers([])
            )
            places = graph.Mod(
                graph.Sub(graph.Range(np.array(0), end, np.array(1)), np.array(count)), end
            )
            places.spec = spec([-1], np.int64)
        x = np.take(x, places, axis=dim)
    return x


@form_of(np.flip)
def _flip(graph: OnnxGraph, x: Any, axis: Any = None) -> Any:
    for each in range(x.ndim) if axis is None else np.atleast_1d(axis).tolist():
        far = np.iinfo(np.int64).min
        x = graph.Slice(x, numbers([-1]), numbers([far]), numbers([each]), numbers([-1]))
    return x


@form_of(np.pad)
def _pad(graph: OnnxGraph, x: Any, width: Any, mode: str = "constant", **named: Any) -> Any:
    pairs = np.broadcast_to(np.asarray(width), (x.ndim, 2))
    value = graph.like(named.get("constant_values", 0), x.dtype)
    if mode not in ("constant", "edge", "reflect"):
        raise UnsupportedError(f"padding of mode {mode!r} has no form in ONNX")
    return graph.Pad(x, numbers(pairs.T), value if mode == "constant" else None, mode=mode)


@form_of(np.cumsum)
def _cumsum(graph: OnnxGraph, x: Any, axis: int | None = None, dtype: Any = None) -> Any:
    x = x if dtype is None else graph.like(x, dtype)
    if axis is None:
        x, axis = np.ravel(x), 0
    return graph.CumSum(x, np.asarray(axis, np.int64))


@form_of(np.einsum)
def _einsum(graph: OnnxGraph, equation: str, *values: Any, **named: Any) -> Any:
    return graph.node("Einsum", together(graph, *values), equation=equation)


def _filled(graph: OnnxGraph, x: Any, value: Any, dtype: Any) -> Any:
    return graph.Expand(np.asarray(value, x.dtype if dtype is None else dtype), graph.Shape(x))


@form_of(np.take)
def _take(graph: OnnxGraph, x: Any, index: Any, axis: int | None = None, **named: Any) -> Any:
    if axis is None:
        x, axis = np.ravel(x), 0
    return graph.Gather(x, graph.like(index, np.int64), axis=axis)


@form_of(np.take_along_axis)
def _take_along_axis(graph: OnnxGraph, x: Any, index: Any, axis: int) -> Any:
    lead = [max(a, b) for a, b in zip(np.shape(x), np.shape(index))]
    whole = [n if i != axis % x.ndim else x.shape[i] for i, n in enumerate(lead)]
    chosen = [n if i != axis % x.ndim else np.shape(index)[i] for i, n in enumerate(lead)]
    index = graph.like(index, np.int64)
    return graph.GatherElements(
        np.broadcast_to(x, whole), np.broadcast_to(index, chosen), axis=axis
    )


form_of(np.tril)(lambda graph, x, k=0: graph.Trilu(x, np.asarray(k, np.int64), upper=0))
form_of(np.triu)(lambda graph, x, k=0: graph.Trilu(x, np.asarray(k, np.int64), upper=1))


@form_of(np.diff)
def _diff(graph: OnnxGraph, x: Any, n: int = 1, axis: int = -1, **named: Any) -> Any:
    axis %= x.ndim
    lead = (slice(None),) * axis
    return np.subtract(x[(*lead, slice(1, None))], x[(*lead, slice(None, -1))])


@form_of(np.diagonal)
def _diagonal(graph: OnnxGraph, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    last = np.moveaxis(x, (axis1, axis2), (-2, -1))
    square = last.sizes[-2:]
    if -1 in square:
        raise SizesNeeded(
            f"a diagonal is taken of matrices whose sizes are known, got {list(square)}"
        )
    places = np.arange(square[0] * square[1]).reshape(square).diagonal(offset)
    flat = in_shape(graph, last, sizes_of(graph, last, 0, last.ndim - 2), numbers([-1]))
    return graph.Gather(flat, np.ascontiguousarray(places), axis=last.ndim - 2)


@form_of(np.argsort)
def _argsort(graph: OnnxGraph, x: Any, axis: int = -1, kind: Any = None, **named: Any) -> Any:
    # equal elements stay in their order: ONNX promises that of those with lower indices
    count = numbers([x.shape[axis]])
    return graph.node("TopK", [x, count], outputs=2, axis=axis, largest=0, sorted=1)[1]


@form_of(np.sort)
def _sort(graph: OnnxGraph, x: Any, axis: int = -1, kind: Any = None) -> Any:
    count = numbers([x.shape[axis]])
    return graph.node("TopK", [x, count], outputs=2, axis=axis, largest=0, sorted=1)[0]


# -- parts of arrays -------------------------------------------------------------------------------


@form_of(operator.getitem)
def _part(graph: OnnxGraph, x: Any, item: Any) -> Any:
    key = item if isinstance(item, tuple) else (item,)
    arrays = [k for k in key if isinstance(k, (list, np.ndarray, TracedArray))]
    if any(isinstance(k, TracedArray) and k.constant is None for k in arrays):
        return _gathered(graph, x, key)
    if not arrays:
        return _sliced(graph, x, key)
    places = np.arange(x.size).reshape(x.shape)[known_key(key)]
    return graph.Gather(np.reshape(x, (-1,)), places, axis=0)


def known_key(key: Any) -> Any:
    """An index with arrays in place of constants."""
    return tuple(np.asarray(k) if isinstance(k, TracedArray) else k for k in key)


def _sliced(graph: OnnxGraph, x: Any, key: Any) -> Any:
    """A part by numbers and slices."""
    count = sum(k is not None and k is not Ellipsis for k in key)
    at = next((i for i, k in enumerate(key) if k is Ellipsis), len(key))
    key = (*key[:at], *[slice(None)] * (x.ndim - count), *key[at + 1 :])
    rows, dropped, added, axis, place = [], [], [], 0, 0
    for k in key:
        if k is None:
            added.append(place)
            place += 1
            continue
        if not isinstance(k, slice):
            k = int(k)
            rows.append((k, k + 1 if k != -1 else np.iinfo(np.int64).max, axis, 1))
            dropped.append(axis)
        else:
            if k != slice(None):
                rows.append((*_bounds(k, x.sizes[axis]), axis, k.step or 1))
            place += 1
        axis += 1
    if rows:
        x = graph.Slice(x, *(numbers(column) for column in zip(*rows)))
    if dropped:
        x = graph.Squeeze(x, numbers(dropped))
    return graph.Unsqueeze(x, numbers(added)) if added else graph.Identity(x) if not rows else x


def _bounds(part: slice, size: int) -> tuple[int, int]:
    far = np.iinfo(np.int64)
    forward = (part.step or 1) > 0
    start = (0 if forward else far.max) if part.start is None else int(part.start)
    stop = (far.max if forward else far.min) if part.stop is None else int(part.stop)
    return start, stop


def _gathered(graph: OnnxGraph, x: Any, key: Any) -> Any:
    """Elements whose places are computed."""
    if any(np.dtype(getattr(k, "dtype", int)).kind == "b" for k in key):
        raise UnsupportedError("how many elements it takes depends on values")
    lead = next((i for i, k in enumerate(key) if isinstance(k, (TracedArray, np.ndarray, list))), 0)
    rest = [k for k in key[lead:] if k is not Ellipsis]
    while rest and isinstance(rest[-1], slice) and rest[-1] == slice(None):
        rest.pop()
    if any(k is not Ellipsis and k != slice(None) for k in key[:lead]) or not all(
        isinstance(k, (TracedArray, np.ndarray, list, int, np.integer)) for k in rest
    ):
        raise UnsupportedError("an index of several kinds has no form here")
    if Ellipsis in key[:lead]:
        lead = x.ndim - len(rest)
    index = [graph.like(k, np.int64) for k in rest]
    if len(index) == 1:
        return graph.Gather(x, index[0], axis=lead)
    if lead:
        raise UnsupportedError("an index of several arrays behind a slice has no form here")
    return graph.GatherND(x, places_of(graph, index))


def places_of(graph: OnnxGraph, index: Any) -> Any:
    """Arrays of indices, one for each dimension, as vectors in the last dimension."""
    shape = np.broadcast_shapes(*(np.shape(k) for k in index))
    return np.stack([np.broadcast_to(k, shape) for k in index], axis=-1)


@form_of(operator.setitem)
def _with_part(graph: OnnxGraph, x: Any, item: Any, value: Any) -> Any:
    key = item if isinstance(item, tuple) else (item,)
    if any(isinstance(k, TracedArray) and k.constant is None for k in key):
        raise UnsupportedError("a kernel writes to places that it computes")
    places = np.arange(x.size).reshape(x.shape)[known_key(key)]
    value = graph.like(value, x.dtype)
    flat = np.reshape(np.broadcast_to(value, places.shape), (-1,))
    if places.size == x.size and (places.reshape(-1) == np.arange(x.size)).all():
        return graph.Reshape(flat, numbers(x.shape))
    out = graph.ScatterElements(np.reshape(x, (-1,)), places.reshape(-1), flat, axis=0)
    return graph.Reshape(out, numbers(x.shape))
