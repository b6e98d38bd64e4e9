"""Rescaling by channels, by counted sums, by neighbouring channels, and by the norm of a matrix."""

from __future__ import annotations

from math import prod
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..initializer import Constant, Normal
from ..ir.variable import Variable
from ..param_attr import ParamAttr
from .layer import LayerBuilder, stopped
from .norm import NORMS, need_parameters
from .operator_layers import LayerCall, OperatorLayers, operator_layer
from .windows import is_channels_last, known_channels


@operator_layer.signature("""
    affine_channel(x, scale=None, bias=None, data_layout="NCHW", name, act)
""")
def affine_channel(f: LayerBuilder, call: LayerCall) -> Variable:
    """``x * scale + bias``, for each channel: what is left of a batch norm that does not learn.

    Args:
        x: [N, C, ...], or [N, ..., C].
        scale: a number for each channel; needed.
        bias: a number for each channel; needed.
        data_layout: NCHW, or NHWC for channels in the last dimension.

    Returns:
        A variable of the shape of ``x``.

    Raises:
        ArgumentError: ``scale`` or ``bias`` is missing.

    >>> x, scale = fluid.data("x", [None, 3, 8, 8]), fluid.data("scale", [3])
    >>> fluid.layers.affine_channel(x, scale, fluid.data("bias", [3])).shape
    (-1, 3, 8, 8)
    """
    for each, what in ((call.scale, "scale"), (call.bias, "bias")):
        if each is None:
            raise ArgumentError(f"expected {what} of affine_channel to be a variable, got None")
    return f.affine_channel(call.x, call.scale, call.bias, **call.attrs)


@operator_layer.signature("""
    data_norm(input: X, act, epsilon=1e-05, param_attr: Mapping[str, float] | None, data_layout,
        in_place: bool = False, name, moving_mean_name: str | None,
        moving_variance_name: str | None, do_model_average_for_mean_and_var: bool = True,
        slot_dim, sync_stats, summary_decay_rate, enable_scale_and_shift)
""")
def data_norm(f: LayerBuilder, call: LayerCall) -> Variable:
    """``(input - mean) * scale``, for each channel, by sums over all data that were counted so far.

    The sums are parameters, called ``<name>.batch_size``, ``<name>.batch_sum`` and
    ``<name>.batch_square_sum``.  Nothing flows to them: who counts sets them.

    Args:
        input: [N, C], or images with any number of dimensions after the channels, or before them.
        epsilon: accepted, without meaning.
        param_attr: first values: "batch_size" (1e4), "batch_sum" (0), "batch_square" (1e4); with
            ``enable_scale_and_shift`` also "scale_w" (1) and "bias" (0).
        data_layout: NCHW, or NHWC for channels in the last dimension.
        in_place: write to ``input``.
        name: of the layer; "dn" when None, as in fluid.
        moving_mean_name, moving_variance_name, do_model_average_for_mean_and_var: accepted, without
            meaning.
        slot_dim: above 0, rows consist of parts of so many numbers, and a part whose first number
            is 0 stays 0.
        sync_stats, summary_decay_rate: accepted, without meaning: there is one process.
        enable_scale_and_shift: multiply by a weight and add a bias that are learnt, called
            ``<name>.scale_w`` and ``<name>.bias``.

    Returns:
        A variable of the shape of ``input``.

    Raises:
        ShapeError: the channels are unknown.

    >>> fluid.layers.data_norm(fluid.data("x", [None, 3]), name="sums").shape
    (-1, 3)
    """
    last = is_channels_last(call.data_layout)
    channels = known_channels(call.input, last)
    first = dict(_FIRST)
    for key, value in (call.param_attr or {}).items():
        if key not in first:
            raise ArgumentError(
                f"expected param_attr to have keys among {', '.join(first)}, got {key!r}"
            )
        first[key] = float(value)

    stem = call.name or "dn"

    def parameter(slot: str, key: str) -> Variable | None:
        attr = ParamAttr(name=f"{stem}.{slot}", initializer=Constant(first[key]))
        return f.weight(attr, [channels], call.input.dtype)

    ins: dict[str, Any] = {
        **call.ins,
        "BatchSize": parameter("batch_size", "batch_size"),
        "BatchSum": parameter("batch_sum", "batch_sum"),
        "BatchSquareSum": parameter("batch_square_sum", "batch_square"),
    }
    if call.enable_scale_and_shift:
        ins.update(scale_w=parameter("scale_w", "scale_w"), bias=parameter("bias", "bias"))
    means, scales = (stopped(f.block.create_var()) for _ in range(2))
    out = call.input if call.in_place else f.block.create_var()
    f.into("data_norm", ins, {"Y": out, "Means": means, "Scales": scales}, **call.attrs)
    return out


_FIRST = {"batch_size": 1e4, "batch_sum": 0.0, "batch_square": 1e4, "scale_w": 1.0, "bias": 0.0}


