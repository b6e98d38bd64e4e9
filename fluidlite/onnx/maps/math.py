"""Products and sums in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import OnnxGraph
from ..rearranging import in_shape, numbers, sizes_of
from ..writing import MAPS, maps


def rows_and_columns(graph: OnnxGraph, x: Any, rows: int) -> Any:
    """A value as a matrix."""
    return x if x.ndim == 2 and rows == 1 else graph.Flatten(x, axis=rows)


def product(graph: OnnxGraph, x: Any, y: Any, rows: int, columns: int) -> Any:
    """The product of matrices that values are flattened to."""
    if y.ndim == 2 and columns == 1 and rows == x.ndim - 1:
        return graph.MatMul(x, y)
    out = graph.MatMul(rows_and_columns(graph, x, rows), rows_and_columns(graph, y, columns))
    if (rows, columns) == (1, y.ndim - 1):
        return out
    parts = [sizes_of(graph, x, 0, rows), sizes_of(graph, y, columns, y.ndim)]
    return graph.Reshape(out, graph.node("Concat", parts, axis=0))


MAPS.update(
    {
        "mul": lambda graph, op, X, Y: product(graph, X, Y, op.x_num_col_dims, op.y_num_col_dims),
        "sum": lambda graph, op, X: (
            graph.node("Sum", X) if X[0].dtype.kind == "f" else NotImplemented
        ),
        "mean": lambda graph, op, X: graph.Reshape(
            graph.ReduceMean(X, keepdims=0), numbers(op.one)
        ),
    }
)


@maps("matmul_v2")
def matmul_v2(graph: OnnxGraph, op: Any, X: Any, Y: Any) -> Any:
    if X.dtype.kind != "f" or X.dtype != Y.dtype:
        return NotImplemented
    swapped = []
    for value, turns in ((X, op.trans_x), (Y, op.trans_y)):
        order = [*range(value.ndim - 2), value.ndim - 1, value.ndim - 2]
        turned = turns and value.ndim > 1
        swapped.append(graph.Transpose(value, perm=order) if turned else value)
    return graph.MatMul(*swapped)


@maps("fc")
def fc(graph: OnnxGraph, op: Any, Input: Any, W: Any, Bias: Any) -> Any:
    if op.padding_weights:
        return NotImplemented
    out = product(graph, Input, W, op.in_num_col_dims, 1)
    out = out if Bias is None else graph.Add(out, np.reshape(Bias, (-1,)))
    return graph.Relu(out) if op.activation_type == "relu" else out


@maps("matmul")
def matmul(graph: OnnxGraph, op: Any, X: Any, Y: Any) -> Any:
    if op.head_number > 1 or min(X.ndim, Y.ndim) < 2:
        return NotImplemented
    x = np.swapaxes(X, -1, -2) if op.transpose_X else X
    y = np.swapaxes(Y, -1, -2) if op.transpose_Y else Y
    out = graph.MatMul(x, y)
    return out if op.alpha == 1 else graph.Mul(out, graph.like(op.alpha, X.dtype))


@maps("reduce_mean")
def reduce_mean(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if X.dtype.kind != "f" or op.out_dtype != -1:
        return NotImplemented
    out = graph.ReduceMean(X, numbers(op.axes(X.ndim)), keepdims=int(op.keep_dim))
    whole = len(op.axes(X.ndim)) == X.ndim and not op.keep_dim and not op.zero_d
    return graph.Reshape(out, numbers([1])) if whole else out


@maps("cumsum")
def cumsum(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if X.dtype.kind not in "if" or X.dtype.itemsize < 4:
        return NotImplemented
    attrs = dict(exclusive=int(op.exclusive), reverse=int(op.reverse))
    axis = op.axis
    if op.flatten:
        X, axis = graph.Reshape(X, numbers([-1])), 0
    return graph.CumSum(X, np.asarray(axis, np.int64), **attrs)


@maps("kron")
def kron(graph: OnnxGraph, op: Any, X: Any, Y: Any) -> Any:
    rank = max(X.ndim, Y.ndim)
    x, y = (np.expand_dims(v, tuple(range(rank - v.ndim))) if v.ndim < rank else v for v in (X, Y))
    outer = graph.Unsqueeze(x, numbers(range(1, 2 * rank, 2)))
    inner = graph.Unsqueeze(y, numbers(range(0, 2 * rank, 2)))
    return graph.Reshape(graph.Mul(outer, inner), graph.Mul(graph.Shape(x), graph.Shape(y)))


@maps("fsp")
def fsp(graph: OnnxGraph, op: Any, X: Any, Y: Any) -> Any:
    """The products of channels, summed over an image, by the number of its elements."""
    x, y = (in_shape(graph, v, sizes_of(graph, v, 0, 2), numbers([-1])) for v in (X, Y))
    products = graph.MatMul(x, graph.Transpose(y, perm=[0, 2, 1]))
    count = graph.node("ReduceProd", [sizes_of(graph, X, 2, 4)], keepdims=0)
    return graph.Div(products, graph.like(count, X.dtype))
