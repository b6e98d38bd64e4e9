"""Convolution and pooling of volumes."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...ground.docstrings import Family
from .unpooling import places_of_parts, with_places
from .windows import adaptive_pooling, convolution, pooling, transposed_convolution

VOLUMES = Family(
    {
        "x": "[N, C, D, H, W].",
        "stride": "the steps of the window: a number, or three; a pooling's sizes when None.",
        "padding": "zeros around: a number, three, six, or SAME or VALID.",
        "dilation": "steps between elements of the window: a number, or three.",
        "groups": "the channels are cut into so many groups, which do not mix.",
        "output_padding": "how many planes are added; 0, or given by ``output_size``.",
        "output_size": "the sizes of the result: a number, or three.",
        "kernel_size": "of the window: a number, or three.",
        "return_mask": "also give the places of the elements, counted by rows.",
        "ceil_mode": "also windows that reach beyond the volume.",
        "exclusive": "padding does not count.",
        "divisor_override": "what sums are divided by, in the place of the number of elements.",
        "data_format": "NCDHW, or NDHWC for volumes whose channels come last.",
        "bias": "[filters].",
    },
    raises="ArgumentError: an option is of another form.",
)


@VOLUMES
def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Volumes convolved with filters.

    Args:
        weight: [filters, C / groups, depth, height, width].

    >>> x, w = fluid.ones([1, 1, 3, 3, 3]), fluid.ones([2, 1, 2, 2, 2])
    >>> fluid.nn.functional.conv3d(x, w).shape
    [1, 2, 2, 2, 2]
    """
    return convolution(3, x, weight, bias, stride, padding, dilation, groups, data_format)


@VOLUMES
def conv3d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """The adjoint of a convolution: each element of a volume spreads a filter.

    Args:
        weight: [C, filters / groups, depth, height, width].

    >>> x, w = fluid.ones([1, 1, 2, 2, 2]), fluid.ones([1, 2, 2, 2, 2])
    >>> fluid.nn.functional.conv3d_transpose(x, w, stride=2).shape
    [1, 2, 4, 4, 4]
    """
    return transposed_convolution(
        3,
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


@VOLUMES
def max_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The largest element under a window that moves through a volume."""
    if return_mask:
        return with_places(3, x, kernel_size, stride, padding, ceil_mode, data_format)
    return pooling(3, "max", x, kernel_size, stride, padding, data_format, ceil_mode=ceil_mode)


@VOLUMES
def avg_pool3d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """The average under a window that moves through a volume.

    >>> x = fluid.ones([1, 1, 2, 2, 2])
    >>> float(fluid.nn.functional.avg_pool3d(x, 2, divisor_override=4))
    2.0
    """
    attrs = dict(ceil_mode=ceil_mode, exclusive=exclusive)
    return pooling(
        3, "avg", x, kernel_size, stride, padding, data_format, divisor_override, **attrs
    )


@VOLUMES
def adaptive_avg_pool3d(
    x: Tensor, output_size: Any, data_format: str = "NCDHW", name: str | None = None
) -> Tensor:
    """Averages of as many parts of a volume as are asked for."""
    return adaptive_pooling(3, "avg", x, output_size, data_format)


@VOLUMES
def adaptive_max_pool3d(
    x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None
) -> Any:
    """The largest elements of as many parts of a volume as are asked for; a pair of them and their
    places with ``return_mask``.
    """
    if return_mask:
        return places_of_parts(3, x, output_size)
    return adaptive_pooling(3, "max", x, output_size, "NCDHW")
