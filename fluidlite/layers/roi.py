"""Regions of images, each pooled to one size."""

from __future__ import annotations

from ..errors import ArgumentError
from ..ir.variable import Variable
from .convolution import channels_of
from .layer import LAYERS, LayerBuilder, stopped
from .operator_layers import Layer, LayerCall, OperatorLayers
from .windows import each

_REGIONS = LAYERS.extended(
    {
        "input": "images, [N, C, H, W].",
        "rois": "regions (left, top, right, bottom), [n, 4]; each image's are a sequence.",
        "pooled_height": "how many parts a region has from top to bottom.",
        "pooled_width": "how many parts it has from left to right.",
        "spatial_scale": "what the numbers of ``rois`` are multiplied with.",
        "rois_lod": "where the regions of each image begin, and where the last ones end, in place "
        "of sequences.",
    },
    returns="A variable of shape [n, C, pooled_height, pooled_width].",
)
_regions = OperatorLayers(_REGIONS)


@_regions.signature("""
    roi_pool(input: X, rois, pooled_height, pooled_width, spatial_scale, rois_lod)
""")
def roi_pool(f: LayerBuilder, call: LayerCall) -> Variable:
    """For each region the maxima over its parts.

    Girshick, Fast R-CNN, ICCV 2015.

    >>> images = fluid.data("images", [None, 3, 8, 8])
    >>> rois = fluid.data("rois", [None, 4], lod_level=1)
    >>> fluid.layers.roi_pool(images, rois, 2, 3).shape
    (-1, 3, 2, 3)
    """
    out, places = f.new_variable(), f.new_variable()
    f.into("roi_pool", call.ins, {"Out": out, "Argmax": stopped(places)}, **call.attrs)
    return out


roi_align: Layer = _regions("""
    roi_align(input: X, rois, pooled_height, pooled_width, spatial_scale, sampling_ratio,
        name, rois_lod)

    >>> images = fluid.data("images", [None, 3, 8, 8])
    >>> rois = fluid.data("rois", [None, 4], lod_level=1)
    >>> fluid.layers.roi_align(images, rois, 2, 3, sampling_ratio=2).shape
    (-1, 3, 2, 3)
""")
psroi_pool: Layer = _regions("""
    psroi_pool(input: X, rois, output_channels, spatial_scale=..., pooled_height=...,
        pooled_width=..., name)

    >>> images = fluid.data("images", [None, 12, 8, 8])
    >>> rois = fluid.data("rois", [None, 4], lod_level=1)
    >>> fluid.layers.psroi_pool(images, rois, 2, 1.0, 2, 3).shape
    (-1, 2, 2, 3)
""")
prroi_pool: Layer = _regions("""
    prroi_pool(input: X, rois, spatial_scale, pooled_height, pooled_width, batch_roi_nums,
        name)

    >>> images = fluid.data("images", [None, 3, 8, 8])
    >>> rois = fluid.data("rois", [None, 4], lod_level=1)
    >>> fluid.layers.prroi_pool(images, rois, 0.5, 2, 3).shape
    (-1, 3, 2, 3)
""")


@_regions.signature("""
    roi_perspective_transform(input: X, rois, transformed_height=..., transformed_width=...,
        spatial_scale, name)
""")
def roi_perspective_transform(
    f: LayerBuilder, call: LayerCall
) -> tuple[Variable, Variable, Variable]:
    """Quadrangles of images, straightened to rectangles by perspective maps.

    Args:
        rois: the corners x1, y1, ..., x4, y4 of each region, clockwise from the left upper one,
            [n, 8]; each image's are a sequence.
        transformed_height, transformed_width: of a rectangle; narrow regions do not fill the width.

    Returns:
        the rectangles, [n, C, transformed_height, transformed_width]; a mask of the points inside
        the region and the image, with one channel; and the maps, [n, 9].

    >>> images = fluid.data("images", [None, 3, 16, 16])
    >>> rois = fluid.data("rois", [None, 8], lod_level=1)
    >>> out, mask, matrix = fluid.layers.roi_perspective_transform(images, rois, 4, 8)
    >>> out.shape, mask.shape, matrix.shape
    ((-1, 3, 4, 8), (-1, 1, 4, 8), (-1, 9))
    """
    slots = ("Out", "Mask", "TransformMatrix", "Out2InIdx", "Out2InWeights")
    outs = {slot: f.new_variable() for slot in slots}  # fluid's gradient reads the last two
    f.into("roi_perspective_transform", call.ins, outs, **call.attrs)
    return outs["Out"], outs["Mask"], outs["TransformMatrix"]


@_regions.signature("""
    deformable_roi_pooling(input, rois, trans, no_trans=False, spatial_scale=1.0,
        group_size: Sequence[int] = [1, 1], pooled_height=1, pooled_width=1,
        part_size: Sequence[int] | None, sample_per_part=1, trans_std=0.1,
        position_sensitive: bool = False, name) -> deformable_psroi_pooling
""")
def deformable_roi_pooling(f: LayerBuilder, call: LayerCall) -> Variable:
    """For each region the means of points in its parts, which are moved.

    Dai et al., Deformable convolutional networks, ICCV 2017.

    Args:
        trans: how far parts are moved, across and down, in regions: [n, 2, *part_size].
        no_trans: nothing is moved.
        group_size: rows and columns of groups of channels that parts read.
        part_size: rows and columns of ``trans``; as many as parts when None.
        sample_per_part: how many points a part has in each direction.
        trans_std: what ``trans`` is multiplied with.
        position_sensitive: each of the groups has channels of its own.

    Returns:
        A variable of shape [n, C, pooled_height, pooled_width]; with ``position_sensitive`` the
        channels of one group.

    Raises:
        ArgumentError: a size is no pair of integers, or groups do not divide the channels.
        ShapeError: the channels are unknown.

    >>> images, moves = fluid.data("images", [None, 3, 8, 8]), fluid.data("t", [None, 2, 2, 3])
    >>> rois = fluid.data("rois", [None, 4], lod_level=1)
    >>> fluid.layers.deformable_roi_pooling(
    ...     images, rois, moves, pooled_height=2, pooled_width=3
    ... ).shape
    (-1, 3, 2, 3)
    """
    groups = each(call.group_size, "group_size")
    channels = channels_of(call.input)
    if call.position_sensitive and channels % (groups[0] * groups[1]):
        raise ArgumentError(
            f"expected group_size to divide the channels, got {groups} for {channels} channels"
        )
    parts = (
        [call.pooled_height, call.pooled_width]
        if call.part_size is None
        else each(call.part_size, "part_size")
    )
    out, count = f.new_variable(), f.new_variable()
    f.into(
        "deformable_psroi_pooling",
        call.ins,
        {"Output": out, "TopCount": stopped(count)},
        output_dim=channels // (groups[0] * groups[1]) if call.position_sensitive else channels,
        group_size=groups,
        part_size=parts,
        **call.attrs,
    )
    return out
