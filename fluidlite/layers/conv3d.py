"""Convolutions and poolings of volumes."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .convolution import Numbers, adaptively_pooled, convolved, pooled, transposed
from .layer import LayerBuilder, layer
from .windows import VOLUMES, windows_of


@layer(act=True, family=VOLUMES)
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
        stride: steps of the filter along each dimension.
        padding: zeros around the volume: a number; three; six (before and after each dimension);
            pairs for all five dimensions; "SAME" for an output of ``ceil(D / stride)``; "VALID"
            for none.
        param_attr: of the filters, which start normal with deviation
            ``sqrt(2 / (depth * height * width * C))``.

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
    windows = windows_of(3, filter_size, stride, padding, data_format, dilation)
    return convolved(f, input, windows, num_filters, groups, (param_attr, bias_attr), use_cudnn)


@layer(act=True, family=VOLUMES)
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
        output_size: depth, height and width of the output, where ``stride`` leaves a choice.
        filter_size: depth, height and width of a filter; follows from ``output_size`` when None.
        padding: what is cut off around the output; forms as of ``conv3d``.
        stride: the distances of neighbouring elements of the input in the output.

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
    windows = windows_of(3, filter_size, stride, padding, data_format, dilation)
    parameters = param_attr, bias_attr
    return transposed(f, input, windows, num_filters, output_size, groups, parameters, use_cudnn)


@layer(family=VOLUMES)
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
        pool_size: depth, height and width of a window, or one number for all.
        pool_stride: steps of the window along each dimension.
        pool_padding: room around the volume; forms as of ``conv3d``.
        global_pooling: one window that holds the whole volume, whatever its size.
        ceil_mode: keep windows that reach over the end of the volume.
        exclusive: means leave the room around the volume out.

    Returns:
        A variable of shape [N, C, D', H', W'], or with the channels last.

    >>> volumes = fluid.data("volumes", [None, 3, 8, 32, 32])
    >>> fluid.layers.pool3d(volumes, pool_size=2, pool_stride=2).shape
    (-1, 3, 4, 16, 16)
    """
    windows = windows_of(3, pool_size, pool_stride, pool_padding, data_format, prefix="pool_")
    return pooled(
        f,
        input,
        windows,
        pool_type,
        global_pooling=global_pooling,
        use_cudnn=use_cudnn,
        ceil_mode=ceil_mode,
        exclusive=exclusive,
    )


@layer("pool3d", family=VOLUMES)
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
        require_index: also give where each maximum was, as ``(depth * H + row) * W + column``.

    Returns:
        A variable of shape [N, C, *pool_size]; with ``require_index`` the places too.

    Raises:
        ArgumentError: a parameter has none of the forms above, or places of means are asked for.

    >>> volumes = fluid.data("volumes", [None, 3, 8, 30, 40])
    >>> fluid.layers.adaptive_pool3d(volumes, pool_size=[4, 3, 2], pool_type="avg").shape
    (-1, 3, 4, 3, 2)
    """
    return adaptively_pooled(f, 3, input, pool_size, pool_type, require_index)
