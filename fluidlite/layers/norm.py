"""Normalisations: values less their mean, divided by their deviation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import DType
from ..initializer import Constant
from ..ir.variable import Variable
from ..param_attr import ParamAttr
from .layer import LAYERS, LayerBuilder, is_variable, stopped
from .operator_layers import LayerCall, OperatorLayers
from .windows import is_channels_last, known_channels

if TYPE_CHECKING:
    from ..param_attr import Attr

#: normalisations, and what they have in common with the layers of ``fluid.dygraph``
NORMS = LAYERS.extended(
    {
        "epsilon": "keeps the square root away from 0.",
        "param_attr": "of the scale, which starts at 1.",
        "bias_attr": "of the bias, which starts at 0.",
        "data_layout": "NCHW, or NHWC for channels in the last dimension.",
        "is_test": "take the running mean and variance, and leave them as they are.",
        "momentum": "the share of the old running values in the new ones.",
        "moving_mean_name": "the name of the running mean.",
        "moving_variance_name": "the name of the running variance.",
        "do_model_average_for_mean_and_var": "whether ModelAverage averages them.",
        "use_global_stats": "take the running values in training too.",
    },
    returns="A variable of the shape of ``input``.",
)
_norms = OperatorLayers(NORMS)


def need_parameters(layer: str, param_attr: Attr, bias_attr: Attr) -> None:
    """Refuse attributes that ask for no parameter.

    Raises:
        ArgumentError: one of them is False.
    """
    for what, attr in (("param_attr", param_attr), ("bias_attr", bias_attr)):
        if attr is False:
            raise ArgumentError(f"expected {what} of {layer} to be a ParamAttr, got False")


def running_attrs(mean: str | None, variance: str | None, average: bool) -> list[ParamAttr]:
    """What is said of the running statistics of a batch normalization.

    Args:
        mean, variance: their names.
        average: whether ModelAverage averages them.
    """
    return [
        ParamAttr(name, Constant(start), trainable=False, do_model_average=average)
        for name, start in ((mean, 0.0), (variance, 1.0))
    ]


def need_where_asked(scale: bool, param_attr: Attr, shift: bool, bias_attr: Attr) -> None:
    """Refuse attributes that ask for no parameter where there has to be one.

    Raises:
        ArgumentError: one of them is False.
    """
    for asked, attr, what, why in (
        (scale, param_attr, "param_attr", "scale"),
        (shift, bias_attr, "bias_attr", "shift"),
    ):
        if asked and attr is False:
            raise ArgumentError(
                f"{what}=False asks for no parameter and {why}=True for one; pass {why}=False"
            )


@_norms.signature("""
    batch_norm(input: X, act, is_test, momentum: float = 0.9, epsilon, param_attr, bias_attr,
        data_layout, in_place: bool = False, name, moving_mean_name: str | None,
        moving_variance_name: str | None, do_model_average_for_mean_and_var: bool = True,
        use_global_stats)
""")
def batch_norm(f: LayerBuilder, call: LayerCall) -> Variable:
    """``scale * (input - mean) / sqrt(variance + epsilon) + bias``, for each channel.

    Mean and variance are those of the batch, and of all batches so far in a test.  Ioffe and
    Szegedy, Batch normalization, ICML 2015.

    Args:
        input: [N, C], or images with any number of dimensions after the channels, or before them.
        momentum: the share of the old running values in the new ones; a number or a variable.
        in_place: write to ``input``.

    Raises:
        ArgumentError: ``param_attr`` or ``bias_attr`` is False.
        ShapeError: the channels are unknown.

    >>> fluid.layers.batch_norm(fluid.data("x", [None, 3, 8, 8]), act="relu").shape
    (-1, 3, 8, 8)
    """
    need_parameters("batch_norm", call.param_attr, call.bias_attr)
    last = is_channels_last(call.data_layout)
    channels = known_channels(call.input, last)
    dtype = DType.FP32 if call.input.dtype is DType.FP16 else call.input.dtype
    scale = f.weight(call.param_attr, [channels], dtype, Constant(1.0))
    bias = f.bias_parameter(call.bias_attr, [channels], dtype)

    mean, variance = (
        f.weight(attr, [channels], dtype, stop_gradient=True)
        for attr in running_attrs(
            *(call.moving_mean_name, call.moving_variance_name),
            call.do_model_average_for_mean_and_var,
        )
    )
    ins: dict[str, Any] = {
        **call.ins,
        "Scale": scale,
        "Bias": bias,
        "Mean": mean,
        "Variance": variance,
    }
    more = {}
    if is_variable(call.momentum):
        ins["MomentumTensor"] = call.momentum
    else:
        more["momentum"] = call.momentum
    saved = {slot: stopped(f.new_variable()) for slot in ("SavedMean", "SavedVariance")}
    out = call.input if call.in_place else f.new_variable()
    outs = {**saved, "Y": out, "MeanOut": mean, "VarianceOut": variance}
    f.into("batch_norm", ins, outs, **call.attrs, **more)
    return out


@_norms.signature("""
    layer_norm(input: X, scale: bool = True, shift: bool = True, begin_norm_axis, epsilon,
        param_attr, bias_attr, act, name)
