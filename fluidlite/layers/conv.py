"""Convolutions and poolings of images and of volumes.

What moves over images is written; over volumes it is the same with one dimension more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ground.spellings import Spelling
from ..ir.variable import Variable
from .convolution import Numbers, Padding, adaptively_pooled, convolved, pooled, transposed
from .layer import LayerBuilder, layer
from .operator_layers import Layer
from .windows import IMAGES, VOLUMES, windows_of

if TYPE_CHECKING:
    from ..param_attr import Attr

_AS_WRITTEN = Spelling({})
#: words of images -> those of volumes
_IN_SPACE = {
    "False makes a ``depthwise_conv2d`` where there is a group for each channel": "accepted, "
    "without meaning here",
    "False makes a ``depthwise_conv2d_transpose`` where each channel has a filter": "accepted, "
    "without meaning here",
    "Images": "Volumes",
    "images": "volumes",
    "image": "volume",
    "height and width": "depth, height and width",
    "for both": "for all",
    ", vertical and horizontal": " along each dimension",
    "two (above and below, left and right)": "three",
    "four\n        (above, below, left, right)": "six (before and\n        after each dimension)",
    "all four dimensions": "all five dimensions",
    "ceil(H / stride)": "ceil(D / stride)",
    "2 / (height": "2 / (depth * height",
    "not 4 dimensions": "not 5 dimensions",
    "conv2d": "conv3d",
    "[N, C, H, W]": "[N, C, D, H, W]",
    "i * H / n": "i * D / n",
    "(i + 1) * H / n": "(i + 1) * D / n",
    "row * W + column": "(depth * H + row) * W + column",
    "C, H', W'], or [N, H', W', C]": "C, D', H', W'], or with the channels last",
    "num_filters, H', W'], or [N, H', W', num_filters]": "num_filters, D', H', W'], or with the "
    "channels last",
    "H' =": "D' =",
    "(H - 1) * stride - above - below + dilation * (height - 1)": "(D - 1) * stride - before - "
    "after + dilation * (depth - 1)",
}


def _of_ranks(
    function: Callable[..., Any], name: str, example: str, stem: str
) -> list[Callable[..., Any]]:
    """The layers of images and of volumes that a function is.

    Args:
        function: has a parameter for the number of dimensions of a window.
        name: of the layers, with a place for that number, as has the stem of their names.
        example: of their use; ``{3}`` in it stands for the rest of a shape: ``, 3, 3``.
    """
    layers = []
    for rank, format, words in ((2, "NCHW", {}), (3, "NCDHW", _IN_SPACE)):
        spelled = _AS_WRITTEN(
            function,
            name.format(rank),
            fixed={"rank": rank},
            defaults={"data_format": format} if "data_format" in function.__annotations__ else {},
            words=words,
        )
        text = re.sub(r"\{(\d+)\}", ", \\1" * rank, example)
        family = (IMAGES if rank == 2 else VOLUMES).extended({}, example=text)
        is_layer = layer(stem.format(rank), act="act" in function.__annotations__, family=family)
        layers.append(is_layer(spelled))
    return layers


def _convolution(
    f: LayerBuilder,
    rank: int,
    input: Variable,
    num_filters: int,
    filter_size: Numbers,
    stride: Numbers = 1,
    padding: Padding = 0,
    dilation: Numbers = 1,
    groups: int | None = None,
    param_attr: Attr = None,
    bias_attr: Attr = None,
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
    """
    windows = windows_of(rank, filter_size, stride, padding, data_format, dilation)
    return convolved(f, input, windows, num_filters, groups, (param_attr, bias_attr), use_cudnn)


conv2d: Layer
conv3d: Layer
conv2d, conv3d = _of_ranks(
    _convolution,
    "conv{}d",
    """
    >>> x = fluid.data("x", [None, 3{32}])
    >>> fluid.layers.{name}(x, num_filters=16, filter_size=3, padding=1, act="relu").shape
    (-1, 16{32})
    """,
    "conv{}d",
)


def _transposed(
    f: LayerBuilder,
    rank: int,
    input: Variable,
    num_filters: int,
    output_size: Numbers | None = None,
    filter_size: Numbers | None = None,
    padding: Padding = 0,
    stride: Numbers = 1,
    dilation: Numbers = 1,
    groups: int | None = None,
    param_attr: Attr = None,
    bias_attr: Attr = None,
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
    """
    windows = windows_of(rank, filter_size, stride, padding, data_format, dilation)
    parameters = param_attr, bias_attr
    return transposed(f, input, windows, num_filters, output_size, groups, parameters, use_cudnn)


conv2d_transpose: Layer
conv3d_transpose: Layer
conv2d_transpose, conv3d_transpose = _of_ranks(
    _transposed,
    "conv{}d_transpose",
    """
    >>> x = fluid.data("x", [None, 16{8}])
    >>> fluid.layers.{name}(x, num_filters=3, filter_size=2, stride=2).shape
    (-1, 3{16})
    """,
    "conv{}d_transpose",
)


def _pooled(
    f: LayerBuilder,
    rank: int,
    input: Variable,
    pool_size: Numbers = -1,
    pool_type: str = "max",
    pool_stride: Numbers = 1,
    pool_padding: Padding = 0,
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
    """
    windows = windows_of(rank, pool_size, pool_stride, pool_padding, data_format, prefix="pool_")
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


pool2d: Layer
pool3d: Layer
pool2d, pool3d = _of_ranks(
    _pooled,
    "pool{}d",
    """
    >>> x = fluid.data("x", [None, 3{32}])
    >>> fluid.layers.{name}(x, pool_size=2, pool_stride=2).shape
    (-1, 3{16})
    """,
    "pool{}d",
)


def _adaptive(
    f: LayerBuilder,
    rank: int,
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
    """
    return adaptively_pooled(f, rank, input, pool_size, pool_type, require_index)


adaptive_pool2d: Layer
adaptive_pool3d: Layer
adaptive_pool2d, adaptive_pool3d = _of_ranks(
    _adaptive,
    "adaptive_pool{}d",
    """
    >>> x = fluid.data("x", [None, 3{30}])
    >>> fluid.layers.{name}(x, pool_size=3, pool_type="avg").shape
    (-1, 3{3})
    """,
    "pool{}d",
)
