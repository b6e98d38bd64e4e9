"""Convolutions of sequences, images and volumes, and their adjoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...eager.composite import composite
from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...functions.arguments import Numbers
from ...functions.arithmetic import add
from ...functions.shaping import reshape, squeeze, unsqueeze
from ...opdef.windows import WindowArguments
from .windows import WINDOWS, each, of_rank, windows_of


@composite
@WINDOWS
def convolution(
    rank: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers | str = 0,
    dilation: Numbers = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Images convolved with filters.

    Args:
        weight: [filters, C / groups, *sizes].
        bias: [filters].
        stride, dilation: steps of the window and of its elements: a number, or two.
        padding: zeros around the image: a number, two or four, or "SAME" or "VALID".
        groups: the channels are cut into so many groups, which do not mix.
    """
    windows = windows_of(rank, weight.array.shape[2:], stride, padding, data_format, dilation)
    return convolved("conv{}d", x, weight, bias, windows, groups=groups)


@WINDOWS
def transposed_convolution(
    rank: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers | str = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
    output_size: Numbers | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The adjoint of a convolution: each element of an image spreads a filter.

    Args:
        weight: [C, filters / groups, *sizes].
        bias: [filters].
        stride, padding, dilation, groups, data_format: those of the convolution.
        output_padding: how many elements are added along every dimension; 0, or given by
            ``output_size``.
        output_size: the sizes of the result: a number, or two.
    """
    windows = windows_of(rank, weight.array.shape[2:], stride, padding, data_format, dilation)
    extra = each("output_padding", output_padding, rank)
    attrs: dict[str, Any] = {}
    if output_size is not None:
        attrs["output_size"] = each("output_size", output_size, rank)
    elif any(extra):
        attrs["output_size"] = windows.spread(x.array.shape, extra)
    return convolved("conv{}d_transpose", x, weight, bias, windows, groups=groups, **attrs)


def convolved(
    name: str,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    windows: WindowArguments,
    **attrs: Any,
) -> Tensor:
    """What an operator of windows with weights gives, plus a bias.

    Args:
        name: of the operator, with ``{}`` for the rank.
        x: [N, C, ...], or with the channels last.
        weight: of the filters.
        bias: [filters].
        windows: with sizes, steps and dilations; those of sequences are moved along rows.
        attrs: further attributes of the operator.
    """
    rank, axis, last = windows.rank, windows.places[0], windows.is_channels_last
    windows.warn_of_layout(x.array.shape)
    if rank == 1:
        x, weight, windows = unsqueeze(x, axis), unsqueeze(weight, 2), windows.of_images()
        if "output_size" in attrs:
            attrs["output_size"] = (1, *attrs["output_size"])
    call = getattr(eager, name.format(windows.rank))
    out = call(x, weight, dilations=windows.dilation, **windows.attributes(), **attrs)
    if rank == 1:
        out = squeeze(out, axis)
    return out if bias is None else add(out, bias if last else reshape(bias, [-1, *[1] * rank]))


_CONVOLVED = """>>> x, w = fluid.ones([1, 1{3}]), fluid.ones([2, 1{2}])
>>> fluid.nn.functional.{name}(x, w).shape
[1, 2{2}]"""
_SPREAD = """>>> x, w = fluid.ones([1, 1{2}]), fluid.ones([1, 2{2}])
>>> fluid.nn.functional.{name}(x, w, stride=2).shape
[1, 2{4}]"""

conv1d: Callable[..., Tensor] = of_rank(1, convolution, "conv1d", _CONVOLVED)
conv2d: Final = of_rank(2, convolution, "conv2d", _CONVOLVED)
conv3d: Callable[..., Tensor] = of_rank(3, convolution, "conv3d", _CONVOLVED)
conv1d_transpose: Callable[..., Tensor] = of_rank(
    1, transposed_convolution, "conv1d_transpose", _SPREAD
)
conv2d_transpose: Callable[..., Tensor] = of_rank(
    2,
    transposed_convolution,
    "conv2d_transpose",
    _SPREAD,
    order="x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, "
    "data_format, name",
)
conv3d_transpose: Callable[..., Tensor] = of_rank(
    3, transposed_convolution, "conv3d_transpose", _SPREAD
)
