"""Parts of images, each pooled to one size, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...opdef.sequences import lod_of
from ...opdef.spec import spec
from ..graph import OnnxGraph
from ..rearranging import in_shape, numbers, sizes_of
from ..writing import maps
from .rows import counted


def images_of(graph: OnnxGraph, rois: Any, bounds: Any, counts: Any) -> Any:
    """For each region the number of its image.

    Args:
        rois: the regions; their sequences are those of the images.
        bounds: where the regions of each image begin, and where the last ones end, instead.
        counts: how many regions each image has, before both.
    """
    if counts is not None or bounds is not None:
        number = graph.Unsqueeze(counted(graph, graph.Shape(rois, end=1)), numbers([1]))
        if counts is not None:
            each = graph.like(graph.Reshape(counts, numbers([-1])), np.int64)
            ends = graph.CumSum(each, np.array(0))
        else:
            ends = graph.Slice(
                graph.like(np.reshape(bounds, (-1,)), np.int64), numbers([1]), numbers([2**30])
            )
        ahead = graph.Cast(graph.GreaterOrEqual(number, ends), to=7)
        return graph.ReduceSum(ahead, numbers([1]), keepdims=0)
    if not lod_of(rois):
        return np.zeros(rois.shape[0], np.int64)
    lengths = np.diff(lod_of(rois)[-1])
    return np.repeat(np.arange(len(lengths)), lengths)


def places_along(graph: OnnxGraph, X: Any, axis: int) -> Any:
    """The numbers of an image's columns (of axis 0) or rows (of axis 1), as its elements are."""
    return graph.like(counted(graph, sizes_of(graph, X, 3 - axis, 4 - axis)), X.dtype)


def aligned(graph: OnnxGraph, op: Any, X: Any, rois: Any, axis: int, bins: int) -> Any:
    """The weights of rows or columns in means of points between them, [regions, bins, size]."""
    half = 0.5 if op.aligned else 0
    begin, end = (rois[:, k] * op.spatial_scale - half for k in (axis, axis + 2))
    length = end - begin if op.aligned else np.maximum(end - begin, 1)
    span = np.expand_dims(length / bins, (1, 2))  # [regions, bins, points]
    if op.sampling_ratio > 0:
        count: Any = np.asarray(op.sampling_ratio, X.dtype)
        number = np.arange(op.sampling_ratio, dtype=X.dtype)
    else:
        count = np.ceil(span)
        number = graph.like(counted(graph, graph.ReduceMax(count, keepdims=0)), X.dtype)
        number.spec = spec([-1], X.dtype)
    part = np.arange(bins, dtype=X.dtype)[:, None]
    points = (
        np.expand_dims(begin, (1, 2)) + part * span + (number + 0.5) * span / np.maximum(count, 1)
    )
    last = graph.like(sizes_of(graph, X, 3 - axis, 4 - axis), X.dtype)
    inside = graph.And(graph.GreaterOrEqual(points, np.asarray(-1, X.dtype)), points <= last)
    inside = graph.And(inside, number < count)  # none where an aligned region has no size
    count = np.maximum(count, 1)
    points = graph.Min(np.maximum(points, 0), graph.Sub(last, np.ones(1, X.dtype)))
    gap = graph.Abs(graph.Sub(graph.Unsqueeze(points, numbers([3])), places_along(graph, X, axis)))
    near = graph.Relu(graph.Sub(np.ones(1, X.dtype), gap))
    share = graph.Div(graph.like(inside, X.dtype), count)
    weighted = graph.Mul(graph.Unsqueeze(share, numbers([3])), near)
    return graph.ReduceSum(weighted, numbers([2]), keepdims=0)


@maps("roi_align")
def roi_align(graph: OnnxGraph, op: Any, X: Any, ROIs: Any, RoisLod: Any, RoisNum: Any) -> Any:
    """By the weights of rows and columns: runtimes have no RoiAlign of the newest version."""
    images = graph.Gather(X, images_of(graph, ROIs, RoisLod, RoisNum), axis=0)
    rows = aligned(graph, op, X, ROIs.bare(), 1, op.pooled_height)
    columns = aligned(graph, op, X, ROIs.bare(), 0, op.pooled_width)
    along = graph.MatMul(graph.Unsqueeze(rows, numbers([1])), images)
    turned = graph.Unsqueeze(graph.Transpose(columns, perm=[0, 2, 1]), numbers([1]))
    return graph.MatMul(along, turned)


