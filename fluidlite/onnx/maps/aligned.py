"""Pairs of elements in ONNX, of operands of which one starts at a dimension of the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...opdef.definition import registered
from ...ops.compare import Compare
from ...ops.elementwise import Elementwise
from ..graph import OnnxGraph
from ..namespace import namespace
from ..writing import kernel_outputs, maps


def starting_at(x: Any, ndim: int, axis: int) -> Any:
    """A value between dimensions of 1, so that it starts at ``axis`` of ``ndim`` dimensions; where
    it would reach beyond, it loses dimensions of 1.
    """
    beyond = range(ndim - axis, x.ndim)
    x = np.squeeze(x, tuple(beyond)) if beyond else x
    around = (*range(axis), *range(axis + x.ndim, ndim))
    return np.expand_dims(x, around) if around else x


@maps(*(op.type for op in registered() if issubclass(op, (Elementwise, Compare))))
def pairs(graph: OnnxGraph, op: Any, X: Any, Y: Any) -> Any:
    if op.axis == -1 or X.ndim == Y.ndim:
        return NotImplemented  # they broadcast as arrays do
    if X.ndim > Y.ndim:
        Y = starting_at(Y, X.ndim, op.axis)
    else:
        X = starting_at(X, Y.ndim, op.axis)
    return kernel_outputs(op, namespace(graph), dict(X=X, Y=Y))
