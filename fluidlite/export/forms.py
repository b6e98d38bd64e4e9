"""How operators of neural networks are written: a line, or a call of a function in the file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend import numpy_
from ..errors import UnsupportedError
from ..opdef.sequences import lod_of, offsets_of
from ..opdef.spec import spec
from . import library
from .literals import operand
from .numpy_text import PRODUCT
from .statements import SourceGraph
from .writing import SOURCE_FORMS, forms


def flat(x: Any, rows: int) -> Any:
    """A value as a matrix: so many first dimensions are its rows."""
    if x.ndim == 2 and rows == 1:
        return x
    shape = x.shape
    return np.reshape(x, (math.prod(shape[:rows]), math.prod(shape[rows:])))


@forms("mul")
def mul(graph: SourceGraph, op: Any, X: Any, Y: Any) -> Any:
    rows, columns = op.x_num_col_dims, op.y_num_col_dims
    if rows == X.ndim - 1 and columns == 1 and Y.ndim == 2:
        return graph.expression([*operand(X, PRODUCT), " @ ", *operand(Y, PRODUCT + 1)], PRODUCT)
    x, y = flat(X, rows), flat(Y, columns)
    out = graph.expression([*operand(x, PRODUCT), " @ ", *operand(y, PRODUCT + 1)], PRODUCT)
    shape = (*X.shape[:rows], *Y.shape[columns:])
    return out if len(shape) == 2 else _reshaped(out, shape, X)


def _reshaped(value: Any, shape: Any, like: Any) -> Any:
    value.spec = like.spec.with_shape((math.prod(shape),))
    return np.reshape(value, shape)


@forms(
    *(f"elementwise_{name}" for name in ("add", "sub", "mul", "div", "min", "max")),
    *("less_than", "less_equal", "greater_than", "greater_equal", "equal", "not_equal"),
)
def elementwise(graph: SourceGraph, op: Any, X: Any, Y: Any) -> Any:
    lead = X.ndim - Y.ndim if op.axis == -1 else op.axis
    if op.ufunc is None or Y.ndim > X.ndim or not Y.ndim or lead + Y.ndim != X.ndim:
        return NotImplemented
    return op.ufunc(X, Y)


@forms("sigmoid")
def sigmoid(graph: SourceGraph, op: Any, X: Any) -> Any:
    return graph.helper(library.sigmoid, X) if X.dtype.itemsize > 2 else NotImplemented


@forms("adam")
def adam(
    graph: SourceGraph,
    op: Any,
    Param: Any,
    Grad: Any,
    LearningRate: Any,
    Moment1: Any,
    Moment2: Any,
    Beta1Pow: Any,
    Beta2Pow: Any,
    Beta1Tensor: Any,
    Beta2Tensor: Any,
) -> Any:
    if Beta1Tensor is not None or Beta2Tensor is not None:
        return NotImplemented
    moments, powers, betas = (Moment1, Moment2), (Beta1Pow, Beta2Pow), (op.beta1, op.beta2)
    arguments = (Param, Grad, LearningRate, moments, powers, betas, op.epsilon)
    if Grad.cell not in graph.sparse:
        return graph.helper(library.adam, *arguments, outputs=5)
    if op.lazy_mode:
        raise UnsupportedError("only some rows of its parameter are changed")
    return graph.helper(library.adam, *arguments, ahead=True, outputs=5)


@forms("momentum")
def momentum(
    graph: SourceGraph, op: Any, Param: Any, Grad: Any, Velocity: Any, LearningRate: Any
) -> Any:
    if op.regularization_method:
        return NotImplemented
    more = {"nesterov": True} if op.use_nesterov else {}
    given = (Param, Grad, Velocity, LearningRate, op.mu)
    return graph.helper(library.momentum, *given, **more, outputs=2)


@forms("softmax")
def softmax(graph: SourceGraph, op: Any, X: Any) -> Any:
    return graph.helper(library.softmax, X, **({} if op.axis == -1 else {"axis": op.axis}))


@forms("batch_norm")
def batch_norm(
    graph: SourceGraph, op: Any, X: Any, Scale: Any, Bias: Any, Mean: Any, Variance: Any
) -> Any:
    if not op.scales(X, Scale):
        return NotImplemented
    epsilon = float(str(np.float32(op.epsilon)))
    y = graph.helper(library.batch_norm, X, Scale, Bias, Mean, Variance, epsilon)
    return dict(Y=y, MeanOut=Mean, VarianceOut=Variance)


@forms("crf_decoding")
def crf_decoding(
    graph: SourceGraph, op: Any, Emission: Any, Transition: Any, Label: Any, Length: Any
) -> Any:
    if Length is not None:
        return NotImplemented
    offsets = offsets_of(Emission, "Emission")
    path = graph.helper(library.viterbi, Emission.bare(), Transition, offsets)
    path.spec = spec([offsets[-1], 1], "int64")
    if Label is None:
        return path
    return graph.like(np.equal(path, np.reshape(Label.bare(), (-1, 1))), np.int64)


@forms("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy(graph: SourceGraph, op: Any, X: Any, Label: Any, pos_weight: Any) -> Any:
    if pos_weight is not None:
        return NotImplemented
    counted = np.not_equal(np.trunc(Label), op.ignore_index)
    loss = np.maximum(X, 0) - X * Label + np.log1p(np.exp(-np.abs(X)))
    loss = np.where(counted, loss, np.zeros_like(loss))
    if not op.normalize:
        return loss
    return loss / np.maximum(np.sum(graph.like(counted, X.dtype)), 1)


@forms("selected_rows")
def selected_rows(graph: SourceGraph, op: Any, Ids: Any, Updates: Any) -> Any:
    ids = Ids if op.padding_idx == -1 else np.where(np.not_equal(Ids, op.padding_idx), Ids, -1)
    out = graph.helper(numpy_.add_rows, ids, Updates, op.height)
    out.spec = Updates.spec.with_dim(0, op.height)
    graph.sparse.add(out.cell)
    return out


SOURCE_FORMS.update(
    {
        "bare_rows": lambda graph, op, X: X.bare(),
        "like_rows": lambda graph, op, X, Like: X.having(lod_of(Like)),
        "assign": lambda graph, op, X: X,
    }
)


def _is_plain(op: Any) -> bool:
    return not (op.channels_last or op.cuts)


def _geometry(op: Any, image: Any, kernel: Any) -> tuple[Any, ...]:
    sizes = op.nchw(image)[2:]
    pads = tuple(tuple(map(int, pad)) for pad in op.pads(sizes, kernel))
    return tuple(op.strides), pads, tuple(op.spacing)


def _groups(op: Any) -> dict[str, int]:
    return {"groups": op.groups} if op.groups != 1 else {}


@forms("conv2d", "depthwise_conv2d", "conv3d")
def conv(graph: SourceGraph, op: Any, Input: Any, Filter: Any, Bias: Any) -> Any:
    if not _is_plain(op):
        return NotImplemented
    geometry = _geometry(op, Input.shape, Filter.shape[2:])
    out = graph.helper(library.conv, Input, Filter, *geometry, **_groups(op))
    if Bias is None:
        return out
    out.spec = Input.spec.with_shape(op.convolved(Input.shape, Filter.shape))
    return out + np.reshape(Bias, (-1, *(1,) * op.rank))


@forms("conv2d_adjoint_input", "conv3d_adjoint_input")
def conv_adjoint_input(graph: SourceGraph, op: Any, G: Any, Filter: Any) -> Any:
    if not _is_plain(op):
        return NotImplemented
    size = tuple(op.size)
    geometry = _geometry(op, size, Filter.shape[2:])
    return graph.helper(library.conv_images, G, Filter, size, *geometry, **_groups(op))


@forms("conv2d_adjoint_filter", "conv3d_adjoint_filter")
def conv_adjoint_filter(graph: SourceGraph, op: Any, Input: Any, G: Any) -> Any:
    if not _is_plain(op):
        return NotImplemented
    kernel = tuple(op.size[2:])
    geometry = _geometry(op, Input.shape, kernel)
    return graph.helper(library.conv_filters, Input, G, kernel, *geometry, **_groups(op))


def _windows(given: Any, shape: Any) -> Any:
    """Sizes, steps and paddings of windows; None where they do not follow each other by a step."""
    op = given if given.derived_from is None else given.like(given.derived_from)
    if op.axes[0] != 2:
        return None
    kernel, strides, pads = [], [], []
    for window in op.windows(shape):
        if window.step is None and window.ranges != [(0, window.size)]:
            return None
        step = (window.size, 1, 0) if window.step is None else window.step
        kernel.append(step[0])
        strides.append(step[1])
        pads.append((0, 0) if window.step is None else tuple(window.padding))
    return tuple(kernel), tuple(strides), tuple(pads)


def _averages(op: Any, shape: Any) -> tuple[Any, bool]:
    """The windows, and whether averages leave the padding out; no windows for other averages."""
    exclusive = bool(op.exclusive or op.adaptive or op.global_pooling)
    if op.clips and not exclusive:
        divisors = op.divisors(shape)
        exclusive = divisors == [w.lengths for w in op.windows(shape)]
        if not exclusive and any(set(along) != {k} for along, k in zip(divisors, op.ksize)):
            return None, False
    return _windows(op, shape), exclusive


@forms("pool2d", "pool3d")
def pool(graph: SourceGraph, op: Any, X: Any) -> Any:
    windows, exclusive = _averages(op, X.shape)
    if windows is None:
        return NotImplemented
    if windows[0] == X.shape[2:] and exclusive:
        function = np.max if op.pooling_type == "max" else np.mean
        return function(X, axis=tuple(range(2, X.ndim)), keepdims=True)
    if op.pooling_type == "max":
        return graph.helper(library.max_pool, X, *windows)
    return graph.helper(library.average_pool, X, *windows, exclusive)


@forms("pool2d_grad", "pool3d_grad")
def pool_grad(graph: SourceGraph, op: Any, X: Any, dOut: Any) -> Any:
    windows = _windows(op, X.shape)
    if op.pooling_type != "max" or windows is None:
        return NotImplemented
    return {"X@GRAD": graph.helper(library.max_pool_grad, X, dOut, *windows)}


@forms("pool2d_adjoint", "pool3d_adjoint")
def pool_adjoint(graph: SourceGraph, op: Any, G: Any) -> Any:
    size = tuple(op.size)
    windows, exclusive = _averages(op, size)
    if windows is None:
        return NotImplemented
    return graph.helper(library.average_pool_grad, G, size, *windows, exclusive)
