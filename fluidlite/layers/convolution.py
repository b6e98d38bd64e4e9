"""What convolutions and poolings of images and of volumes have in common."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..initializer import Normal
from ..ir.variable import Variable
from .layer import LayerBuilder
from .sizes import integer
from .windows import each, is_channels_last, known_channels, padding_of

Numbers = int | Sequence[int]

#: dimensions of a window -> the data formats, and what has them
_KINDS = {2: (("NCHW", "NHWC"), "images"), 3: (("NCDHW", "NDHWC"), "volumes")}


def channels_of(input: Variable, count: int = 2, channels_last: bool = False) -> int:
    """The number of channels of images or volumes, which must be known.

    Args:
        input: the images.
        count: how many dimensions a window has.
        channels_last: whether the channels are the last dimension.

    Raises:
        ShapeError: there is another number of dimensions, or the channels are unknown.
    """
    if input.ndim != count + 2:
        raise ShapeError(
            f"expected {_KINDS[count][1]} of {count + 2} dimensions, got {input.name!r} of shape "
            f"{list(input.shape)}"
        )
    return known_channels(input, channels_last)


def groups_of(input: Variable, channels: int, groups: int | None) -> int:
    """The number of groups, 1 when None.

    Args:
        input: the images, for messages.
        channels: how many they have.
        groups: what the user gave.

    Raises:
        ArgumentError: it does not divide the channels.
    """
    groups = 1 if groups is None else integer(groups, "groups")
    if groups < 1 or channels % groups:
        raise ArgumentError(
            f"expected groups to divide the channels, got groups={groups} for {channels} channels "
            f"of {input.name!r}"
        )
    return groups


def filters_of(
    f: LayerBuilder,
    input: Variable,
    attr: Any,
    num_filters: int,
    channels: int,
    groups: int,
    size: Sequence[int],
) -> Variable | None:
    """New filters of a convolution: normal numbers that keep the size of what goes through; None
    when ``attr`` is False.

    Args:
        f: the layer.
        input: the images, whose element type they have.
        attr: of the parameter.
        num_filters: the channels of the output.
        channels: those of the input.
        groups: into how many groups both are cut.
        size: of a filter.
    """
    start = Normal(0.0, sqrt(2.0 / (prod(size) * channels)), 0)
    return f.weight(attr, [num_filters, channels // groups, *size], input.dtype, start)


def convolved(
    f: LayerBuilder,
    count: int,
    input: Variable,
    num_filters: int,
    filter_size: Numbers,
    stride: Numbers,
    padding: Any,
    dilation: Numbers,
    groups: int | None,
    param_attr: Any,
    bias_attr: Any,
    use_cudnn: bool,
    data_format: str,
) -> Variable:
    """A convolution with a bias; arguments as of ``conv2d``, with the dimensions of a window."""
    last = is_channels_last(data_format, _KINDS[count][0])
    channels = channels_of(input, count, last)
    each_alone = channels == groups  # not where groups is None: names of parameters follow from it
    groups, num_filters = groups_of(input, channels, groups), integer(num_filters, "num_filters")
    kind = f"conv{count}d"
    if count == 2 and each_alone and num_filters % channels == 0 and not use_cudnn:
        kind = f.layer_type = "depthwise_conv2d"
    size = each(filter_size, "filter_size", count)
    paddings, algorithm = padding_of(padding, "padding", last, count)
    out = getattr(f, kind)(
        input,
        filters_of(f, input, param_attr, num_filters, channels, groups, size),
        strides=each(stride, "stride", count),
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=each(dilation, "dilation", count),
        groups=groups,
        data_format=data_format,
        use_cudnn=use_cudnn,
    )
    return f.bias(out, bias_attr, [num_filters], axis=count + 1 if last else 1)


def transposed(
    f: LayerBuilder,
    count: int,
    input: Variable,
    num_filters: int,
    output_size: Numbers | None,
    filter_size: Numbers | None,
    padding: Any,
    stride: Numbers,
    dilation: Numbers,
    groups: int | None,
    param_attr: Any,
    bias_attr: Any,
    use_cudnn: bool,
    data_format: str,
) -> Variable:
    """A transposed convolution with a bias; arguments as of ``conv2d_transpose``, with the
    dimensions of a window.
    """
    last = is_channels_last(data_format, _KINDS[count][0])
    channels = channels_of(input, count, last)
    each_alone = channels == groups == num_filters  # as in convolved
    groups = groups_of(input, channels, groups)
    if num_filters % groups:
        raise ArgumentError(
            f"expected groups to divide num_filters, got groups={groups} and "
            f"num_filters={num_filters}"
        )
    kind = f"conv{count}d_transpose"
    if count == 2 and each_alone and not use_cudnn:
        kind = f.layer_type = "depthwise_conv2d_transpose"
    strides, dilations = each(stride, "stride", count), each(dilation, "dilation", count)
    paddings, algorithm = padding_of(padding, "padding", last, count)
    target = [] if output_size is None else each(output_size, "output_size", count)
    if filter_size is not None:
        size = each(filter_size, "filter_size", count)
    elif target:
        size = _filter_size(input, last, target, strides, paddings, dilations)
    else:
        raise ArgumentError("expected output_size or filter_size, got neither")
    out = getattr(f, kind)(
        input,
        f.weight(param_attr, [channels, num_filters // groups, *size], input.dtype),
        output_size=target,
        strides=strides,
        paddings=paddings,
        padding_algorithm=algorithm,
        dilations=dilations,
        groups=groups,
        data_format=data_format if count == 2 else "NHWC" if last else "NCHW",  # as fluid has it
        use_cudnn=use_cudnn,
    )
    return f.bias(out, bias_attr, [num_filters], axis=count + 1 if last else 1)


def _filter_size(
    input: Variable,
    channels_last: bool,
    target: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:
    """The filter that makes an output of size ``target``."""
    count = len(target)
    image = input.shape[1:-1] if channels_last else input.shape[2:]
    if -1 in image:
        raise ArgumentError(
            f"expected filter_size, since the sizes of {input.name!r} are not known: its shape is "
            f"{list(input.shape)}"
        )
    if len(paddings) == count:
        paddings = [n for n in paddings for _ in range(2)]
    return [
        (out - (size - 1) * step + before + after - 1) // apart + 1
        for out, size, step, before, after, apart in zip(
            target, image, strides, paddings[::2], paddings[1::2], dilations
        )
    ]


def pooled(
    f: LayerBuilder,
    count: int,
    input: Variable,
    pool_size: Numbers,
    pool_type: str,
    pool_stride: Numbers,
    pool_padding: Any,
    global_pooling: bool,
    use_cudnn: bool,
    ceil_mode: bool,
    exclusive: bool,
    data_format: str,
) -> Variable:
    """Maxima or means of windows; arguments as of ``pool2d``, with the dimensions of a window."""
    _check_pool_type(pool_type)
    size = each(pool_size, "pool_size", count)
    if not global_pooling and min(size) < 1:
        raise ArgumentError(
            f"expected a positive pool_size, or global_pooling=True, got pool_size={pool_size!r}"
        )
    last = is_channels_last(data_format, _KINDS[count][0])
    paddings, algorithm = padding_of(pool_padding, "pool_padding", last, count)
    if algorithm == "VALID" and ceil_mode:
        raise ArgumentError("ceil_mode=True keeps windows that pool_padding='VALID' leaves out")
    out: Variable = getattr(f, f"pool{count}d")(
        input,
        pooling_type=pool_type,
        ksize=size,
        global_pooling=global_pooling,
        strides=each(pool_stride, "pool_stride", count),
        paddings=paddings,
        padding_algorithm=algorithm,
        ceil_mode=ceil_mode,
        exclusive=exclusive,
        data_format=data_format,
        use_cudnn=use_cudnn,
    )
    return out


def _check_pool_type(pool_type: str) -> None:
    if pool_type not in ("max", "avg"):
        raise ArgumentError(f"expected pool_type 'max' or 'avg', got {pool_type!r}")


def adaptively_pooled(
    f: LayerBuilder,
    count: int,
    input: Variable,
    pool_size: Numbers,
    pool_type: str,
    require_index: bool,
) -> Any:
    """Maxima or means of as many windows as the output has elements; arguments as of
    ``adaptive_pool2d``, with the dimensions of a window.
    """
    _check_pool_type(pool_type)
    size = each(pool_size, "pool_size", count)
    kind = f"pool{count}d"
    if pool_type == "avg":
        if require_index:
            raise ArgumentError("require_index=True takes pool_type='max': a mean has no place")
        return getattr(f, kind)(input, pooling_type=pool_type, ksize=size, adaptive=True)
    kind = f.layer_type = f"max_{kind}_with_index"
    found = getattr(f, kind)(input, ksize=size, adaptive=True)
    return found if require_index else found[0]
