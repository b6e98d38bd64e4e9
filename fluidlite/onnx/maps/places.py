"""Boxes around each place of images whose sizes are not known, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...opdef.spec import spec
from ...ops.yolo import sigmoid
from ..graph import OnnxGraph
from ..namespace import namespace
from ..rearranging import in_shape, joined, numbers, sizes_of
from ..writing import maps
from .rows import counted


def numbered(graph: OnnxGraph, x: Any, axis: int, dtype: Any) -> Any:
    """The numbers 0, 1, 2 and so on of what lies along a dimension."""
    found = graph.like(counted(graph, sizes_of(graph, x, axis, axis + 1)), dtype)
    if not isinstance(found, np.ndarray):
        found.spec = spec([-1], dtype)
    return found


def size_as(graph: OnnxGraph, x: Any, axis: int, dtype: Any) -> Any:
    """The size of a dimension, a vector of one element."""
    return graph.like(sizes_of(graph, x, axis, axis + 1), dtype)


def boxes_around(graph: OnnxGraph, x: Any, across: Any, down: Any, halves: Any) -> Any:
    """The boxes around each place, [H, W, boxes of a place, 4].

    Args:
        graph, x: the images.
        across, down: the columns' and the rows' centres, vectors.
        halves: half the width and height of each box of a place.
    """
    whole = joined(graph, sizes_of(graph, x, 2, 4), numbers([1, 1]))
    centres = graph.node(
        "Concat",
        [
            graph.Expand(graph.Reshape(across, numbers([1, -1, 1, 1])), whole),
            graph.Expand(graph.Reshape(down, numbers([-1, 1, 1, 1])), whole),
        ],
        axis=3,
    )
    ends = graph.Sub(centres, np.array(halves)), graph.Add(centres, np.array(halves))
    return graph.node("Concat", ends, axis=3)


def with_variances(graph: OnnxGraph, op: Any, x: Any, boxes: Any) -> Any:
    """Boxes and their variances, in the element type of the images."""
    variances = graph.Expand(np.array(op.variances, x.dtype), graph.Shape(boxes))
    return graph.like(boxes, x.dtype), variances


@maps("anchor_generator")
def anchor_generator(graph: OnnxGraph, op: Any, Input: Any) -> Any:
    if -1 not in Input.sizes[2:]:
        return NotImplemented
    across, down = (
        numbered(graph, Input, axis, np.float64) * stride + op.offset * (stride - 1)
        for axis, stride in zip((3, 2), op.stride)
    )
    boxes = boxes_around(graph, Input, across, down, op.halves())
    return with_variances(graph, op, Input, boxes)


@maps("prior_box")
def prior_box(graph: OnnxGraph, op: Any, Input: Any, Image: Any) -> Any:
    if -1 not in (*Input.sizes[2:], *Image.sizes[2:]):
        return NotImplemented
    lines, sizes = [], []
    for axis, step in ((3, op.step_w), (2, op.step_h)):
        image, places = (size_as(graph, v, axis, np.float64) for v in (Image, Input))
        apart = np.array([step]) if step else graph.Div(image, places)
        where = numbered(graph, Input, axis, np.float64) + op.offset
        lines.append(graph.Mul(where, apart))
        sizes.append(image)
    boxes = boxes_around(graph, Input, lines[0], lines[1], op.halves())
    boxes = graph.Div(boxes, graph.node("Concat", sizes * 2, axis=0))
    if op.clip:
        boxes = graph.Clip(boxes, np.array(0.0), np.array(1.0))
    return with_variances(graph, op, Input, boxes)


@maps("yolo_box")
def yolo_box(graph: OnnxGraph, op: Any, X: Any, ImgSize: Any) -> Any:
    if -1 not in X.sizes[2:]:
        return NotImplemented
    dtype, anchors = X.dtype, len(op.anchors) // 2
    lead, image = sizes_of(graph, X, 0, 1), sizes_of(graph, X, 2, 4)
    x = in_shape(graph, X, lead, numbers([anchors, 5 + op.class_num]), image)
    x.spec = spec([X.sizes[0], anchors, 5 + op.class_num, *X.sizes[2:]], dtype)
    rows = graph.like(size_as(graph, X, 2, dtype), dtype)
    xp = namespace(graph)
    stretched = 0.5 + (sigmoid(xp, x[:, :, :2]) - 0.5) * op.scale_x_y
    places = numbered(graph, X, 3, dtype), np.expand_dims(numbered(graph, X, 2, dtype), 1)
    sides = np.reshape(np.array(op.anchors, dtype), (-1, 2, 1, 1)) / dtype.type(op.downsample_ratio)
    extents = graph.Div(np.exp(x[:, :, 2:4]) * sides, rows)
    extents.spec = stretched.spec
    near, far = [], []
    for k in range(2):  # across, and down
        most = graph.like(np.reshape(ImgSize[:, 1 - k], (-1, 1, 1, 1)), dtype)
        centre = graph.Mul(graph.Div(stretched[:, :, k] + places[k], rows), most)
        half = graph.Div(graph.Mul(extents[:, :, k], most), np.array(2, dtype))
        begin, end = graph.Sub(centre, half), graph.Add(centre, half)
        if op.clip_bbox:
            begin = graph.Max(begin, np.array(0, dtype))
            end = graph.Min(end, graph.Sub(most, np.array(1, dtype)))
        near.append(begin)
        far.append(end)
    sure = sigmoid(xp, x[:, :, 4])
    kept = graph.like(sure >= dtype.type(op.conf_thresh), dtype)
    last = [graph.Unsqueeze(v, numbers([4])) for v in (*near, *far)]
    boxes = graph.Mul(graph.node("Concat", last, axis=4), graph.Unsqueeze(kept, numbers([4])))
    shares = graph.Mul(sigmoid(xp, x[:, :, 5:]), graph.Unsqueeze(sure * kept, numbers([2])))
    scores = graph.Transpose(shares, perm=[0, 1, 3, 4, 2])
    return (
        in_shape(graph, boxes, lead, numbers([-1, 4])),
        in_shape(graph, scores, lead, numbers([-1, op.class_num])),
    )
