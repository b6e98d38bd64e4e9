"""Rows by their numbers, embeddings, the largest elements and random choices in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...opdef.spec import spec
from ..graph import OnnxGraph
from ..rearranging import joined, numbers, sizes_of
from ..tracing import TracedArray
from ..writing import maps


@maps("lookup_table", "lookup_table_v2")
def lookup_table(graph: OnnxGraph, op: Any, W: Any, Ids: Any) -> Any:
    ids = Ids
    if op.type == "lookup_table":
        ids = np.squeeze(Ids, axis=-1)
    out = graph.Gather(W, ids, axis=0)
    if op.padding_idx == -1:
        return out
    padding = op.padding_idx if op.padding_idx >= 0 else op.padding_idx + W.shape[0]
    kept = graph.Unsqueeze(np.not_equal(ids, padding), numbers([-1]))
    return graph.Where(kept, out, np.zeros((), W.dtype))


@maps("gather")
def gather(graph: OnnxGraph, op: Any, X: Any, Index: Any, Axis: Any = None) -> Any:
    if Axis is not None:
        return NotImplemented
    index = Index if Index.ndim == 0 else graph.Reshape(Index, numbers([-1]))
    return graph.Gather(X, index, axis=op.axis % X.ndim)


@maps("scatter")
def scatter(graph: OnnxGraph, op: Any, X: Any, Ids: Any, Updates: Any) -> Any:
    graph.checks.append("that Ids of scatter lie in range is not checked")
    places = graph.Reshape(graph.like(Ids, np.int64), numbers([-1, 1]))
    if op.overwrite:
        return graph.ScatterND(X, places, Updates)
    rows = graph.ScatterND(X, places, np.zeros_like(Updates))
    return graph.ScatterND(rows, places, Updates, reduction="add")


@maps("scatter_nd_add")
def scatter_nd_add(graph: OnnxGraph, op: Any, X: Any, Index: Any, Updates: Any) -> Any:
    if Index.sizes[-1] < 1:
        return NotImplemented
    graph.checks.append("that Index of scatter_nd_add lies in range is not checked")
    return graph.ScatterND(X, graph.like(Index, np.int64), Updates, reduction="add")


@maps("gather_adjoint")
def gather_adjoint(graph: OnnxGraph, op: Any, Index: Any, Updates: Any) -> Any:
    graph.checks.append("that Index of gather_adjoint lies in range is not checked")
    whole = joined(graph, numbers([op.size]), sizes_of(graph, Updates, 1, Updates.ndim))
    zeros = graph.Expand(np.zeros((), Updates.dtype), whole)
    places = graph.Reshape(graph.like(Index, np.int64), numbers([-1, 1]))
    return graph.ScatterND(zeros, places, Updates, reduction="add")


@maps("take_along")
def take_along(graph: OnnxGraph, op: Any, X: Any, Index: Any) -> Any:
    graph.checks.append("that Index of take_along lies in range is not checked")
    return graph.GatherElements(X, graph.like(Index, np.int64), axis=op.axis % X.ndim)


@maps("gather_nd")
def gather_nd(graph: OnnxGraph, op: Any, X: Any, Index: Any) -> Any:
    return graph.GatherND(X, graph.like(Index, np.int64))


@maps("top_k")
def top_k(graph: OnnxGraph, op: Any, X: Any, K: Any) -> Any:
    count = numbers([op.k]) if K is None else graph.like(np.reshape(K, (1,)), np.int64)
    return graph.node("TopK", [X, count], 2, axis=-1)


@maps("top_k_v2")
def top_k_v2(graph: OnnxGraph, op: Any, X: Any, K: Any) -> Any:
    if not X.ndim:
        return NotImplemented
    count = numbers([op.k]) if K is None else graph.like(np.reshape(K, (1,)), np.int64)
    return graph.node("TopK", [X, count], 2, axis=int(op.axis), largest=int(op.largest))


@maps("where_index")
def where_index(graph: OnnxGraph, op: Any, Condition: Any) -> Any:
    return graph.Transpose(graph.NonZero(Condition), perm=[1, 0])


@maps("dropout")
def dropout(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if not op.is_test:
        return NotImplemented
    return graph.Mul(X, graph.like(op.factor, X.dtype)), None


@maps("one_hot", "one_hot_v2")
def one_hot(graph: OnnxGraph, op: Any, X: Any, depth_tensor: Any) -> Any:
    classes = counted(graph, numbers([op.depth]) if depth_tensor is None else depth_tensor)
    index = X if op.type == "one_hot" else graph.Unsqueeze(X, numbers([-1]))
    if not op.allow_out_of_range:
        graph.checks.append(f"an index of {op.type} below its depth is not checked")
    return graph.like(graph.Equal(graph.like(index, np.int64), classes), op.dtype.dtype)


def counted(graph: OnnxGraph, count: Any) -> Any:
    """The numbers 0, 1, 2 and so on; so many as one element says."""
    if isinstance(count, TracedArray) and count.constant is not None:
        count = count.constant
    if isinstance(count, np.ndarray):
        return np.arange(count.item())
    end = graph.Reshape(graph.like(count, np.int64), np.zeros(0, np.int64))
    return graph.Range(np.array(0), end, np.array(1))


@maps("sequence_mask")
def sequence_mask(graph: OnnxGraph, op: Any, X: Any, MaxLenTensor: Any) -> Any:
    lengths = graph.like(X, np.int64)
    if MaxLenTensor is not None:
        width = MaxLenTensor
    elif op.maxlen > 0:
        width = numbers([op.maxlen])
    else:
        width = graph.ReduceMax(lengths)
    inside = graph.Less(counted(graph, width), graph.Unsqueeze(lengths, numbers([-1])))
    return graph.like(inside, op.out_dtype.dtype)


@maps("range")
def range_of(graph: OnnxGraph, op: Any, Start: Any, End: Any, Step: Any) -> Any:
    graph.checks.append("that Step leads from Start to End is not checked")
    return graph.node("Range", [np.reshape(v, ()) for v in (Start, End, Step)])


@maps("argsort")
def argsort(graph: OnnxGraph, op: Any, X: Any) -> Any:
    axis = op.axis % X.ndim
    count = sizes_of(graph, X, axis, axis + 1)
    return graph.node("TopK", [X, count], 2, axis=axis, largest=int(op.descending), sorted=1)


@maps("unique", "unique_with_counts")
def unique(graph: OnnxGraph, op: Any, X: Any) -> Any:
    elements = X if X.dtype.kind == "f" else graph.like(X, np.int64)
    newer = op.type == "unique" and op.is_sorted
    along = {"axis": op.axis[0] % X.ndim} if newer and op.axis else {}
    found = graph.node("Unique", [elements], 4, sorted=int(newer), **along)
    values, first, index, count = found
    for each in (first, index, count):
        each.spec = spec([-1], np.int64)
    shape = [-1 if k == along["axis"] else n for k, n in enumerate(X.shape)] if along else [-1]
    values.spec = spec(shape, elements.dtype)
    number = op.dtype.dtype
    first, index, count = (graph.like(each, number) for each in (first, index, count))
    values = graph.like(values, X.dtype)
    return (values, index, first, count) if op.type == "unique" else (values, index, count)


@maps("multiplex")
def multiplex(graph: OnnxGraph, op: Any, Ids: Any, X: Any) -> Any:
    graph.checks.append("that Ids choose one of the tensors is not checked")
    places = graph.Reshape(graph.like(Ids, np.int64), numbers([-1, 1]))
    return graph.GatherND(np.stack(X, axis=1), places, batch_dims=1)


@maps("accuracy")
def accuracy(graph: OnnxGraph, op: Any, Indices: Any, Label: Any) -> Any:
    hits = np.any(np.equal(graph.like(Indices, np.int64), graph.like(Label, np.int64)), axis=1)
    correct = np.reshape(np.sum(hits, keepdims=True), (1,))
    total = sizes_of(graph, Indices, 0, 1)
    share = graph.Div(
        graph.like(correct, np.float32), graph.like(graph.Max(total, numbers([1])), np.float32)
    )
    return share, graph.like(correct, np.int32), graph.like(total, np.int32)


@maps("index_select")
def index_select(graph: OnnxGraph, op: Any, X: Any, Index: Any) -> Any:
    graph.checks.append("that an index of index_select lies in range is not checked")
    index = graph.Reshape(graph.like(Index, np.int64), numbers([-1]))
    return graph.Gather(X, index, axis=op.dim % X.ndim)


@maps("index_sample")
def index_sample(graph: OnnxGraph, op: Any, X: Any, Index: Any) -> Any:
    graph.checks.append("that an index of index_sample lies in range is not checked")
    return graph.GatherElements(X, graph.like(Index, np.int64), axis=1)
