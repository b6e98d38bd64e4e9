"""Softmax in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...opdef.spec import spec
from ...ops.distance import SHORTEST
from ...ops.loss import negative_log
from ..graph import OnnxGraph
from ..writing import maps


@maps("softmax")
def softmax(graph: OnnxGraph, op: Any, X: Any) -> Any:
    beside = np.subtract(X, np.max(X, axis=op.axis, keepdims=True))
    floored = np.maximum(beside, op.least_logit)  # so that logarithms of the result are finite
    return graph.Softmax(floored, axis=int(op.axis))


def picked(graph: OnnxGraph, x: Any, label: Any, axis: int, ignored: int) -> Any:
    """The elements that labels say, and whether these count."""
    number = graph.like(label, np.int64)
    counts = np.not_equal(number, ignored)
    place = np.where(counts, number, np.zeros((), np.int64))
    graph.checks.append("that labels lie in range is not checked")
    return graph.GatherElements(x, place, axis=axis), counts


@maps("softmax_with_cross_entropy")
def softmax_with_cross_entropy(graph: OnnxGraph, op: Any, Logits: Any, Label: Any) -> Any:
    axis = op.axis % Logits.ndim
    beside = np.subtract(Logits, np.max(Logits, axis=axis, keepdims=True))
    logits = np.maximum(beside, op.least_logit)
    e = np.exp(logits)
    total = np.sum(e, axis=axis, keepdims=True)
    if op.soft_label:
        loss = np.sum(Label * (np.log(total) - logits), axis=axis, keepdims=True)
    else:
        found, counts = picked(graph, logits, Label, axis, op.ignore_index)
        found.spec = total.spec
        loss = np.where(counts, np.log(total) - found, np.zeros((), Logits.dtype))
    return e / total, loss


@maps("cos_sim")
def cos_sim(graph: OnnxGraph, op: Any, X: Any, Y: Any) -> Any:
    x, y = (v if v.ndim == 2 else graph.Flatten(v, axis=1) for v in (X, Y))
    for flat, v in ((x, X), (y, Y)):
        if flat is not v:
            flat.spec = spec([v.sizes[0], -1], v.dtype)
    lengths = [np.sqrt(np.sum(v * v, axis=1, keepdims=True)) for v in (x, y)]
    over, under = (np.maximum(v, np.asarray(SHORTEST, X.dtype)) for v in lengths)
    return np.sum(x * y, axis=1, keepdims=True) / over / under, over, under


@maps("cross_entropy2")
def cross_entropy2(graph: OnnxGraph, op: Any, X: Any, Label: Any, want: Any) -> Any:
    if want is None or "XShape" in want:
        return NotImplemented
    column = Label if Label.ndim == X.ndim else np.expand_dims(Label, -1)
    found, counts = picked(graph, X, column, X.ndim - 1, op.ignore_index)
    found.spec = X.spec.with_dim(-1, 1)
    loss = np.where(counts, negative_log(np, found), np.zeros((), X.dtype))
    loss = loss if column is Label else np.squeeze(loss, axis=-1)
    return dict(Y=loss, MatchX=np.where(counts, found, np.zeros((), X.dtype)))
