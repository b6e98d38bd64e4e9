"""Regions of images, each pooled to one size."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.variable import Variable
from .convolution import channels_of
from .layer import LAYERS, LayerBuilder, layer, stopped
from .operator_layers import Layer, OperatorLayers
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


@layer(family=_REGIONS)
def roi_pool(
    f: LayerBuilder,
    input: Variable,
    rois: Variable,
    pooled_height: int = 1,
    pooled_width: int = 1,
    spatial_scale: float = 1.0,
    rois_lod: Variable | None = None,
) -> Variable:
    """For each region the maxima over its parts.

    Girshick, Fast R-CNN, ICCV 2015.

    >>> images = fluid.data("images", [None, 3, 8, 8])
    >>> rois = fluid.data("rois", [None, 4], lod_level=1)
    >>> fluid.layers.roi_pool(images, rois, 2, 3).shape
    (-1, 3, 2, 3)
    """
    out, places = f.new_variable(), f.new_variable()
    f.into(
        "roi_pool",
        {"X": input, "ROIs": rois, **({} if rois_lod is None else {"RoisLod": rois_lod})},
        {"Out": out, "Argmax": stopped(places)},
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        spatial_scale=spatial_scale,
    )
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


@layer(family=_REGIONS)
def roi_perspective_transform(
    f: LayerBuilder,
    input: Variable,
    rois: Variable,
    transformed_height: int,
    transformed_width: int,
    spatial_scale: float = 1.0,
    name: str | None = None,
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
    names = ("Out", "Mask", "TransformMatrix", "Out2InIdx", "Out2InWeights")
    made = {name: f.new_variable() for name in names}  # fluid's gradient reads the last two
    f.into(
        "roi_perspective_transform",
        {"X": input, "ROIs": rois},
        made,
        spatial_scale=spatial_scale,
        transformed_height=transformed_height,
        transformed_width=transformed_width,
    )
    return made["Out"], made["Mask"], made["TransformMatrix"]


@layer("deformable_psroi_pooling", family=_REGIONS)
def deformable_roi_pooling(
    f: LayerBuilder,
    input: Variable,
    rois: Variable,
    trans: Variable,
    no_trans: bool = False,
    spatial_scale: float = 1.0,
    group_size: Sequence[int] = [1, 1],
    pooled_height: int = 1,
    pooled_width: int = 1,
    part_size: Sequence[int] | None = None,
    sample_per_part: int = 1,
    trans_std: float = 0.1,
    position_sensitive: bool = False,
    name: str | None = None,
) -> Variable:
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
    groups = each(group_size, "group_size")
    channels = channels_of(input)
    if position_sensitive and channels % (groups[0] * groups[1]):
        raise ArgumentError(
            f"expected group_size to divide the channels, got {groups} for {channels} channels"
        )
    parts = [pooled_height, pooled_width] if part_size is None else each(part_size, "part_size")
    out, count = f.new_variable(), f.new_variable()
    f.into(
        "deformable_psroi_pooling",
        {"Input": input, "ROIs": rois, "Trans": trans},
        {"Output": out, "TopCount": stopped(count)},
        no_trans=no_trans,
        spatial_scale=spatial_scale,
        output_dim=channels // (groups[0] * groups[1]) if position_sensitive else channels,
        group_size=groups,
        pooled_height=pooled_height,
        pooled_width=pooled_width,
        part_size=parts,
        sample_per_part=sample_per_part,
        trans_std=trans_std,
    )
    return out
