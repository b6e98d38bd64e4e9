"""Pooling in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...opdef.spec import window_padding
from ..graph import OnnxGraph
from ..writing import maps


@maps("pool2d", "pool3d")
def pool(graph: OnnxGraph, op: Any, X: Any) -> Any:
    kind = {"max": "MaxPool", "avg": "AveragePool"}[op.pooling_type]
    last = next(iter(op.axes)) == 1
    x = np.transpose(X, (0, X.ndim - 1, *range(1, X.ndim - 1))) if last else X
    sizes = [X.sizes[axis] for axis in op.axes]
    if op.global_pooling or (op.adaptive and set(op.ksize) == {1}):
        out = graph.node(f"Global{kind}", [x])
    elif op.adaptive:
        if any(n == -1 or n % k for n, k in zip(sizes, op.ksize)):
            return NotImplemented
        step = [n // k for n, k in zip(sizes, op.ksize)]
        out = graph.node(kind, [x], kernel_shape=step, strides=step)
    else:
        if op.padding_algorithm == "SAME" and -1 in sizes:
            return NotImplemented
        if op.ceil_mode and not (op.exclusive or kind == "MaxPool"):
            return NotImplemented  # what reaches beyond the padding counts here
        pads = window_padding(sizes, op.ksize, op.strides, op.paddings, op.padding_algorithm)
        if -1 not in sizes and any(n + a + b < k for n, (a, b), k in zip(sizes, pads, op.ksize)):
            return NotImplemented  # a window that reaches beyond the image
        attrs: dict[str, Any] = dict(
            kernel_shape=list(op.ksize),
            strides=list(op.strides),
            pads=[a for a, _ in pads] + [b for _, b in pads],
            ceil_mode=int(op.ceil_mode),
        )
        if kind == "AveragePool":
            attrs["count_include_pad"] = int(not op.exclusive)
        out = graph.node(kind, [x], **attrs)
    return graph.Transpose(out, perm=[0, *range(2, X.ndim), 1]) if last else out
