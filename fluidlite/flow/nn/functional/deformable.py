"""Convolutions whose windows are moved element by element, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....eager.recording import eager
from ....functions import arithmetic, shaping
from .windows import each

if TYPE_CHECKING:
    from ....functions.arguments import Integers
    from ...tensor import Tensor


def deform_conv2d(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Integers = 1,
    padding: Integers = 0,
    dilation: Integers = 1,
    mask: Tensor | None = None,
) -> Tensor:
    """Images convolved with filters, each element of whose windows is moved.

    Args:
        input: [N, C, H, W].
        offset: how far elements are moved, down and across: [N, groups * height * width * 2, ...].
        weight: [filters, channels, height, width].
        bias: [filters], or None.
        stride, padding, dilation: as of a convolution.
        mask: a factor for each element, [N, groups * height * width, ...], or None.

    >>> x, moved = fluid.flow.ones(1, 1, 3, 3), fluid.flow.zeros(1, 8, 2, 2)
    >>> fluid.flow.nn.functional.deform_conv2d(x, moved, fluid.flow.ones(1, 1, 2, 2)).tolist()
    [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    elements = weight.array.shape[2] * weight.array.shape[3]
    moved = dict(
        strides=list(each("stride", stride, 2)),
        paddings=list(each("padding", padding, 2)),
        dilations=list(each("dilation", dilation, 2)),
        groups=input.array.shape[1] // weight.array.shape[1],
        deformable_groups=offset.array.shape[1] // (2 * elements),
    )
    if mask is None:
        out = eager.deformable_conv_v1(input, offset, weight, **moved)
    else:
        out = eager.deformable_conv(input, offset, mask, weight, **moved)
    return out if bias is None else arithmetic.add(out, shaping.reshape(bias, [-1, 1, 1]))
