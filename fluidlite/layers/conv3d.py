"""Convolutions and poolings of volumes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..initializer import Normal
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .windows import each, is_channels_last, padding_of

Numbers = int | Sequence[int]
FORMATS = ("NCDHW", "NDHWC")


@layer(act=True)
def conv3d(
    f: LayerBuilder,
    input: Variable,
    num_filters: int,
    filter_size: Numbers,
    stride: Numbers = 1,
    padding: Any = 0,
    dilation: Numbers = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Variable:
    """Volumes convolved with filters, plus a bias.

    Args:
        input: volumes, [N, C, D, H, W], or [N, D, H, W, C] with ``data_format`` NDHWC.
        num_filters: the channels of the output.
        filter_size: depth, height and width of a filter, or one number for all.
        stride: steps of the filter along each dimension.
        padding: zeros around the volume: a number; three; six (before and after each dimension);
            pairs for all five dimensions; "SAME" for an output of ``ceil(D / stride)``; "VALID"
            for none.
        dilation: distances between neighbouring elements of the filter.
        groups: each group of filters sees its part of the channels only; divides both.
        param_attr: of the filters, which start normal with deviation
            ``sqrt(2 / (depth * height * width * C))``.
        bias_attr: of the bias; False for none.
        use_cudnn: accepted, without meaning here.
        act: the activation.
        name: of the layer.
        data_format: NCDHW or NDHWC.

    Returns:
        A variable of shape [N, num_filters, D', H', W'], or with the channels last.

    Raises:
        ArgumentError: a parameter has none of the forms above, or ``groups`` does not divide the
            channels.
        ShapeError: the input has not 5 dimensions, or its channels are unknown.

    >>> volumes = fluid.data("volumes", [None, 1, 16, 32, 32])
    >>> fluid.layers.conv3d(volumes, num_filters=8, filter_size=3, padding=1).shape
    (-1, 8, 16, 32, 32)
    """
    channels_last = is_channels_last(data_format, FORMATS)
    channels = _channels(input, channels_last)
    groups = _groups(input, channels, groups)
    size = each(filter_size, "filter_size", 3)
    paddings, algorithm = padding_of(padding, "padding", channels_last, 3)
    filters = f.weight(
        param_attr,
        [num_filters, channels // groups, *size],
        input.dtype,
        Normal(0.0, sqrt(2.0 / (prod(size) * channels)), 0),
    )
    out = f.conv3d(
        input,
        filters,
        strides=each(stride, "stride", 3),
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=each(dilation, "dilation", 3),
        groups=groups,
        data_format=data_format,
        use_cudnn=use_cudnn,
    )
    return f.bias(out, bias_attr, [num_filters], axis=4 if channels_last else 1)


def _channels(input: Variable, channels_last: bool) -> int:
    """The number of channels of volumes, which must be known."""
    if input.ndim != 5:
        raise ShapeError(
            f"expected volumes of 5 dimensions, got {input.name!r} of shape {list(input.shape)}"
        )
    channels = input.shape[4 if channels_last else 1]
    if channels < 1:
        raise ShapeError(
            f"expected the number of channels of {input.name!r} to be known, got shape "
            f"{list(input.shape)} with the channels {'last' if channels_last else 'in dimension 1'}"
        )
    return channels


def _groups(input: Variable, channels: int, groups: int | None) -> int:
    """The number of groups, which divide the channels."""
    groups = 1 if groups is None else groups
    if groups < 1 or channels % groups:
        raise ArgumentError(
            f"expected groups to divide the channels, got groups={groups} for {channels} channels "
            f"of {input.name!r}"
        )
    return groups


@layer(act=True)
def conv3d_transpose(
    f: LayerBuilder,
    input: Variable,
    num_filters: int,
    output_size: Numbers | None = None,
    filter_size: Numbers | None = None,
    padding: Any = 0,
    stride: Numbers = 1,
    dilation: Numbers = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Variable:
    """The map that takes gradients of a convolution's output back to its input, plus a bias.

    Args:
        input: volumes, [N, C, D, H, W], or [N, D, H, W, C] with ``data_format`` NDHWC.
        num_filters: the channels of the output.
        output_size: depth, height and width of the output, where ``stride`` leaves a choice.
        filter_size: depth, height and width of a filter; follows from ``output_size`` when None.
        padding: what is cut off around the output; forms as of ``conv3d``.
        stride: the distances of neighbouring elements of the input in the output.
        dilation: distances between neighbouring elements of the filter.
        groups: each group of filters sees its part of the channels only; divides both.
        param_attr: of the filters.
        bias_attr: of the bias; False for none.
        use_cudnn: accepted, without meaning here.
        act: the activation.
        name: of the layer.
        data_format: NCDHW or NDHWC.

    Returns:
        A variable of shape [N, num_filters, D', H', W'], or with the channels last.

    Raises:
        ArgumentError: a parameter has none of the forms above, ``groups`` does not divide the
            channels, or neither ``output_size`` nor ``filter_size`` is given.
        ShapeError: the input has not 5 dimensions, or its channels are unknown.

    >>> volumes = fluid.data("volumes", [None, 8, 4, 4, 4])
    >>> fluid.layers.conv3d_transpose(volumes, num_filters=3, filter_size=2, stride=2).shape
    (-1, 3, 8, 8, 8)
    """
    channels_last = is_channels_last(data_format, FORMATS)
    channels = _channels(input, channels_last)
    groups = _groups(input, channels, groups)
    if num_filters % groups:
        raise ArgumentError(
            f"expected groups to divide num_filters, got groups={groups} and "
            f"num_filters={num_filters}"
        )
    strides, dilations = each(stride, "stride", 3), each(dilation, "dilation", 3)
    paddings, algorithm = padding_of(padding, "padding", channels_last, 3)
    target = [] if output_size is None else each(output_size, "output_size", 3)
    if filter_size is not None:
        size = each(filter_size, "filter_size", 3)
    elif target:
        image = input.shape[1:4] if channels_last else input.shape[2:5]
        size = _filter_size(input, image, target, strides, paddings, dilations)
    else:
        raise ArgumentError("expected output_size or filter_size, got neither")
    filters = f.weight(param_attr, [channels, num_filters // groups, *size], input.dtype)
    out = f.conv3d_transpose(
        input,
        filters,
        output_size=target,
        strides=strides,
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=dilations,
        groups=groups,
        data_format="NHWC" if channels_last else "NCHW",
        use_cudnn=use_cudnn,
    )
    return f.bias(out, bias_attr, [num_filters], axis=4 if channels_last else 1)


def _filter_size(
    input: Variable,
    image: Sequence[int],
    target: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:
    """The filter that makes an output of size ``target``."""
    if -1 in image:
        raise ArgumentError(
            f"expected filter_size, since the sizes of {input.name!r} are not known: its shape is "
            f"{list(input.shape)}"
        )
    cut = (
        [2 * n for n in paddings]
        if len(paddings) == 3
        else [sum(paddings[i : i + 2]) for i in (0, 2, 4)]
    )
    return [
        (out - (size - 1) * step + off - 1) // apart + 1
        for out, size, step, off, apart in zip(target, image, strides, cut, dilations)
    ]


@layer
def pool3d(
    f: LayerBuilder,
    input: Variable,
    pool_size: Numbers = -1,
    pool_type: str = "max",
    pool_stride: Numbers = 1,
    pool_padding: Any = 0,
    global_pooling: bool = False,
    use_cudnn: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
    exclusive: bool = True,
    data_format: str = "NCDHW",
) -> Variable:
    """The maximum or mean of the volumes within windows, channel by channel.

    Args:
        input: volumes, [N, C, D, H, W], or [N, D, H, W, C] with ``data_format`` NDHWC.
        pool_size: depth, height and width of a window, or one number for all.
        pool_type: "max" or "avg".
        pool_stride: steps of the window along each dimension.
        pool_padding: room around the volume; forms as of ``conv3d``.
        global_pooling: one window that holds the whole volume, whatever its size.
        use_cudnn: accepted, without meaning here.
        ceil_mode: keep windows that reach over the end of the volume.
        name: of the layer.
        exclusive: means leave the room around the volume out.
        data_format: NCDHW or NDHWC.

    Returns:
        A variable of shape [N, C, D', H', W'], or with the channels last.

    Raises:
        ArgumentError: a parameter has none of the forms above.

    >>> volumes = fluid.data("volumes", [None, 3, 8, 32, 32])
    >>> fluid.layers.pool3d(volumes, pool_size=2, pool_stride=2).shape
    (-1, 3, 4, 16, 16)
    """
    _check_pool_type(pool_type)
    size = each(pool_size, "pool_size", 3)
    if not global_pooling and min(size) < 1:
        raise ArgumentError(
            f"expected a positive pool_size, or global_pooling=True, got pool_size={pool_size!r}"
        )
    channels_last = is_channels_last(data_format, FORMATS)
    paddings, algorithm = padding_of(pool_padding, "pool_padding", channels_last, 3)
    if algorithm == "VALID" and ceil_mode:
        raise ArgumentError("ceil_mode=True keeps windows that pool_padding='VALID' leaves out")
    return f.pool3d(
        input,
        pooling_type=pool_type,
        ksize=size,
        global_pooling=global_pooling,
        strides=each(pool_stride, "pool_stride", 3),
        paddings=paddings,
        padding_algorithm=algorithm,
        ceil_mode=ceil_mode,
        exclusive=exclusive,
        data_format=data_format,
        use_cudnn=use_cudnn,
    )


def _check_pool_type(pool_type: str) -> None:
    if pool_type not in ("max", "avg"):
        raise ArgumentError(f"expected pool_type 'max' or 'avg', got {pool_type!r}")


@layer("pool3d")
def adaptive_pool3d(
    f: LayerBuilder,
    input: Variable,
    pool_size: Numbers,
    pool_type: str = "max",
    require_index: bool = False,
    name: str | None = None,
) -> Variable | tuple[Variable, Variable]:
    """The maximum or mean of as many windows as the output is to have, whatever the volume's size.

    Window i of n begins at ``floor(i * D / n)`` and ends before ``ceil((i + 1) * D / n)``.

    Args:
        input: volumes, [N, C, D, H, W].
        pool_size: depth, height and width of the output, or one number for all.
        pool_type: "max" or "avg".
        require_index: also give where each maximum was, as ``(depth * H + row) * W + column``.
        name: of the layer.

    Returns:
        A variable of shape [N, C, *pool_size]; with ``require_index`` the places too.

    Raises:
        ArgumentError: a parameter has none of the forms above, or places of means are asked for.

    >>> volumes = fluid.data("volumes", [None, 3, 8, 30, 40])
    >>> fluid.layers.adaptive_pool3d(volumes, pool_size=[4, 3, 2], pool_type="avg").shape
    (-1, 3, 4, 3, 2)
    """
    _check_pool_type(pool_type)
    size = each(pool_size, "pool_size", 3)
    if not require_index:
        return f.pool3d(input, pooling_type=pool_type, ksize=size, adaptive=True)
    if pool_type == "avg":
        raise ArgumentError("require_index=True takes pool_type='max': a mean has no place")
    f.layer_type = "max_pool3d_with_index"
    return f.max_pool3d_with_index(input, ksize=size, adaptive=True)
