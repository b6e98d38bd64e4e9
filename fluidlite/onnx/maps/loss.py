"""Softmax in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..writing import maps


@maps("softmax")
def softmax(graph: OnnxGraph, op: Any, X: Any) -> Any:
    beside = np.subtract(X, np.max(X, axis=op.axis, keepdims=True))
    floored = np.maximum(beside, op.least_logit)  # so that logarithms of the result are finite
    return graph.Softmax(floored, axis=int(op.axis))