@OperatorLayers(NORMS).signature("""
    inplace_abn(input: X, act: str | None, is_test, momentum, epsilon, param_attr, bias_attr,
        data_layout, name, moving_mean_name: str | None, moving_variance_name: str | None,
        do_model_average_for_mean_and_var: bool = True, use_global_stats,
        act_alpha: alpha = 1.0)
""")
def inplace_abn(f: LayerBuilder, call: LayerCall) -> Variable:
    """``input`` normalised by ``batch_norm`` and activated, in its own variable.

    Args:
        input: as of ``batch_norm``; its variable gets the result.
        act: "leaky_relu", "elu" or "identity"; None is as "identity".
        act_alpha: the slope of "leaky_relu" below 0, or the scale of "elu" there.

    Returns:
        ``input``.

    Raises:
        ArgumentError: the activation is none of these, or ``param_attr`` or ``bias_attr`` is False.
        ShapeError: the channels are unknown.

    >>> fluid.layers.inplace_abn(fluid.data("x", [None, 3, 8, 8]), act="elu").name
    'x'
    """
    if call.act not in (None, "identity", "leaky_relu", "elu"):
        raise ArgumentError(f"expected act 'leaky_relu', 'elu' or 'identity', got {call.act!r}")
    need_parameters("inplace_abn", call.param_attr, call.bias_attr)
    channels = known_channels(call.input, is_channels_last(call.data_layout))

    def running(name: str | None, start: float) -> Variable | None:
        attr = ParamAttr(
            name=name,
            initializer=Constant(start),
            trainable=False,
            do_model_average=call.do_model_average_for_mean_and_var,
        )
        return f.weight(attr, [channels], call.input.dtype, stop_gradient=True)

    scale = f.weight(call.param_attr, [channels], call.input.dtype, Constant(1.0))
    bias = f.bias_parameter(call.bias_attr, [channels], call.input.dtype)
    mean, variance = running(call.moving_mean_name, 0.0), running(call.moving_variance_name, 1.0)
    saved = {slot: stopped(f.new_variable()) for slot in ("SavedMean", "SavedVariance")}
    f.into(
        "inplace_abn",
        {**call.ins, "Scale": scale, "Bias": bias, "Mean": mean, "Variance": variance},
        {"Y": call.input, "MeanOut": mean, "VarianceOut": variance, **saved},
        activation=call.act or "",
        **call.attrs,
    )
    return call.input


@operator_layer.signature("""
    lrn(input: X, n, k=1.0, alpha, beta, name, data_format="NCHW")
""")
def lrn(f: LayerBuilder, call: LayerCall) -> Variable:
    """``input`` over a power of the squares of its neighbours in other channels.

    ``input / (k + alpha * sum of squares over n channels) ** beta``: Krizhevsky et al., ImageNet
    classification with deep convolutional neural networks, NIPS 2012.

    Args:
        input: images, [N, C, H, W], or [N, H, W, C] with ``data_format`` NHWC.
        n: how many channels are added up, half of them on each side; odd.
        k, alpha, beta: numbers of the formula.
        data_format: NCHW or NHWC.

    Returns:
        A variable of the shape of ``input``.

    Raises:
        ArgumentError: ``data_format`` is none of the two.

    >>> fluid.layers.lrn(fluid.data("x", [None, 6, 8, 8]), n=3).shape
    (-1, 6, 8, 8)
    """
    is_channels_last(call.data_format)
    middle, out = stopped(f.new_variable()), f.new_variable()
    f.into("lrn", call.ins, {"Out": out, "MidOut": middle}, **call.attrs)
    return out


@operator_layer.signature("spectral_norm(weight, dim, power_iters, eps, name)")
def spectral_norm(f: LayerBuilder, call: LayerCall) -> Variable:
    """``weight`` over its largest singular value, found by power iteration.

    Miyato et al., Spectral normalization for generative adversarial networks, ICLR 2018.  The
    singular vectors that the iteration starts from are parameters that are not learnt.

    Args:
        weight: a matrix, or a tensor that ``dim`` makes one; of known shape.
        dim: the dimension that numbers the rows of the matrix.
        power_iters: how often the singular vectors are improved.
        eps: added to norms that are divided by.

    Returns:
        A variable of the shape of ``weight``.

    Raises:
        ShapeError: a size is unknown.

    >>> fluid.layers.spectral_norm(fluid.data("weight", [4, 3]), power_iters=2).shape
    (4, 3)
    """
    weight, shape = call.weight, call.weight.shape
    if -1 in shape:
        raise ShapeError(f"expected the shape of {weight.name!r} to be known, got {list(shape)}")
    if not 0 <= call.dim < weight.ndim:
        raise ArgumentError(f"expected dim in [0, {weight.ndim}), got {call.dim}")
    rows = shape[call.dim]
    vectors = [
        f.weight(None, [size], weight.dtype, Normal(0.0, 1.0), stop_gradient=True)
        for size in (rows, prod(shape) // rows)
    ]
    out = f.block.create_var()
    f.into(
        "spectral_norm", {**call.ins, "U": vectors[0], "V": vectors[1]}, {"Out": out}, **call.attrs
    )
    return out
