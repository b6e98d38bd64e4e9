"""Convolution and pooling of images."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from .unpooling import places_of_parts, with_places
from .windows import adaptive_pooling, convolution, pooling, transposed_convolution


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Images convolved with filters.

    Args:
        x: [N, C, H, W].
        weight: [filters, C / groups, height, width].
        bias: [filters].
        stride, dilation: steps of the window and of its elements: a number, or two.
        padding: zeros around the image: a number, two, four, or "SAME" or "VALID".
        groups: the channels are cut into so many groups, which do not mix.
        data_format: NCHW, or NHWC for images whose channels come last.

    >>> x, w = fluid.ones([1, 1, 3, 3]), fluid.ones([2, 1, 2, 2])
    >>> fluid.nn.functional.conv2d(x, w).shape
    [1, 2, 2, 2]
    """
    return convolution(2, x, weight, bias, stride, padding, dilation, groups, data_format)


def conv2d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The adjoint of a convolution: each element of an image spreads a filter.

    Args:
        x: [N, C, H, W].
        weight: [C, filters / groups, height, width].
        bias: [filters].
        stride, padding, dilation, groups, data_format: those of the convolution.
        output_padding: how many rows and columns are added; 0, or given by ``output_size``.
        output_size: rows and columns of the result.
    """
    return transposed_convolution(
        2,
        x,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        dilation,
        groups,
        output_size,
        data_format,
    )


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The largest element under a window that moves over an image.

    Args:
        x: [N, C, H, W].
        kernel_size: of the window.
        stride: its steps; its size when None.
        padding: around the image.
        return_mask: also give the places of the elements, counted by rows.
        ceil_mode: also windows that reach beyond the image.
        data_format: NCHW or NHWC.
    """
    if return_mask:
        return with_places(2, x, kernel_size, stride, padding, ceil_mode, data_format)
    return pooling(2, "max", x, kernel_size, stride, padding, data_format, ceil_mode=ceil_mode)


def avg_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The average under a window that moves over an image.

    Args:
        x: [N, C, H, W].
        kernel_size: of the window.
        stride: its steps; its size when None.
        padding: around the image.
        ceil_mode: also windows that reach beyond the image.
        exclusive: padding does not count.
        divisor_override: what sums are divided by, in the place of the number of elements.
        data_format: NCHW or NHWC.

    Raises:
        ArgumentError: ``divisor_override`` is 0.

    >>> x = fluid.ones([1, 1, 2, 2])
    >>> float(fluid.nn.functional.avg_pool2d(x, 2, divisor_override=5))
    0.8...
    """
    attrs = dict(ceil_mode=ceil_mode, exclusive=exclusive)
    return pooling(
        2, "avg", x, kernel_size, stride, padding, data_format, divisor_override, **attrs
    )


def adaptive_avg_pool2d(
    x: Tensor, output_size: Any, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Averages of as many parts of an image as are asked for."""
    return adaptive_pooling(2, "avg", x, output_size, data_format)


def adaptive_max_pool2d(
    x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """The largest elements of as many parts of an image as are asked for; a pair of them and their
    places with ``return_mask``.
    """
    if return_mask:
        return places_of_parts(2, x, output_size)
    return adaptive_pooling(2, "max", x, output_size, "NCHW")