def shares(graph: OnnxGraph, op: Any, X: Any, rois: Any, axis: int, bins: int) -> Any:
    """The weights of rows or columns in means over parts, [regions, bins, size]."""
    begin, end = (rounded(rois[:, k]) for k in (axis, axis + 2))
    begin, end = begin * op.spatial_scale, (end + 1) * op.spatial_scale
    span, begin = (np.expand_dims(v, 1) for v in (np.maximum(end - begin, 0.1) / bins, begin))
    part = np.arange(bins, dtype=X.dtype)
    first, last = np.floor(part * span + begin), np.ceil((part + 1) * span + begin)
    place = places_along(graph, X, axis)
    under = graph.like(
        graph.And(
            graph.GreaterOrEqual(place, np.expand_dims(first, 2)),
            graph.Less(place, np.expand_dims(last, 2)),
        ),
        X.dtype,
    )
    count = graph.ReduceSum(under, numbers([2]), keepdims=1)
    return graph.Div(under, graph.Max(count, np.ones(1, X.dtype)))


def rounded(x: Any) -> Any:
    """Whole numbers, halves away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


@maps("psroi_pool")
def psroi_pool(graph: OnnxGraph, op: Any, X: Any, ROIs: Any, RoisNum: Any) -> Any:
    images = graph.Gather(X, images_of(graph, ROIs, None, RoisNum), axis=0)
    channels = numbers([op.output_channels, op.pooled_height, op.pooled_width])
    parts = in_shape(graph, images, numbers([-1]), channels, sizes_of(graph, X, 2, 4))
    rows = shares(graph, op, X, ROIs.bare(), 1, op.pooled_height)
    columns = shares(graph, op, X, ROIs.bare(), 0, op.pooled_width)
    return graph.Einsum(parts, rows, columns, equation="rcijhw,rih,rjw->rcij")


@maps("roi_pool")
def roi_pool(
    graph: OnnxGraph, op: Any, X: Any, ROIs: Any, RoisLod: Any, RoisNum: Any, want: Any
) -> Any:
    """Maxima over the columns of each part, and then over its rows: runtimes dropped MaxRoiPool."""
    if want is None or set(want) != {"Out"}:
        return NotImplemented
    images = graph.Gather(X, images_of(graph, ROIs, RoisLod, RoisNum), axis=0)
    ends = ROIs.bare() * op.spatial_scale
    ends = graph.like(rounded(ends), np.float32)
    least = graph.like(np.finfo(X.dtype).min, X.dtype)
    out = images
    for axis, bins in ((3, op.pooled_width), (2, op.pooled_height)):
        begin, end = ends[:, 3 - axis], ends[:, 5 - axis]
        span = np.maximum(end - begin + 1, np.float32(1)) / np.float32(bins)
        place = graph.like(counted(graph, sizes_of(graph, X, axis, axis + 1)), np.float32)
        parts = []
        for i in range(bins):
            first = np.floor(np.float32(i) * span) + begin
            last = np.ceil(np.float32(i + 1) * span) + begin
            inside = graph.And(
                graph.GreaterOrEqual(place, np.expand_dims(first, 1)),
                graph.Less(place, np.expand_dims(last, 1)),
            )
            around = numbers([1, 2] if axis == 3 else [1, 3])
            part = graph.Where(graph.Unsqueeze(inside, around), out, least)
            parts.append(graph.ReduceMax(part, numbers([axis]), keepdims=1))
        out = graph.node("Concat", parts, axis=axis)
    empty = graph.Equal(out, least)
    return dict(Out=graph.Where(empty, np.zeros((), X.dtype), out))


@maps("grid_sampler")
def grid_sampler(graph: OnnxGraph, op: Any, X: Any, Grid: Any) -> Any:
    if X.dtype != np.float32 or -1 not in (*X.sizes, *Grid.sizes):
        return NotImplemented
    attrs = dict(mode="linear", padding_mode="zeros", align_corners=1)
    return graph.GridSample(X, Grid, **attrs)
