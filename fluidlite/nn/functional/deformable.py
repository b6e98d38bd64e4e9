"""Convolutions whose windows are moved, element by element."""

from __future__ import annotations

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...functions.arguments import Integers
from ...functions.arithmetic import add
from ...functions.views import reshape
from ...ground.tracebacks import api_boundaries
from .windows import each


def deform_conv2d(
    x: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Integers = 1,
    padding: Integers = 0,
    dilation: Integers = 1,
    deformable_groups: int | None = 1,
    groups: int | None = 1,
    mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """A convolution of images whose windows are moved, element by element, and weighted.

    Zhu, Hu, Lin and Dai, Deformable ConvNets v2, 2019; without ``mask`` Dai et al., Deformable
    convolutional networks, 2017.

    Args:
        x: images, [N, C, H, W].
        offset: how far each element is moved, (down, across) for each group, element and position:
            [N, 2 * deformable_groups * height * width, rows, columns].
        weight: filters, [M, C / groups, height, width].
        bias: [M].
        stride, padding, dilation: a number, or one down and one across.
        deformable_groups: so many parts of the channels have offsets of their own; as many as
            ``offset`` has when None.
        groups: the channels are cut into so many groups, which do not mix; as many as
            ``weight`` says when None.
        mask: the weights: [N, deformable_groups * height * width, rows, columns].
        name: accepted.

    Returns:
        [N, M, rows, columns].
    """
    if groups is None:
        groups = x.array.shape[1] // weight.array.shape[1]
    if deformable_groups is None:
        elements = weight.array.shape[2] * weight.array.shape[3]
        deformable_groups = offset.array.shape[1] // (2 * elements)
    options = dict(
        strides=each("stride", stride, 2), paddings=each("padding", padding, 2),
        dilations=each("dilation", dilation, 2), groups=groups,
        deformable_groups=deformable_groups,
    )  # fmt: skip
    if mask is None:
        out = eager.deformable_conv_v1(x, offset, weight, **options)
    else:
        out = eager.deformable_conv(x, offset, mask, weight, **options)
    return out if bias is None else add(out, reshape(bias, [1, -1, 1, 1]))


api_boundaries(globals())
