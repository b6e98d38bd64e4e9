"""Rows by their numbers, embeddings, the largest elements and random choices in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..rearranging import numbers
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
def gather(graph: OnnxGraph, op: Any, X: Any, Index: Any) -> Any:
    return graph.Gather(X, graph.Reshape(Index, numbers([-1])), axis=0)


@maps("gather_nd")
def gather_nd(graph: OnnxGraph, op: Any, X: Any, Index: Any) -> Any:
    return graph.GatherND(X, graph.like(Index, np.int64))


@maps("top_k")
def top_k(graph: OnnxGraph, op: Any, X: Any, K: Any) -> Any:
    count = numbers([op.k]) if K is None else graph.like(np.reshape(K, (1,)), np.int64)
    return graph.node("TopK", [X, count], 2, axis=-1)


@maps("where_index")
def where_index(graph: OnnxGraph, op: Any, Condition: Any) -> Any:
    return graph.Transpose(graph.NonZero(Condition), perm=[1, 0])


@maps("dropout")
def dropout(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if not op.is_test:
        return NotImplemented
    return graph.Mul(X, graph.like(op.factor, X.dtype)), None
