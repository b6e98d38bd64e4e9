"""Normalisations: values less their mean, divided by their deviation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import DType
from ..initializer import Constant
from ..ir.variable import Variable
from ..param_attr import ParamAttr
from .layer import LAYERS, LayerBuilder, is_variable, layer, stopped
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


@layer(act=True, family=NORMS)
def batch_norm(
    f: LayerBuilder,
    input: Variable,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    param_attr: Attr = None,
    bias_attr: Attr = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Variable:
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
    need_parameters("batch_norm", param_attr, bias_attr)
    last = is_channels_last(data_layout)
    channels = known_channels(input, last)
    dtype = DType.FP32 if input.dtype is DType.FP16 else input.dtype
    scale = f.weight(param_attr, [channels], dtype, Constant(1.0))
    bias = f.bias_parameter(bias_attr, [channels], dtype)

    mean, variance = (
        f.weight(attr, [channels], dtype, stop_gradient=True)
        for attr in running_attrs(
            moving_mean_name, moving_variance_name, do_model_average_for_mean_and_var
        )
    )
    ins: dict[str, Any] = {
        "X": input,
        "Scale": scale,
        "Bias": bias,
        "Mean": mean,
        "Variance": variance,
    }
    more = {}
    if is_variable(momentum):
        ins["MomentumTensor"] = momentum
    else:
        more["momentum"] = momentum
    saved = {slot: stopped(f.new_variable()) for slot in ("SavedMean", "SavedVariance")}
    out = input if in_place else f.new_variable()
    outs = {
        **saved,
        "Y": out,
        "MeanOut": mean,
        "VarianceOut": variance,
    }
    f.into(
        "batch_norm",
        ins,
        outs,
        epsilon=epsilon,
        is_test=is_test,
        data_layout=data_layout,
        use_global_stats=use_global_stats,
        **more,
    )
    return out


@layer(act=True, family=NORMS)
def layer_norm(
    f: LayerBuilder,
    input: Variable,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-05,
    param_attr: Attr = None,
    bias_attr: Attr = None,
    act: str | None = None,
    name: str | None = None,
) -> Variable:
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
        ArgumentError: an attribute is False where its parameter is asked for.
        ShapeError: a size within a row is unknown.

    >>> fluid.layers.layer_norm(fluid.data("x", [None, 3, 4])).shape
    (-1, 3, 4)
    """
    row = input.shape[begin_norm_axis:]
    if (scale or shift) and -1 in row:
        raise ShapeError(
            f"expected the sizes of {input.name!r} from dimension {begin_norm_axis} on to be "
            f"known, since scale and bias have a number for each element; got shape "
            f"{list(input.shape)}"
        )
    ins: dict[str, Any] = {"X": input}
    need_where_asked(scale, param_attr, shift, bias_attr)
    if scale:
        ins["Scale"] = f.weight(param_attr, [prod(row)], input.dtype, Constant(1.0))
    if shift:
        ins["Bias"] = f.bias_parameter(bias_attr, [prod(row)], input.dtype)
    outs = {
        "Mean": stopped(f.new_variable()),
        "Variance": stopped(f.new_variable()),
        "Y": f.new_variable(),
    }
    f.into("layer_norm", ins, outs, epsilon=epsilon, begin_norm_axis=begin_norm_axis)
    return outs["Y"]


@layer(act=True, family=NORMS)
def group_norm(
    f: LayerBuilder,
    input: Variable,
    groups: int,
    epsilon: float = 1e-05,
    param_attr: Attr = None,
    bias_attr: Attr = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Variable:
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
    last = is_channels_last(data_layout)
    ins: dict[str, Any] = {"X": input}
    scaled, shifted = (attr is not None and attr is not False for attr in (param_attr, bias_attr))
    channels = known_channels(input, last) if scaled or shifted else -1
    if scaled:
        ins["Scale"] = f.weight(param_attr, [channels], input.dtype, Constant(1.0))
    if shifted:
        ins["Bias"] = f.bias_parameter(bias_attr, [channels], input.dtype)
    outs = {
        "Mean": stopped(f.block.create_var()),
        "Variance": stopped(f.block.create_var()),
        "Y": f.block.create_var(),
    }
    f.into("group_norm", ins, outs, epsilon=epsilon, groups=groups, data_layout=data_layout)
    return outs["Y"]


@layer(family=NORMS)
def instance_norm(
    f: LayerBuilder,
    input: Variable,
    epsilon: float = 1e-05,
    param_attr: Attr = None,
    bias_attr: Attr = None,
    name: str | None = None,
) -> Variable:
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
    need_parameters("instance_norm", param_attr, bias_attr)
    channels = known_channels(input)
    scale = f.weight(param_attr, [channels], input.dtype, Constant(1.0))
    bias = f.bias_parameter(bias_attr, [channels], input.dtype)
    outs = {
        "SavedMean": stopped(f.new_variable()),
        "SavedVariance": stopped(f.new_variable()),
        "Y": f.new_variable(),
    }
    f.into("instance_norm", {"X": input, "Scale": scale, "Bias": bias}, outs, epsilon=epsilon)
    return outs["Y"]
