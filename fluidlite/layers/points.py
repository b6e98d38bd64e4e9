"""Images between their elements: grids of points, and windows whose elements are moved."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from ..ir.variable import Variable
from .convolution import channels_of, filters_of, groups_of
from .layer import LayerBuilder
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer
from .windows import IMAGES, each

grid_sampler: Layer = operator_layer("""
    grid_sampler(x, grid, name)

    >>> images, grid = fluid.data("images", [None, 3, 8, 8]), fluid.data("grid", [None, 4, 5, 2])
    >>> fluid.layers.grid_sampler(images, grid).shape
    (-1, 3, 4, 5)
""")
affine_grid: Layer = operator_layer("""
    affine_grid(theta, out_shape: output_shape | OutputShape = ..., name)

    Raises:
        ArgumentError: ``out_shape`` has another form.

    >>> fluid.layers.affine_grid(fluid.data("theta", [2, 2, 3]), [2, 3, 4, 5]).shape
    (2, 4, 5, 2)
""")


@OperatorLayers(IMAGES).signature("""
    deformable_conv(input, offset, mask: Variable | None = ..., num_filters: int,
        filter_size: int | Sequence[int], stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int | None,
        deformable_groups: int | None, im2col_step: int | None, param_attr, bias_attr,
        modulated: bool | None = True, name)
""")
def deformable_conv(f: LayerBuilder, call: LayerCall) -> Variable:
    """Images convolved with filters whose elements are moved, and weighted, plus a bias.

    Zhu et al., Deformable ConvNets v2, CVPR 2019; without ``modulated`` Dai et al., Deformable
    convolutional networks, ICCV 2017.

    Args:
        input: images, [N, C, H, W].
        offset: how far each element is moved, down and across, in each group and at each position:
            [N, 2 * deformable_groups * height * width, H', W'].
        mask: the weights, [N, deformable_groups * height * width, H', W']; None without
            ``modulated``.
        stride: steps of the filter, down and across.
        padding: zeros around the image: one number, or two.
        deformable_groups: so many parts of the channels have offsets of their own.
        im2col_step: accepted, without meaning here.
        param_attr: of the filters, which start normal with deviation
            ``sqrt(2 / (height * width * C))``.
        modulated: whether elements are weighted; where there is a mask when None.

    Returns:
        A variable of shape [N, num_filters, H', W'].

    Raises:
        ArgumentError: a parameter has none of the forms above, ``groups`` does not divide the
            channels, or a mask is given where none belongs, or is missing.
        ShapeError: the input has not 4 dimensions, or its channels are unknown.

    >>> images, offset = fluid.data("images", [None, 3, 8, 8]), fluid.data("o", [None, 18, 8, 8])
    >>> weights = fluid.data("m", [None, 9, 8, 8])
    >>> fluid.layers.deformable_conv(images, offset, weights, 4, 3, padding=1).shape
    (-1, 4, 8, 8)
    """
    channels = channels_of(call.input)
    modulated = call.mask is not None if call.modulated is None else call.modulated
    if modulated == (call.mask is None):
        raise ArgumentError(
            f"expected a mask with modulated=True, and None with modulated=False; got "
            f"modulated={modulated} and {'no mask' if call.mask is None else 'a mask'}"
        )
    x, count, groups = call.input, call.num_filters, call.groups
    groups = groups_of(x, channels, groups)
    size = each(call.filter_size, "filter_size")
    filters = filters_of(f, x, call.param_attr, count, channels, groups, size)
    attrs: dict[str, Any] = dict(
        strides=each(call.stride, "stride"),
        paddings=each(call.padding, "padding"),
        dilations=each(call.dilation, "dilation"),
        groups=groups,
        deformable_groups=1 if call.deformable_groups is None else call.deformable_groups,
        im2col_step=64 if call.im2col_step is None else call.im2col_step,
    )
    if modulated:
        out = f.deformable_conv(x, call.offset, call.mask, filters, **attrs)
    else:
        out = f.deformable_conv_v1(x, call.offset, filters, **attrs)
    return f.bias(out, call.bias_attr, [count])
