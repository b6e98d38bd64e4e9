"""``paddle.static.nn`` of paddle 2.6: layers that build programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import layers
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...input import embedding
from ...ir.variable import Variable
from ...layers import (
    batch_norm,
    bilinear_tensor_product,
    case,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    data_norm,
    group_norm,
    instance_norm,
    layer_norm,
    nce,
    py_func,
    row_conv,
    sequence_concat,
    sequence_conv,
    sequence_enumerate,
    sequence_expand,
    sequence_expand_as,
    sequence_first_step,
    sequence_last_step,
    sequence_pad,
    sequence_pool,
    sequence_reshape,
    sequence_reverse,
    sequence_scatter,
    sequence_slice,
    sequence_softmax,
    sequence_unpad,
    spectral_norm,
    switch_case,
    while_loop,
)  # fmt: skip

__all__ = [
    "batch_norm", "bilinear_tensor_product", "case", "cond", "conv2d", "conv2d_transpose",
    "conv3d", "conv3d_transpose", "data_norm", "embedding", "fc", "group_norm", "instance_norm",
    "layer_norm", "nce", "prelu", "py_func", "row_conv", "sequence_concat", "sequence_conv",
    "sequence_enumerate", "sequence_expand", "sequence_expand_as", "sequence_first_step",
    "sequence_last_step", "sequence_pad", "sequence_pool", "sequence_reshape",
    "sequence_reverse", "sequence_scatter", "sequence_slice", "sequence_softmax",
    "sequence_unpad", "spectral_norm", "switch_case", "while_loop",
]  # fmt: skip


def fc(
    x: Variable | Sequence[Variable],
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Variable:
    """A fully connected layer: the sum of the inputs times their weights, plus a bias.

    Args:
        x: a variable, or several.
        size: how many outputs.
        num_flatten_dims: how many leading dimensions number the rows.
        weight_attr, bias_attr: options of the parameters; False for no bias.
        activation: of the result.
        name: of the layer.

    >>> from fluidlite import paddle
    >>> paddle.static.nn.fc(paddle.static.data("x", [None, 4]), 3, activation="relu").shape
    (-1, 3)
    """
    flat = num_flatten_dims if num_flatten_dims >= 0 else len(x.shape) + num_flatten_dims  # type: ignore[union-attr]
    return layers.fc(x, size, flat, weight_attr, bias_attr, activation, name)


def prelu(
    x: Variable,
    mode: str,
    param_attr: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Variable:
    """``x`` where it is positive, and a learned multiple of it elsewhere.

    Args:
        x: a variable.
        mode: ``"all"`` for one factor, ``"channel"`` for one a channel, ``"element"`` for one an
            element.
        param_attr: options of the factors.
        data_format: ``"NCHW"``, or ``"NHWC"`` for channels in the last dimension.
        name: of the layer.
    """
    if data_format.endswith("C") and mode == "channel":
        last = len(x.shape) - 1
        moved = layers.transpose(x, [0, last, *range(1, last)])
        made = layers.prelu(moved, mode, param_attr, name)
        return layers.transpose(made, [0, *range(2, last + 1), 1])
    return layers.prelu(x, mode, param_attr, name)


def cond(
    pred: Variable,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Sequence[str] | None = None,
) -> Any:
    """What one of two functions makes, by a truth.

    Args:
        pred: a variable of one truth value.
        true_fn, false_fn: take nothing, and give variables, alike in both; None for nothing.
        name: of the layer.
        return_names: accepted.
    """
    return layers.cond(pred, true_fn, false_fn, name)


list_public_names(globals())
api_boundaries(globals())
