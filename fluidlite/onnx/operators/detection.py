"""Parts of images: regions, and windows whose elements are moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..building import Appending, TooLarge, need_room
from ..forms import operator
from .conv import WindowMoves
from .gathering import gather_nd


@dataclass(frozen=True)
class Deformed(WindowMoves):
    """Attributes of windows whose elements are moved."""

    group: int = 1
    offset_group: int = 1


PLAIN = Deformed()  #: each element, and nothing around


@operator("DeformConv", unread=["kernel_shape"])
def deform_conv(
    f: Any, x: Any, w: Any, offset: Any, b: Any = None, mask: Any = None, *, how: Deformed = PLAIN
) -> Any:
    (dilations, strides), sides = how.spacing(2), how.sides(2)
    if f.ndim(x) != 4 or sides[:2] != sides[2:]:
        raise UnsupportedError("expected images with the same padding on both sides")
    attrs = dict(
        strides=strides,
        paddings=sides[:2],
        dilations=dilations,
        groups=how.group,
        deformable_groups=how.offset_group,
    )
    if mask is None:
        out = f.deformable_conv_v1(x, offset, w, **attrs)
    else:
        out = f.deformable_conv(x, offset, mask, w, **attrs)
    return out if b is None else f.elementwise_add(out, b, axis=1)


@operator("RoiAlign")
def roi_align(
    f: Any,
    x: Any,
    rois: Any,
    images: Any,
    *,
    coordinate_transformation_mode: str | None = None,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
    opset: int,
) -> Any:
    """Means or largest ones of points between elements, a grid of them in each part of a region."""
    if sampling_ratio < 1:
        raise UnsupportedError("sampling_ratio must be above 0: else values say how many points")
    default = "half_pixel" if opset >= 16 else "output_half_pixel"
    exact = (coordinate_transformation_mode or default) == "half_pixel"
    scaled = f.scale(rois, scale=spatial_scale, bias=-0.5 if exact else 0.0)
    rows = _points(f, scaled, 1, output_height, sampling_ratio, exact)
    columns = _points(f, scaled, 0, output_width, sampling_ratio, exact)
    height, width = f.known_sizes(x, [2, 3])
    total = None
    last = f.transposed(x, [0, 2, 3, 1])
    number = f.reshaped(f.to(images, "int64"), [-1, 1, 1])
    for row, row_weight in _beside(f, f.added(rows, 2), height):
        for column, column_weight in _beside(f, f.added(columns, 1), width):
            parts = [f.spread(v, number, row, column) for v in (number, row, column)]
            sampled = gather_nd(f, last, f.stack(parts, axis=-1))
            weight = f.elementwise_mul(row_weight, column_weight)
            sampled = f.elementwise_mul(sampled, f.added(weight, 3))
            if mode == "max":
                total = sampled if total is None else f.maximum(total, sampled)
            else:
                total = sampled if total is None else f.elementwise_add(total, sampled)
    channels, each = f.known_sizes(x, [1])[0], sampling_ratio
    total = f.reshaped(total, [-1, output_height, each, output_width, each, channels])
    out = f.summed(total, [2, 4], keep=False, kind="mean" if mode == "avg" else "max")
    return f.transposed(out, [0, 3, 1, 2])


def _points(f: Any, rois: Any, at: int, bins: int, each: int, exact: bool) -> Any:
    """Where the points of regions lie along a dimension: [regions, bins * each]."""
    begin, end = f.cut(rois, 1, at, at + 1), f.cut(rois, 1, at + 2, at + 3)
    span = f.elementwise_sub(end, begin)
    span = span if exact else f.maximum(span, f.like(1, span))
    need_room(bins, each)
    within = (np.arange(bins * each) + 0.5) / (bins * each)
    return f.elementwise_add(begin, f.elementwise_mul(span, f.like(within.reshape(1, -1), span)))


def _beside(f: Any, at: Any, size: int) -> list[tuple[Any, Any]]:
    """The elements beside places, with what each of them weighs; beyond the edge they have none."""
    near = f.logical_and(f.greater_equal(at, f.like(-1, at)), f.less_equal(at, f.like(size, at)))
    near = f.to(near, f.type_of(at))
    at = f.clip(at, min=0.0, max=float(size - 1))
    down = f.clip(f.floor(at), min=0.0, max=float(max(size - 2, 0)))
    rest = f.elementwise_sub(at, down)
    up = f.clip(f.scale(down, scale=1.0, bias=1.0), min=0.0, max=float(size - 1))
    left = f.scale(rest, scale=-1.0, bias=1.0)
    return [
        (f.to(down, "int64"), f.elementwise_mul(left, near)),
        (f.to(up, "int64"), f.elementwise_mul(rest, near)),
    ]


@operator("NonMaxSuppression", fixed=["iou_threshold", "score_threshold"])
def non_max_suppression(
    f: Any,
    boxes: Any,
    scores: Any,
    most: Any = None,
    iou_threshold: Any = None,
    score_threshold: Any = None,
    *,
    center_point_box: int = 0,
) -> Any:
    """(image, class, box) of the best boxes, of those that overlap too much the first one."""
    if not isinstance(f, Appending):
        raise TooLarge("boxes are not chosen before a run")
    limit = 0 if most is None else int(f.number(most, "max_output_boxes_per_class"))
    if not limit:
        return np.zeros((0, 3), np.int64)
    overlap = 0.0 if iou_threshold is None else float(f.number(iou_threshold, "iou_threshold"))
    least = -3e38
    if score_threshold is not None:
        least = float(f.number(score_threshold, "score_threshold"))
    count = f.known_sizes(boxes, [1])[0]
    selected = f.multiclass_nms2.all(
        _corners(f, boxes, bool(center_point_box)),
        scores,
        background_label=-1,
        score_threshold=least,
        nms_top_k=-1,
        keep_top_k=-1,
        nms_threshold=overlap,
    )
    rows, number = f.bare_rows(selected["Out"]), f.to(f.bare_rows(selected["Index"]), "int64")
    label = f.to(f.cut(rows, 1, 0, 1), "int64")
    image = f.floor_divide(number, np.array(count))
    box = f.remainder(number, np.array(count))
    out = f.concat([image, label, box], axis=1)
    group = f.elementwise_add(f.elementwise_mul(image, np.array(1 << 20)), label)
    return f.gather(out, f.where_index(f.less_equal(_ranks(f, group), np.array(limit))))


def _corners(f: Any, boxes: Any, center: bool) -> Any:
    """Boxes by their smallest and their largest corner."""
    one, other = f.cut(boxes, 2, 0, 2), f.cut(boxes, 2, 2, 4)
    if center:
        half = f.scale(other, scale=0.5)
        one, other = f.elementwise_sub(one, half), f.elementwise_add(one, half)
    return f.concat([f.minimum(one, other), f.maximum(one, other)], axis=2)


def _ranks(f: Any, group: Any) -> Any:
    """Which of its group each element is, counted from 1."""
    same = f.to(f.equal(group, f.transposed(group, [1, 0])), "int64")
    return f.take_diagonal(f.cumsum(same, axis=1))
