"""Softmax and losses in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...opdef.definition import lookup
from ...opdef.spec import spec
from ...ops.distance import SHORTEST
from ...ops.loss import negative_log
from ..graph import OnnxGraph
from ..namespace import namespace
from ..rearranging import numbers
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
    if not op.use_softmax:
        raise UnsupportedError(
            "use_softmax=False has no form in ONNX: export the program up to the Logits"
        )
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


@maps("pick_label")
def pick_label(graph: OnnxGraph, op: Any, X: Any, Label: Any) -> Any:
    found, counts = picked(graph, X, Label, op.axis % X.ndim, op.ignore_index)
    found.spec = X.spec.with_dim(op.axis, 1)
    return np.where(counts, found, np.asarray(op.ignored, X.dtype))


@maps("cross_entropy", "cross_entropy2")
def cross_entropy(graph: OnnxGraph, op: Any, X: Any, Label: Any, want: Any) -> Any:
    if op.type == "cross_entropy2" and (want is None or "XShape" in want):
        return NotImplemented
    if getattr(op, "soft_label", False):
        return dict(Y=np.sum(Label * negative_log(np, X), axis=-1, keepdims=True))
    column = Label if Label.ndim == X.ndim else np.expand_dims(Label, -1)
    likelihood, counts = picked(graph, X, column, X.ndim - 1, op.ignore_index)
    likelihood.spec = X.spec.with_dim(-1, 1)
    loss = np.where(counts, negative_log(np, likelihood), np.zeros((), X.dtype))
    loss = loss if column is Label else np.squeeze(loss, axis=-1)
    if op.type == "cross_entropy":
        return dict(Y=loss)
    return dict(Y=loss, MatchX=np.where(counts, likelihood, np.zeros((), X.dtype)))


@maps("nll_loss")
def nll_loss(graph: OnnxGraph, op: Any, X: Any, Label: Any, Weight: Any) -> Any:
    label = np.expand_dims(Label, 1)
    likelihood, counts = picked(graph, X, label, 1, op.ignore_index)
    number = np.where(counts, graph.like(label, np.int64), np.zeros((), np.int64))
    weights = np.ones((), X.dtype) if Weight is None else graph.Gather(Weight, number, axis=0)
    weights = graph.Where(counts, weights, np.zeros((), X.dtype))
    losses = graph.Neg(graph.Squeeze(graph.Mul(weights, likelihood), numbers([1])))
    if op.reduction == "none":
        return losses, np.zeros(op.one, X.dtype)
    total, loss = (
        graph.Reshape(graph.ReduceSum(v, keepdims=0), numbers(op.one)) for v in (weights, losses)
    )
    if op.reduction == "mean":
        one, zero = np.ones(op.one, X.dtype), np.zeros(op.one, X.dtype)
        loss = graph.Div(loss, graph.Where(graph.Equal(total, zero), one, total))
    return loss, total


@maps("kldiv_loss")
def kldiv_loss(graph: OnnxGraph, op: Any, X: Any, Target: Any) -> Any:
    losses = lookup("kldiv_loss")({"reduction": "none"}).run(namespace(graph), X, Target)
    if op.reduction == "none":
        return losses
    loss = graph.Reshape(graph.ReduceSum(losses, keepdims=0), numbers(op.one))
    if op.reduction == "sum":
        return loss
    count = graph.Size(X) if op.reduction == "mean" else graph.Shape(X, start=0, end=1)
    return graph.Div(loss, graph.like(graph.Max(count, np.array(1)), X.dtype))
