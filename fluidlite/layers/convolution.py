"""What convolutions and poolings of images and of volumes have in common."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from ..errors import ArgumentError, ShapeError
from ..ground.callsite import warn
from ..initializer import Normal
from ..ir.variable import Variable
from ..opdef.windows import WindowArguments
from .layer import LayerBuilder
from .sizes import integer
from .windows import each, known_channels

Numbers = int | Sequence[int]
#: around images: numbers, pairs of them, or "SAME" or "VALID"
Padding = int | Sequence[int] | Sequence[Sequence[int]] | str

#: dimensions of a window -> what it moves over
_KINDS = {2: "images", 3: "volumes"}


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
            f"expected {_KINDS[count]} of {count + 2} dimensions, got {input.name!r} of shape "
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
    input: Variable,
    windows: WindowArguments,
    num_filters: int,
    groups: int | None,
    parameters: tuple[Any, Any],
    use_cudnn: bool,
) -> Variable:
    """A convolution with a bias.

    Args:
        f: the layer.
        input, num_filters, groups, use_cudnn: as of ``conv2d``.
        windows: the filters, and how they move.
        parameters: the attributes of the filters and of the bias.
    """
    rank, last = windows.rank, windows.is_channels_last
    windows.warn_of_layout(input.shape)
    channels = channels_of(input, rank, last)
    each_alone = channels == groups  # not where groups is None: names of parameters follow from it
    groups, num_filters = groups_of(input, channels, groups), integer(num_filters, "num_filters")
    kind = f"conv{rank}d"
    if rank == 2 and each_alone and num_filters % channels == 0 and not use_cudnn:
        kind = f.layer_type = "depthwise_conv2d"
    filters, bias = parameters
    out = getattr(f, kind)(
        input,
        filters_of(f, input, filters, num_filters, channels, groups, windows.sizes),
        dilations=windows.dilation,
        groups=groups,
        use_cudnn=use_cudnn,
        **windows.attributes(),
    )
    return f.bias(out, bias, [num_filters], axis=rank + 1 if last else 1)


def transposed(
    f: LayerBuilder,
    input: Variable,
    windows: WindowArguments,
    num_filters: int,
    output_size: Numbers | None,
    groups: int | None,
    parameters: tuple[Any, Any],
    use_cudnn: bool,
) -> Variable:
    """A transposed convolution with a bias; arguments as of :func:`convolved`, where the sizes of
    the filters, if there are none, follow from ``output_size``.
    """
    rank, last = windows.rank, windows.is_channels_last
    windows.warn_of_layout(input.shape)
    channels = channels_of(input, rank, last)
    each_alone = channels == groups == num_filters  # as in convolved
    groups = 1 if groups is None else integer(groups, "groups")
    if not 1 <= groups <= min(channels, num_filters):
        raise ArgumentError(
            f"expected groups to be at most {channels} channels of {input.name!r} and "
            f"num_filters={num_filters}, got groups={groups}"
        )
    if channels % groups or num_filters % groups:
        warn(
            f"groups={groups} do not divide {channels} channels of {input.name!r} and "
            f"num_filters={num_filters}: as in fluid 1.8, {channels // groups * groups} channels "
            f"are read and {num_filters // groups * groups} are made",
            None,
        )
    kind = f"conv{rank}d_transpose"
    if rank == 2 and each_alone and not use_cudnn:
        kind = f.layer_type = "depthwise_conv2d_transpose"
    target = () if output_size is None else tuple(each(output_size, "output_size", rank))
    size = windows.sizes or _filter_size(input, windows, target)
    filters, bias = parameters
    attrs = windows.attributes()
    if rank == 3:  # as fluid has it
        attrs["data_format"] = "NHWC" if last else "NCHW"
    out = getattr(f, kind)(
        input,
        f.weight(filters, [channels, num_filters // groups, *size], input.dtype),
        output_size=target,
        dilations=windows.dilation,
        groups=groups,
        use_cudnn=use_cudnn,
        **attrs,
    )
    made = num_filters // groups * groups
    return f.bias(out, bias, [made], axis=rank + 1 if last else 1)


def _filter_size(
    input: Variable, windows: WindowArguments, target: tuple[int, ...]
) -> tuple[int, ...]:
    """The filter that makes an output of size ``target``."""
    if not target:
        raise ArgumentError("expected output_size or filter_size, got neither")
    if -1 in [input.shape[place] for place in windows.places]:
        raise ArgumentError(
            f"expected filter_size, since the sizes of {input.name!r} are not known: its shape is "
            f"{list(input.shape)}"
        )
    return windows.size_for(input.shape, target)


def pooled(
    f: LayerBuilder, input: Variable, windows: WindowArguments, pool_type: str, **attrs: Any
) -> Variable:
    """Maxima or means of windows.

    Args:
        f: the layer.
        input, pool_type: as of ``pool2d``.
        windows: they, and how they move.
        attrs: the others of the operator.
    """
    _check_pool_type(pool_type)
    windows.warn_of_layout(input.shape)
    size = list(windows.sizes)
    if not attrs["global_pooling"] and min(size) < 1:
        raise ArgumentError(
            f"expected a positive pool_size, or global_pooling=True, got pool_size={size!r}"
        )
    if windows.algorithm == "VALID" and attrs["ceil_mode"]:
        raise ArgumentError("ceil_mode=True keeps windows that pool_padding='VALID' leaves out")
    out: Variable = getattr(f, f"pool{windows.rank}d")(
        input, pooling_type=pool_type, ksize=size, **windows.attributes(), **attrs
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
    ones = (1,) * count
    WindowArguments(tuple(size), ones, ones, ones).warn_of_layout(input.shape)
    kind = f"pool{count}d"
    if pool_type == "avg":
        if require_index:
            raise ArgumentError("require_index=True takes pool_type='max': a mean has no place")
        return getattr(f, kind)(input, pooling_type=pool_type, ksize=size, adaptive=True)
    kind = f.layer_type = f"max_{kind}_with_index"
    found = getattr(f, kind)(input, ksize=size, adaptive=True)
    return found if require_index else found[0]
