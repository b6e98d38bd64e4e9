"""Convolutions and poolings of images."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..initializer import Normal
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .sizes import integer
from .windows import each, is_channels_last, padding_of

Numbers = int | Sequence[int]


@layer(act=True)
def conv2d(
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
    data_format: str = "NCHW",
) -> Variable:
    """Images convolved with filters, plus a bias.

    Args:
        input: images, [N, C, H, W], or [N, H, W, C] with ``data_format`` NHWC.
        num_filters: the channels of the output.
        filter_size: height and width of a filter, or one number for both.
        stride: steps of the filter, vertical and horizontal.
        padding: zeros around the image: a number; two (above and below, left and right); four
            (above, below, left, right); pairs for all four dimensions; "SAME" for an output of
            ``ceil(H / stride)``; "VALID" for none.
        dilation: distances between neighbouring elements of the filter.
        groups: each group of filters sees its part of the channels only; divides both.
        param_attr: of the filters, which start normal with deviation
            ``sqrt(2 / (height * width * C))``.
        bias_attr: of the bias; False for none.
        use_cudnn: False makes a ``depthwise_conv2d`` where there is a group for each channel.
        act: the activation.
        name: of the layer.
        data_format: NCHW or NHWC.

    Returns:
        A variable of shape [N, num_filters, H', W'], or [N, H', W', num_filters].

    Raises:
        ArgumentError: a parameter has none of the forms above, or ``groups`` does not divide the
            channels.
        ShapeError: the input has not 4 dimensions, or its channels are unknown.

    >>> images = fluid.data("images", [None, 3, 32, 32])
    >>> fluid.layers.conv2d(images, num_filters=16, filter_size=3, padding=1, act="relu").shape
    (-1, 16, 32, 32)
    """
    channels_last = is_channels_last(data_format)
    channels = _channels(input, channels_last)
    groups = 1 if groups is None else integer(groups, "groups")
    num_filters = integer(num_filters, "num_filters")
    if groups < 1 or channels % groups:
        raise ArgumentError(
            f"expected groups to divide the channels, got groups={groups} for {channels} channels "
            f"of {input.name!r}"
        )
    depthwise = channels == groups and num_filters % channels == 0 and not use_cudnn
    if depthwise:
        f.layer_type = "depthwise_conv2d"
    size = each(filter_size, "filter_size")
    paddings, algorithm = padding_of(padding, "padding", channels_last)
    filters = f.weight(
        param_attr,
        [num_filters, channels // groups, *size],
        input.dtype,
        Normal(0.0, sqrt(2.0 / (prod(size) * channels)), 0),
    )
    convolve = f.depthwise_conv2d if depthwise else f.conv2d
    out = convolve(
        input,
        filters,
        strides=each(stride, "stride"),
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=each(dilation, "dilation"),
        groups=groups,
        data_format=data_format,
        use_cudnn=use_cudnn,
    )
    return f.bias(out, bias_attr, [num_filters], axis=3 if channels_last else 1)


def _channels(input: Variable, channels_last: bool) -> int:
    """The number of channels of images, which must be known."""
    if input.ndim != 4:
        raise ShapeError(
            f"expected images of 4 dimensions, got {input.name!r} of shape {list(input.shape)}"
        )
    channels = input.shape[3 if channels_last else 1]
    if channels < 1:
        raise ShapeError(
            f"expected the number of channels of {input.name!r} to be known, got shape "
            f"{list(input.shape)} with the channels {'last' if channels_last else 'in dimension 1'}"
        )
    return channels


@layer(act=True)
def conv2d_transpose(
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
    data_format: str = "NCHW",
) -> Variable:
    """The map that takes gradients of a convolution's output back to its input, plus a bias.

    Args:
        input: images, [N, C, H, W], or [N, H, W, C] with ``data_format`` NHWC.
        num_filters: the channels of the output.
        output_size: height and width of the output, where ``stride`` leaves a choice.
        filter_size: height and width of a filter; follows from ``output_size`` when None.
        padding: what is cut off around the output; forms as of ``conv2d``.
        stride: the distances of neighbouring elements of the input in the output.
        dilation: distances between neighbouring elements of the filter.
        groups: each group of filters sees its part of the channels only; divides both.
        param_attr: of the filters.
        bias_attr: of the bias; False for none.
        use_cudnn: False makes a ``depthwise_conv2d_transpose`` where each channel has a filter.
        act: the activation.
        name: of the layer.
        data_format: NCHW or NHWC.

    Returns:
        A variable of shape [N, num_filters, H', W'], or [N, H', W', num_filters]; without
        ``output_size``, ``H' = (H - 1) * stride - above - below + dilation * (height - 1) + 1``.

    Raises:
        ArgumentError: a parameter has none of the forms above, ``groups`` does not divide the
            channels, or neither ``output_size`` nor ``filter_size`` is given.
        ShapeError: the input has not 4 dimensions, or its channels are unknown.

    >>> images = fluid.data("images", [None, 16, 8, 8])
    >>> fluid.layers.conv2d_transpose(images, num_filters=3, filter_size=2, stride=2).shape
    (-1, 3, 16, 16)
    """
    channels_last = is_channels_last(data_format)
    channels = _channels(input, channels_last)
    groups = 1 if groups is None else groups
    if groups < 1 or channels % groups or num_filters % groups:
        raise ArgumentError(
            f"expected groups to divide channels and num_filters, got groups={groups} for "
            f"{channels} channels of {input.name!r} and num_filters={num_filters}"
        )
    depthwise = channels == groups == num_filters and not use_cudnn
    if depthwise:
        f.layer_type = "depthwise_conv2d_transpose"
    strides, dilations = each(stride, "stride"), each(dilation, "dilation")
    paddings, algorithm = padding_of(padding, "padding", channels_last)
    target = [] if output_size is None else each(output_size, "output_size")
    if filter_size is not None:
        size = each(filter_size, "filter_size")
    elif target:
        image = input.shape[1:3] if channels_last else input.shape[2:4]
        size = _filter_size(input, image, target, strides, paddings, dilations)
    else:
        raise ArgumentError("expected output_size or filter_size, got neither")
    filters = f.weight(param_attr, [channels, num_filters // groups, *size], input.dtype)
    transposed = f.depthwise_conv2d_transpose if depthwise else f.conv2d_transpose
    out = transposed(
        input,
        filters,
        output_size=target,
        strides=strides,
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=dilations,
        groups=groups,
        data_format=data_format,
        use_cudnn=use_cudnn,
    )
    return f.bias(out, bias_attr, [num_filters], axis=3 if channels_last else 1)


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
            f"expected filter_size, since height and width of {input.name!r} are not known: its "
            f"shape is {list(input.shape)}"
        )
    cut = (
        [2 * n for n in paddings] if len(paddings) == 2 else [sum(paddings[:2]), sum(paddings[2:])]
    )
    return [
        (out - (size - 1) * step + off - 1) // apart + 1
        for out, size, step, off, apart in zip(target, image, strides, cut, dilations)
    ]


@layer
def pool2d(
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
    data_format: str = "NCHW",
) -> Variable:
    """The maximum or mean of the images within windows, channel by channel.

    Args:
        input: images, [N, C, H, W], or [N, H, W, C] with ``data_format`` NHWC.
        pool_size: height and width of a window, or one number for both.
        pool_type: "max" or "avg".
        pool_stride: steps of the window, vertical and horizontal.
        pool_padding: room around the image; forms as of ``conv2d``.
        global_pooling: one window that holds the whole image, whatever its size.
        use_cudnn: accepted, without meaning here.
        ceil_mode: keep windows that reach over the end of the image.
        name: of the layer.
        exclusive: means leave the room around the image out.
        data_format: NCHW or NHWC.

    Returns:
        A variable of shape [N, C, H', W'], or [N, H', W', C].

    Raises:
        ArgumentError: a parameter has none of the forms above.

    >>> images = fluid.data("images", [None, 3, 32, 32])
    >>> fluid.layers.pool2d(images, pool_size=2, pool_stride=2).shape
    (-1, 3, 16, 16)
    """
    _check_pool_type(pool_type)
    if not global_pooling and min(each(pool_size, "pool_size")) < 1:
        raise ArgumentError(
            f"expected a positive pool_size, or global_pooling=True, got pool_size={pool_size!r}"
        )
    paddings, algorithm = padding_of(pool_padding, "pool_padding", is_channels_last(data_format))
    if algorithm == "VALID" and ceil_mode:
        raise ArgumentError("ceil_mode=True keeps windows that pool_padding='VALID' leaves out")
    return f.pool2d(
        input,
        pooling_type=pool_type,
        ksize=each(pool_size, "pool_size"),
        global_pooling=global_pooling,
        strides=each(pool_stride, "pool_stride"),
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


@layer("pool2d")
def adaptive_pool2d(
    f: LayerBuilder,
    input: Variable,
    pool_size: Numbers,
    pool_type: str = "max",
    require_index: bool = False,
    name: str | None = None,
) -> Variable | tuple[Variable, Variable]:
    """The maximum or mean of as many windows as the output is to have, whatever the image's size.

    Window i of n begins at ``floor(i * H / n)`` and ends before ``ceil((i + 1) * H / n)``.

    Args:
        input: images, [N, C, H, W].
        pool_size: height and width of the output, or one number for both.
        pool_type: "max" or "avg".
        require_index: also give where each maximum was, as ``row * W + column``.
        name: of the layer.

    Returns:
        A variable of shape [N, C, *pool_size]; with ``require_index`` the places too.

    Raises:
        ArgumentError: a parameter has none of the forms above, or places of means are asked for.

    >>> images = fluid.data("images", [None, 3, 30, 40])
    >>> fluid.layers.adaptive_pool2d(images, pool_size=[3, 2], pool_type="avg").shape
    (-1, 3, 3, 2)
    """
    _check_pool_type(pool_type)
    size = each(pool_size, "pool_size")
    if not require_index:
        return f.pool2d(input, pooling_type=pool_type, ksize=size, adaptive=True)
    if pool_type == "avg":
        raise ArgumentError("require_index=True takes pool_type='max': a mean has no place")
    f.layer_type = "max_pool2d_with_index"
    return f.max_pool2d_with_index(input, ksize=size, adaptive=True)
