"""``paddle.static.nn`` of paddle 2.6: layers that build programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import layers
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling
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

_PADDLE_2 = Spelling({"param_attr": "weight_attr", "act": "activation"})

fc: Callable[..., Variable] = _PADDLE_2(layers.fc, input="x")


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
