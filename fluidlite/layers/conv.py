"""Convolutions and poolings of images and of volumes.

What moves over images is written; over volumes it is the same with one dimension more.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from ..ir.variable import Variable
from ..opdef.windows import FORMATS, WindowArguments
from .convolution import adaptively_pooled, convolved, pooled, transposed
from .layer import LayerBuilder
from .operator_layers import Layer, LayerCall, OperatorLayers
from .windows import IMAGES, VOLUMES, windows_of

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
    text: str, example: str
) -> Callable[[Callable[[int, LayerBuilder, LayerCall], Any]], list[Callable[..., Any]]]:
    """A decorator that makes layers of images and of volumes of a function of the number of
    dimensions of a window, the interpreter and the arguments.

    Args:
        text: the signature of the layers, with ``{rank}`` for that number, and ``{format}``.
        example: of their use; ``{3}`` in it stands for the rest of a shape: ``, 3, 3``.
    """

    def made(body: Callable[[int, LayerBuilder, LayerCall], Any]) -> list[Callable[..., Any]]:
        return [_of_rank(body, rank, text, example) for rank in (2, 3)]

    return made


def _of_rank(
    body: Callable[[int, LayerBuilder, LayerCall], Any], rank: int, text: str, example: str
) -> Callable[..., Any]:
    """One of these layers."""
    layer: Any = functools.partial(body, rank)
    layer.__module__, layer.__annotations__ = __name__, body.__annotations__
    told = inspect.cleandoc(body.__doc__ or "")
    for word, other in (_IN_SPACE if rank == 3 else {}).items():
        told = told.replace(word, other)
    layer.__doc__ = re.sub(r"2d\b", f"{rank}d", told)
    shown = re.sub(r"\{(\d+)\}", ", \\1" * rank, example)
    family = (IMAGES if rank == 2 else VOLUMES).extended({}, example=shown)
    signature = text.replace("{rank}", str(rank)).replace("{format}", FORMATS[rank][0])
    return OperatorLayers(family).signature(signature)(layer)


@_of_ranks(
    """
    conv{rank}d(input, num_filters: int, filter_size: Numbers, stride: Numbers = 1,
        padding: Padding = 0, dilation: Numbers = 1, groups: int | None, param_attr, bias_attr,
        use_cudnn=True, act, name, data_format: str = "{format}")
    """,
    """
    >>> x = fluid.data("x", [None, 3{32}])
    >>> fluid.layers.{name}(x, num_filters=16, filter_size=3, padding=1, act="relu").shape
    (-1, 16{32})
    """,
)
def _convolution(rank: int, f: LayerBuilder, call: LayerCall) -> Variable:
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
    windows = _windows(rank, call)
    parameters = call.param_attr, call.bias_attr
    return convolved(
        f, call.input, windows, call.num_filters, call.groups, parameters, call.use_cudnn
    )


conv2d: Layer
conv3d: Layer
conv2d, conv3d = _convolution


@_of_ranks(
    """
    conv{rank}d_transpose(input, num_filters: int, output_size: Numbers | None,
        filter_size: Numbers | None, padding: Padding = 0, stride: Numbers = 1,
        dilation: Numbers = 1, groups: int | None, param_attr, bias_attr, use_cudnn=True, act,
        name, data_format: str = "{format}")
    """,
    """
    >>> x = fluid.data("x", [None, 16{8}])
    >>> fluid.layers.{name}(x, num_filters=3, filter_size=2, stride=2).shape
    (-1, 3{16})
    """,
)
def _transposed(rank: int, f: LayerBuilder, call: LayerCall) -> Variable:
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
    windows = _windows(rank, call)
    parameters = call.param_attr, call.bias_attr
    shape = call.num_filters, call.output_size, call.groups
    return transposed(f, call.input, windows, *shape, parameters, call.use_cudnn)


def _windows(rank: int, call: LayerCall) -> WindowArguments:
    """The filters of a convolution, and how they move."""
    steps = call.stride, call.padding, call.data_format, call.dilation
    return windows_of(rank, call.filter_size, *steps)


conv2d_transpose: Layer
conv3d_transpose: Layer
conv2d_transpose, conv3d_transpose = _transposed


@_of_ranks(
    """
    pool{rank}d(input: X, pool_size: Numbers = -1, pool_type: str = "max",
        pool_stride: Numbers = 1, pool_padding: Padding = 0, global_pooling, use_cudnn=True,
        ceil_mode, name, exclusive, data_format: str = "{format}")
    """,
    """
    >>> x = fluid.data("x", [None, 3{32}])
    >>> fluid.layers.{name}(x, pool_size=2, pool_stride=2).shape
    (-1, 3{16})
    """,
)
def _pooled(rank: int, f: LayerBuilder, call: LayerCall) -> Variable:
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
    steps = call.pool_stride, call.pool_padding, call.data_format
    windows = windows_of(rank, call.pool_size, *steps, prefix="pool_")
    return pooled(f, call.input, windows, call.pool_type, **call.attrs)


pool2d: Layer
pool3d: Layer
pool2d, pool3d = _pooled


@_of_ranks(
    """
    adaptive_pool{rank}d(input: X, pool_size: Numbers, pool_type: str = "max",
        require_index: bool = False, name) -> pool{rank}d
    """,
    """
    >>> x = fluid.data("x", [None, 3{30}])
    >>> fluid.layers.{name}(x, pool_size=3, pool_type="avg").shape
    (-1, 3{3})
    """,
)
def _adaptive(rank: int, f: LayerBuilder, call: LayerCall) -> Variable | tuple[Variable, Variable]:
    """The maximum or mean of as many windows as the output is to have, whatever the image's size.

    Window i of n begins at ``floor(i * H / n)`` and ends before ``ceil((i + 1) * H / n)``.

    Args:
        input: images, [N, C, H, W].
        pool_size: height and width of the output, or one number for both.
        require_index: also give where each maximum was, as ``row * W + column``.

    Returns:
        A variable of shape [N, C, *pool_size]; with ``require_index`` the places too.

    Raises:
        ArgumentError: a parameter has none of the forms above, or places of means are requested.
    """
    return adaptively_pooled(
        f, rank, call.input, call.pool_size, call.pool_type, call.require_index
    )


adaptive_pool2d: Layer
adaptive_pool3d: Layer
adaptive_pool2d, adaptive_pool3d = _adaptive
