"""Pooling in ONNX."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...opdef.spec import window_padding
from ...ops.pool import OF_NONE
from ..graph import OnnxGraph
from ..rearranging import in_shape, joined, numbers, sizes_of
from ..writing import maps
from .rows import counted

REDUCTIONS = {"max": "ReduceMax", "avg": "ReduceMean"}


@maps("pool2d", "pool3d")
def pool(graph: OnnxGraph, op: Any, X: Any) -> Any:
    kind = {"max": "MaxPool", "avg": "AveragePool"}[op.pooling_type]
    last = next(iter(op.axes)) == 1
    x = np.transpose(X, (0, X.ndim - 1, *range(1, X.ndim - 1))) if last else X
    sizes = [X.sizes[axis] for axis in op.axes]
    if op.global_pooling or (op.adaptive and set(op.ksize) == {1}):
        out = graph.node(f"Global{kind}", [x])
    elif op.adaptive:
        if -1 in sizes:
            return adaptive(graph, X, REDUCTIONS[op.pooling_type], dict(zip(op.axes, op.ksize)))
        if any(n % k for n, k in zip(sizes, op.ksize)):
            return NotImplemented
        step = [n // k for n, k in zip(sizes, op.ksize)]
        out = graph.node(kind, [x], kernel_shape=step, strides=step)
    else:
        pads = window_padding(sizes, op.ksize, op.strides, op.paddings, op.padding_algorithm)
        if -1 not in sizes and any(n + a + b < k for n, (a, b), k in zip(sizes, pads, op.ksize)):
            return NotImplemented  # a window that reaches beyond the image
        attrs: dict[str, Any] = dict(kernel_shape=list(op.ksize), strides=list(op.strides))
        if kind == "AveragePool":
            attrs["count_include_pad"] = int(not op.exclusive)
        clips = kind == "AveragePool" and op.clips and not op.exclusive
        if op.padding_algorithm == "SAME" and -1 in sizes:
            out = graph.node(kind, [x], auto_pad="SAME_UPPER", **attrs)
        elif op.ceil_mode:
            out = reaching_beyond(graph, op, x, pads, attrs)
        else:
            around = [a for a, _ in pads] + [b for _, b in pads]
            out = graph.node(kind, [x], pads=around, **attrs)
            clips &= any(a < b for a, b in pads)
        if clips:
            out = divided(graph, op, x, out, pads)
    return graph.Transpose(out, perm=[0, *range(2, X.ndim), 1]) if last else out


def reaching_beyond(graph: OnnxGraph, op: Any, x: Any, pads: Any, attrs: dict[str, Any]) -> Any:
    """Windows of which the last may reach beyond the padding, and are kept where they begin in it:
    runtimes drop these, so that the images are padded by as much as a step more.
    """
    more = [b + step - 1 for (_, b), step in zip(pads, op.strides)]
    around = numbers([0, 0, *(a for a, _ in pads), 0, 0, *more])
    if op.pooling_type == "max":
        return graph.MaxPool(graph.Pad(x, around, np.asarray(OF_NONE, x.dtype)), **attrs)
    attrs["count_include_pad"] = 1
    means = graph.AveragePool(graph.Pad(x, around), **attrs)
    return divided(graph, op, x, means, pads) if op.exclusive else means


def divided(graph: OnnxGraph, op: Any, x: Any, means: Any, pads: Any) -> Any:
    """Averages divided by as many elements as count, instead of by whole windows."""
    out = means
    for axis, (step, kernel, (before, _)) in enumerate(zip(op.strides, op.ksize, pads), 2):
        windows, size = (graph.Shape(v, start=axis, end=axis + 1) for v in (means, x))
        ahead: Any = np.array(before)
        if op.padding_algorithm == "SAME" and x.sizes[axis] == -1:
            last = graph.Mul(graph.Sub(windows, numbers([1])), numbers([step]))
            around = graph.Sub(graph.Add(last, numbers([kernel])), size)
            ahead = graph.Div(graph.Max(around, numbers([0])), numbers([2]))
        begin = graph.Sub(graph.Mul(counted(graph, windows), np.array(step)), ahead)
        edge, first = size, graph.Max(begin, np.array(0))
        if not op.exclusive:
            edge, first = graph.Add(size, ahead), begin
        end = graph.Min(graph.Add(begin, np.array(kernel)), edge)
        length = graph.Sub(end, first)  # 0 or less in the padding alone
        share = graph.Div(np.asarray(kernel, x.dtype), graph.like(length, x.dtype))
        along = [-1 if i == axis else 1 for i in range(x.ndim)]
        out = graph.Mul(out, graph.Reshape(share, numbers(along)))
    return out


def bounds(graph: OnnxGraph, x: Any, axis: int, i: int, count: int) -> tuple[Any, Any]:
    """Begin and end of part ``i`` of ``count`` that divide images evenly along a dimension."""
    size = graph.Shape(x, start=axis, end=axis + 1)
    behind = graph.Add(graph.Mul(size, numbers([i + 1])), numbers([count - 1]))
    return tuple(graph.Div(n, numbers([count])) for n in (graph.Mul(size, numbers([i])), behind))


def adaptive(graph: OnnxGraph, x: Any, kind: str, counts: dict[int, int]) -> Any:
    """What windows that divide images of any sizes give, along one dimension after the other.

    Args:
        graph, x: the images.
        kind: ReduceMax or ReduceMean.
        counts: how many windows there are, by dimension.
    """
    for axis, count in counts.items():
        parts = [
            graph.Slice(x, *bounds(graph, x, axis, i, count), numbers([axis])) for i in range(count)
        ]
        parts = [graph.node(kind, [part, numbers([axis])], keepdims=1) for part in parts]
        x = graph.node("Concat", parts, axis=axis)
    return x


@maps("max_pool2d_with_index", "max_pool3d_with_index")
def pool_with_index(graph: OnnxGraph, op: Any, X: Any, want: Any) -> Any:
    """The largest elements, and their numbers in their images: ONNX numbers those of all images."""
    if op.global_pooling or op.adaptive:
        windows = [1] * op.rank if op.global_pooling else op.ksize
        if want is not None and "Mask" not in want:
            return dict(Out=adaptive(graph, X, "ReduceMax", dict(zip(op.axes, windows))))
        return largest_of_parts(graph, X, windows)
    pads = window_padding(X.sizes[2:], op.ksize, op.strides, op.paddings)
    around = [a for a, _ in pads] + [b for _, b in pads]
    if min(around) < 0:
        return NotImplemented  # the images are cut
    attrs = dict(kernel_shape=list(op.ksize), strides=list(op.strides), pads=around)
    largest, number = graph.node("MaxPool", [X], 2, **attrs)
    count = graph.node("ReduceProd", [graph.Shape(X, start=2)], keepdims=0)
    return largest, graph.Cast(graph.Mod(number, count), to=6)


def largest_of_parts(graph: OnnxGraph, X: Any, windows: Any) -> Any:
    """The largest element of each part that divides an image, and its number in the image."""
    maps, pairs = sizes_of(graph, X, 0, 2), []
    for places in itertools.product(*map(range, windows)):
        axes = range(2, len(windows) + 2)
        ends = [bounds(graph, X, *each) for each in zip(axes, places, windows)]
        begins, behind = (graph.node("Concat", each, axis=0) for each in zip(*ends))
        part = graph.Slice(X, begins, behind, numbers(axes))
        flat = in_shape(graph, part, maps, numbers([-1]))
        left = graph.node("ArgMax", [flat], axis=2, keepdims=1)
        number, stride = np.array(0), numbers([1])
        for axis, (begin, _) in reversed(list(zip(axes, ends))):
            size = graph.Shape(part, start=axis, end=axis + 1)
            place = graph.Add(graph.Mod(left, size), begin)
            number = graph.Add(number, graph.Mul(place, stride))
            stride = graph.Mul(stride, graph.Shape(X, start=axis, end=axis + 1))
            left = graph.Div(left, size)
        pairs.append((graph.ReduceMax(flat, numbers([2]), keepdims=1), number))
    shape = joined(graph, maps, numbers(windows))
    largest, numbered = (
        graph.Reshape(graph.node("Concat", each, axis=2), shape) for each in zip(*pairs)
    )
    return largest, graph.Cast(numbered, to=6)


@maps("unpool")
def unpool(graph: OnnxGraph, op: Any, X: Any, Indices: Any) -> Any:
    sizes = graph.Shape(X, start=2, end=4)
    grown = graph.Mul(graph.Sub(sizes, numbers([1])), numbers(op.strides))
    image = graph.Add(grown, numbers([k - 2 * p for k, p in zip(op.ksize, op.paddings)]))
    maps = sizes_of(graph, X, 0, 2)
    flat = joined(graph, maps, graph.node("ReduceProd", [image], keepdims=1))
    zeros = graph.Expand(np.zeros((), X.dtype), flat)
    places, values = (in_shape(graph, v, maps, numbers([-1])) for v in (Indices, X))
    out = graph.ScatterElements(zeros, graph.like(places, np.int64), values, axis=2)
    graph.checks.append("that indices of unpool lie in range is not checked")
    return in_shape(graph, out, maps, image)