""")
def layer_norm(f: LayerBuilder, call: LayerCall) -> Variable:
    """``(input - mean) / sqrt(variance + epsilon)`` for each row, times a scale, plus a bias.

    Ba et al., Layer normalization, 2016.

    Args:
        input: a float variable.
        scale: whether there is a scale.
        shift: whether there is a bias.
        begin_norm_axis: the first dimension within a row.
        param_attr: of the scale, which has a number for each element of a row and starts at 1.
        bias_attr: of the bias, which has a number for each element of a row and starts at 0.

    Raises:
        ArgumentError: an attribute is False where its parameter is needed.
        ShapeError: a size within a row is unknown.

    >>> fluid.layers.layer_norm(fluid.data("x", [None, 3, 4])).shape
    (-1, 3, 4)
    """
    x = call.input
    row = x.shape[call.begin_norm_axis :]
    if (call.scale or call.shift) and -1 in row:
        raise ShapeError(
            f"expected the sizes of {x.name!r} from dimension {call.begin_norm_axis} on to be "
            f"known, since scale and bias have a number for each element; got shape "
            f"{list(x.shape)}"
        )
    ins = call.ins
    need_where_asked(call.scale, call.param_attr, call.shift, call.bias_attr)
    if call.scale:
        ins["Scale"] = f.weight(call.param_attr, [prod(row)], x.dtype, Constant(1.0))
    if call.shift:
        ins["Bias"] = f.bias_parameter(call.bias_attr, [prod(row)], x.dtype)
    outs = {
        "Mean": stopped(f.new_variable()),
        "Variance": stopped(f.new_variable()),
        "Y": f.new_variable(),
    }
    f.into("layer_norm", ins, outs, **call.attrs)
    return outs["Y"]


@_norms.signature("""
    group_norm(input: X, groups, epsilon, param_attr, bias_attr, act, data_layout, name)
""")
def group_norm(f: LayerBuilder, call: LayerCall) -> Variable:
    """``(input - mean) / sqrt(variance + epsilon)`` for each group of channels of each sample.

    Wu and He, Group normalization, ECCV 2018.  As in fluid 1.8 there is a scale or a bias only
    where its attribute is given.

    Args:
        input: [N, C, ...], or [N, ..., C] with ``data_layout`` NHWC.
        groups: how many groups the channels are cut into.
        param_attr: of the scale, a number for each channel that starts at 1; None for none.
        bias_attr: of the bias, a number for each channel that starts at 0; None for none.
        data_layout: NCHW or NHWC.

    Raises:
        ShapeError: the channels are unknown.

    >>> fluid.layers.group_norm(fluid.data("x", [None, 6, 8, 8]), groups=2, act="relu").shape
    (-1, 6, 8, 8)
    """
    last = is_channels_last(call.data_layout)
    x, ins = call.input, call.ins
    attrs = call.param_attr, call.bias_attr
    scaled, shifted = (attr is not None and attr is not False for attr in attrs)
    channels = known_channels(x, last) if scaled or shifted else -1
    if scaled:
        ins["Scale"] = f.weight(call.param_attr, [channels], x.dtype, Constant(1.0))
    if shifted:
        ins["Bias"] = f.bias_parameter(call.bias_attr, [channels], x.dtype)
    outs = {
        "Mean": stopped(f.block.create_var()),
        "Variance": stopped(f.block.create_var()),
        "Y": f.block.create_var(),
    }
    f.into("group_norm", ins, outs, **call.attrs)
    return outs["Y"]


@_norms.signature("instance_norm(input: X, epsilon, param_attr, bias_attr, name)")
def instance_norm(f: LayerBuilder, call: LayerCall) -> Variable:
    """``scale * (input - mean) / sqrt(variance + epsilon) + bias``, for each image of a channel.

    Ulyanov et al., Instance normalization, 2016.

    Args:
        input: [N, C, ...].
        param_attr: of the scale, a number for each channel that starts at 1.
        bias_attr: of the bias, a number for each channel that starts at 0.

    Raises:
        ArgumentError: ``param_attr`` or ``bias_attr`` is False.
        ShapeError: the channels are unknown.

    >>> fluid.layers.instance_norm(fluid.data("x", [None, 3, 8, 8])).shape
    (-1, 3, 8, 8)
    """
    need_parameters("instance_norm", call.param_attr, call.bias_attr)
    channels = known_channels(call.input)
    scale = f.weight(call.param_attr, [channels], call.input.dtype, Constant(1.0))
    bias = f.bias_parameter(call.bias_attr, [channels], call.input.dtype)
    outs = {
        "SavedMean": stopped(f.new_variable()),
        "SavedVariance": stopped(f.new_variable()),
        "Y": f.new_variable(),
    }
    f.into("instance_norm", {**call.ins, "Scale": scale, "Bias": bias}, outs, **call.attrs)
    return outs["Y"]
