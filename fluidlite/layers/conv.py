"""Convolutions and poolings of images."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from .convolution import Numbers, adaptively_pooled, convolved, pooled, transposed
from .layer import LayerBuilder, layer
from .windows import IMAGES, windows_of


@layer(act=True, family=IMAGES)
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
        stride: steps of the filter, vertical and horizontal.
        padding: zeros around the image: a number; two (above and below, left and right); four
            (above, below, left, right); pairs for all four dimensions; "SAME" for an output of
            ``ceil(H / stride)``; "VALID" for none.
        param_attr: of the filters, which start normal with deviation
            ``sqrt(2 / (height * width * C))``.
        use_cudnn: False makes a ``depthwise_conv2d`` where there is a group for each channel.

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
    windows = windows_of(2, filter_size, stride, padding, data_format, dilation)
    return convolved(f, input, windows, num_filters, groups, (param_attr, bias_attr), use_cudnn)


@layer(act=True, family=IMAGES)
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
        output_size: height and width of the output, where ``stride`` leaves a choice.
        filter_size: height and width of a filter; follows from ``output_size`` when None.
        padding: what is cut off around the output; forms as of ``conv2d``.
        stride: the distances of neighbouring elements of the input in the output.
        use_cudnn: False makes a ``depthwise_conv2d_transpose`` where each channel has a filter.

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
    windows = windows_of(2, filter_size, stride, padding, data_format, dilation)
    parameters = param_attr, bias_attr
    return transposed(f, input, windows, num_filters, output_size, groups, parameters, use_cudnn)


@layer(family=IMAGES)
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
        pool_size: height and width of a window, or one number for both.
        pool_stride: steps of the window, vertical and horizontal.
        pool_padding: room around the image; forms as of ``conv2d``.
        global_pooling: one window that holds the whole image, whatever its size.
        ceil_mode: keep windows that reach over the end of the image.
        exclusive: means leave the room around the image out.

    Returns:
        A variable of shape [N, C, H', W'], or [N, H', W', C].

    >>> images = fluid.data("images", [None, 3, 32, 32])
    >>> fluid.layers.pool2d(images, pool_size=2, pool_stride=2).shape
    (-1, 3, 16, 16)
    """
    windows = windows_of(2, pool_size, pool_stride, pool_padding, data_format, prefix="pool_")
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


@layer("pool2d", family=IMAGES)
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
        require_index: also give where each maximum was, as ``row * W + column``.

    Returns:
        A variable of shape [N, C, *pool_size]; with ``require_index`` the places too.

    Raises:
        ArgumentError: a parameter has none of the forms above, or places of means are asked for.

    >>> images = fluid.data("images", [None, 3, 30, 40])
    >>> fluid.layers.adaptive_pool2d(images, pool_size=[3, 2], pool_type="avg").shape
    (-1, 3, 3, 2)
    """
    return adaptively_pooled(f, 2, input, pool_size, pool_type, require_index)
