"""Losses by probabilities in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..tracing import SizesNeeded
from ..writing import maps


@maps("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy(graph: OnnxGraph, op: Any, X: Any, Label: Any, pos_weight: Any) -> Any:
    if not op.normalize or pos_weight is not None:
        return NotImplemented
    kept = np.not_equal(np.trunc(Label), op.ignore_index)
    loss = np.maximum(X, 0) - X * Label + np.log1p(np.exp(-np.abs(X)))
    loss = np.where(kept, loss, np.zeros((), X.dtype))
    return loss / np.maximum(np.sum(graph.like(kept, X.dtype)), np.ones((), X.dtype))


@maps("label_smooth")
def label_smooth(graph: OnnxGraph, op: Any, X: Any, PriorDist: Any) -> Any:
    if X.sizes[-1] == -1:
        raise SizesNeeded("the prior follows from the number of classes")
    prior = 1.0 / X.sizes[-1] if PriorDist is None else np.reshape(PriorDist, (-1,))
    return (1.0 - op.epsilon) * X + op.epsilon * prior
