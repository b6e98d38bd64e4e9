"""Parts of images, each pooled to one size, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...opdef.sequences import lod_of
from ..graph import OnnxGraph
from ..rearranging import numbers, sizes_of
from ..writing import maps
from .rows import counted


def images_of(graph: OnnxGraph, rois: Any, bounds: Any) -> Any:
    """For each region the number of its image.

    Args:
        rois: the regions; their sequences are those of the images.
        bounds: where the regions of each image begin, and where the last ones end, instead.
    """
    if bounds is not None:
        number = graph.Unsqueeze(counted(graph, graph.Shape(rois, end=1)), numbers([1]))
        ends = graph.Slice(
            graph.like(np.reshape(bounds, (-1,)), np.int64), numbers([1]), numbers([2**30])
        )
        ahead = graph.Cast(graph.GreaterOrEqual(number, ends), to=7)
        return graph.ReduceSum(ahead, numbers([1]), keepdims=0)
    if not lod_of(rois):
        return np.zeros(rois.shape[0], np.int64)
    lengths = np.diff(lod_of(rois)[-1])
    return np.repeat(np.arange(len(lengths)), lengths)


@maps("roi_align")
def roi_align(graph: OnnxGraph, op: Any, X: Any, ROIs: Any, RoisLod: Any) -> Any:
    if X.dtype != np.float32:
        return NotImplemented
    return graph.RoiAlign(
        X,
        ROIs.bare(),
        images_of(graph, ROIs, RoisLod),
        output_height=op.pooled_height,
        output_width=op.pooled_width,
        sampling_ratio=max(op.sampling_ratio, 0),
        spatial_scale=float(op.spatial_scale),
        coordinate_transformation_mode="output_half_pixel",
    )


@maps("roi_pool")
def roi_pool(graph: OnnxGraph, op: Any, X: Any, ROIs: Any, RoisLod: Any, want: Any) -> Any:
    """Maxima over the columns of each part, and then over its rows: runtimes dropped MaxRoiPool."""
    if want is None or set(want) != {"Out"}:
        return NotImplemented
    images = graph.Gather(X, images_of(graph, ROIs, RoisLod), axis=0)
    ends = ROIs.bare() * op.spatial_scale
    ends = graph.like(np.trunc(ends + np.copysign(np.asarray(0.5, X.dtype), ends)), np.float32)
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
