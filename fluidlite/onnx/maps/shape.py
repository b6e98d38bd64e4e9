"""Shapes in ONNX: sizes that are not known stay unknown."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...backend import numpy_
from ...opdef.definition import lookup
from ...opdef.spec import spec
from ...ops.rearrange import moved
from ..graph import OnnxGraph
from ..rearranging import in_shape, joined, numbers, sizes_of, vector
from ..tracing import SizesNeeded
from ..writing import maps

FAR = np.array(np.iinfo(np.int64).max)  #: behind the end of every dimension


@maps("reshape", "reshape2")
def reshape(graph: OnnxGraph, op: Any, X: Any, Shape: Any, ShapeTensor: Any) -> Any:
    return dict(Out=graph.Reshape(X, vector(graph, op.shape, Shape, ShapeTensor)))


@maps("flatten", "flatten2")
def flatten(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return dict(Out=graph.Flatten(X, axis=int(op.axis)))


@maps("flatten_contiguous_range")
def flatten_contiguous_range(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if not X.ndim:
        return dict(Out=graph.Reshape(X, numbers([1])))
    first, last = op.start_axis % X.ndim, op.stop_axis % X.ndim
    behind = sizes_of(graph, X, last + 1, X.ndim)
    if last + 1 == X.ndim and X.sizes[:first].count(-1) < 2:
        return dict(Out=graph.Reshape(X, numbers([*[0] * first, -1])))
    return dict(Out=in_shape(graph, X, sizes_of(graph, X, 0, first), numbers([-1]), behind))


@maps("squeeze", "squeeze2")
def squeeze(graph: OnnxGraph, op: Any, X: Any) -> Any:
    axes = op.axes or [i for i, n in enumerate(X.sizes) if n == 1]
    return dict(Out=graph.Squeeze(X, numbers(axes)))


@maps("unsqueeze", "unsqueeze2")
def unsqueeze(graph: OnnxGraph, op: Any, X: Any, AxesTensor: Any, AxesTensorList: Any) -> Any:
    if AxesTensor is not None or AxesTensorList:
        return NotImplemented
    out = X
    for axis in op.axes:
        out = graph.Unsqueeze(out, numbers([axis]))
    return dict(Out=out if op.axes else graph.Identity(X))


@maps("transpose2")
def transpose(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return dict(Out=graph.Transpose(X, perm=[axis % X.ndim for axis in op.axis]))


@maps("shape")
def shape(graph: OnnxGraph, op: Any, Input: Any) -> Any:
    if -1 not in Input.sizes:
        return np.asarray(Input.sizes, np.int32)
    return graph.like(graph.Shape(Input), np.int32)


@maps("split")
def split(graph: OnnxGraph, op: Any, X: Any, AxisTensor: Any, SectionsTensorList: Any) -> Any:
    if AxisTensor is not None or SectionsTensorList or (-1 in op.sections):
        return NotImplemented
    axis, count = int(op.axis), op.num or len(op.sections)
    sections = numbers(op.sections) if op.sections else None
    attrs = {} if op.sections else {"num_outputs": count}
    found = graph.node("Split", [X, sections], count, axis=axis, **attrs)
    return [found] if count == 1 else list(found)


@maps("fill_constant_batch_size_like")
def fill_like_batch(graph: OnnxGraph, op: Any, Input: Any) -> Any:
    if Input.offsets:
        return NotImplemented
    source, at = op.input_dim_idx % Input.ndim, op.output_dim_idx % len(op.shape)
    if Input.sizes[source] != -1:
        return op.full(np, op.shape_like(Input.spec))
    size = sizes_of(graph, Input, source, source + 1)
    whole = joined(graph, numbers(op.shape[:at]), size, numbers(op.shape[at + 1 :]))
    return graph.Expand(np.asarray(op.number(), op.dtype.dtype), whole)


@maps("fill_constant")
def fill_constant(
    graph: OnnxGraph, op: Any, ValueTensor: Any, ShapeTensor: Any, ShapeTensorList: Any
) -> Any:
    if ShapeTensor is None and not ShapeTensorList:
        return NotImplemented
    shape = vector(graph, op.shape, ShapeTensor, ShapeTensorList)
    number = np.asarray(op.number(), op.dtype.dtype)
    if ValueTensor is not None:
        number = graph.Reshape(graph.like(ValueTensor, op.dtype.dtype), numbers([]))
    return graph.Expand(number, shape)


@maps("size")
def size(graph: OnnxGraph, op: Any, Input: Any) -> Any:
    return graph.Reshape(graph.Size(Input), numbers(op.one))


@maps("fill_any_like", "fill_zeros_like", "fill_zeros_like2")
def fill_like(graph: OnnxGraph, op: Any, X: Any) -> Any:
    dtype: Any = getattr(op, "dtype", -1)
    return np.full_like(X, getattr(op, "value", 0), X.dtype if dtype == -1 else dtype.dtype)


@maps("shuffle_channel")
def shuffle_channel(graph: OnnxGraph, op: Any, X: Any) -> Any:
    channels = X.sizes[1]
    if channels == -1:
        raise SizesNeeded("how channels are grouped follows from their number")
    lead, image = sizes_of(graph, X, 0, 1), sizes_of(graph, X, 2, 4)
    rows = in_shape(graph, X, lead, numbers([op.group, channels // op.group]), image)
    return in_shape(
        graph, graph.Transpose(rows, perm=[0, 2, 1, 3, 4]), lead, numbers([channels]), image
    )


@maps("pixel_shuffle")
def pixel_shuffle(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if op.data_format != "NCHW":
        return NotImplemented
    return graph.DepthToSpace(X, blocksize=int(op.upscale_factor), mode="CRD")


@maps("pixel_unshuffle")
def pixel_unshuffle(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if op.data_format != "NCHW" or -1 in X.sizes[1:]:
        return NotImplemented
    c, h, w = X.sizes[1:]
    r = op.downscale_factor
    spread = graph.Reshape(X, numbers([0, c, h // r, r, w // r, r]))
    squares = graph.Transpose(spread, perm=[0, 1, 3, 5, 2, 4])
    return graph.Reshape(squares, numbers([0, c * r * r, h // r, w // r]))


@maps("space_to_depth")
def space_to_depth(graph: OnnxGraph, op: Any, X: Any) -> Any:
    side, channels = int(op.blocksize), X.sizes[1]
    if channels == -1:
        raise SizesNeeded("how channels are grouped follows from their number")
    lead, image = sizes_of(graph, X, 0, 1), sizes_of(graph, X, 2, 4)
    groups = numbers([side, side, channels // side**2])
    large = graph.Transpose(in_shape(graph, X, lead, groups, image), perm=[0, 3, 4, 1, 5, 2])
    smaller = image // side if isinstance(image, np.ndarray) else graph.Div(image, numbers([side]))
    return in_shape(graph, large, lead, numbers([channels * side**2]), smaller)


@maps("shift_frames")
def shift_frames(graph: OnnxGraph, op: Any, X: Any) -> Any:
    inside = sizes_of(graph, X, 1, X.ndim)
    clips = in_shape(graph, X, numbers([-1, op.frames]), inside)
    clips.spec = spec([-1, op.frames, *X.sizes[1:]], X.dtype)
    first, second = op.bounds
    parts = [
        moved(np, clips[:, :, :first], op.step),
        moved(np, clips[:, :, first:second], -op.step),
        clips[:, :, second:],
    ]
    return in_shape(graph, np.concatenate(parts, axis=2), numbers([-1]), inside)


@maps("temporal_shift")
def temporal_shift(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if op.data_format == "NHWC":
        return NotImplemented
    if X.sizes[1] == -1:
        raise SizesNeeded("which channels are shifted follows from their number")
    bounds = [int(X.sizes[1] * share * op.shift_ratio) for share in (1, 2)]
    attrs = dict(frames=op.seg_num, bounds=bounds, step=1)
    return shift_frames(graph, lookup("shift_frames")(attrs), X)


@maps("meshgrid")
def meshgrid(graph: OnnxGraph, op: Any, X: Any) -> Any:
    whole = joined(graph, *(sizes_of(graph, x, 0, 1) for x in X))
    others = [[i for i in range(len(X)) if i != k] for k in range(len(X))]
    return [graph.Expand(graph.Unsqueeze(x, numbers(o)), whole) for x, o in zip(X, others)]


@maps("is_empty")
def is_empty(graph: OnnxGraph, op: Any, X: Any) -> Any:
    return graph.Reshape(graph.Equal(graph.Size(X), np.array(0)), numbers([1]))


@maps("unfold")
def unfold(graph: OnnxGraph, op: Any, X: Any) -> Any:
    count, height, width = X.sizes[1:]
    if -1 in X.sizes[1:]:
        return unfolded(graph, op, X)
    places = np.arange(1, height * width + 1, dtype=np.float64).reshape(1, 1, height, width)
    columns = op.run(numpy_.xp, places)[0].astype(np.int64) - 1  # -1 for the zero behind the last
    flat = graph.Reshape(X, numbers([-1, count, height * width]))
    taken = graph.Gather(graph.Pad(flat, numbers([0, 0, 0, 0, 0, 1])), columns, axis=2)
    return graph.Reshape(taken, numbers([-1, count * columns.shape[0], columns.shape[1]]))


def unfolded(graph: OnnxGraph, op: Any, X: Any) -> Any:
    """What lies under each element of a window, over images whose sizes are not known."""
    top, left, bottom, right = op.paddings
    if min(op.paddings) < 0:
        raise SizesNeeded("images of which a part is taken away are unfolded by their sizes")
    # a position may reach beyond the padding by less than a step, and is the only one then
    more = [step - 1 for step in op.strides]
    image = graph.Pad(X, numbers([0, 0, top, left, 0, 0, bottom + more[0], right + more[1]]))
    covered, strides = numbers([a + b for a, b in zip(op.spans, more)]), numbers(op.strides)
    room = graph.Max(graph.Sub(graph.Shape(image, start=2), covered), np.array(0))
    steps = graph.Div(room, strides)
    reach = graph.Add(graph.Mul(steps, strides), numbers([1]))
    parts = []
    for element in itertools.product(*map(range, op.kernel_sizes)):
        begin = numbers([k * dilation for k, dilation in zip(element, op.dilations)])
        part = graph.Slice(image, begin, graph.Add(reach, begin), numbers([2, 3]), strides)
        parts.append(graph.Unsqueeze(part, numbers([2])))
    columns = graph.node("Concat", parts, axis=2)
    lead, channels = sizes_of(graph, X, 0, 1), sizes_of(graph, X, 1, 2)
    rows = graph.Mul(channels, numbers([len(parts)]))
    places = graph.node("ReduceProd", [graph.Add(steps, numbers([1]))], keepdims=1)
    return in_shape(graph, columns, lead, rows, places)


def bounds_of(graph: OnnxGraph, known: Any, whole: Any, parts: Any) -> Any:
    """Where slices begin or end: one number for each axis, of an attribute or of tensors."""
    if parts:
        graph.checks.append("that a slice takes an element is not checked")
        each = [graph.Reshape(graph.like(n, np.int64), numbers([1])) for n in parts]
        return graph.node("Concat", each, axis=0)
    if whole is not None:
        graph.checks.append("that a slice takes an element is not checked")
        return graph.Reshape(graph.like(whole, np.int64), numbers([-1]))
    return numbers(known)


@maps("slice", "strided_slice")
def slice_of(
    graph: OnnxGraph,
    op: Any,
    Input: Any,
    StartsTensor: Any,
    EndsTensor: Any,
    StartsTensorList: Any,
    EndsTensorList: Any,
    StridesTensor: Any,
    StridesTensorList: Any,
) -> Any:
    begin = bounds_of(graph, op.starts, StartsTensor, StartsTensorList)
    end = bounds_of(graph, op.ends, EndsTensor, EndsTensorList)
    strides = getattr(op, "strides", None) or [1] * len(op.axes)
    steps = bounds_of(graph, strides, StridesTensor, StridesTensorList)
    if isinstance(steps, np.ndarray) and isinstance(end, np.ndarray):
        end = np.where((steps < 0) & (end == -1), -FAR, end)  # down to the first element
    out = graph.Slice(Input, begin, end, numbers(op.axes), steps)
    if len(op.decrease_axis) == Input.ndim:
        return graph.Reshape(out, numbers(op.one))
    return graph.Squeeze(out, numbers(op.decrease_axis)) if op.decrease_axis else out


@maps("crop", "crop_tensor")
def crop(
    graph: OnnxGraph,
    op: Any,
    X: Any,
    Y: Any,
    Shape: Any,
    ShapeTensor: Any,
    Offsets: Any,
    OffsetsTensor: Any,
) -> Any:
    begin = bounds_of(graph, op.offsets or [0] * X.ndim, Offsets, OffsetsTensor)
    if Y is not None:
        sizes = sizes_of(graph, Y, 0, Y.ndim)
    else:
        sizes = bounds_of(graph, op.shape, Shape, ShapeTensor)
    if not isinstance(sizes, np.ndarray):
        end = graph.Add(begin, sizes)
    elif isinstance(begin, np.ndarray):
        end = np.where(sizes == -1, FAR, begin + sizes)
    else:
        end = graph.Where(sizes == -1, FAR, graph.Add(begin, sizes))
    return graph.Slice(X, begin, end, numbers(range(X.ndim)))


@maps("pad_constant_like")
def pad_like(graph: OnnxGraph, op: Any, X: Any, Y: Any) -> Any:
    missing = graph.Sub(*(sizes_of(graph, v, 0, v.ndim) for v in (X, Y)))
    behind = graph.node("Concat", [numbers([0] * Y.ndim), missing], axis=0)
    return graph.Pad(Y, behind, graph.like(op.pad_value, Y.dtype))


@maps("pad")
def pad(graph: OnnxGraph, op: Any, X: Any) -> Any:
    if min(op.paddings, default=0) < 0:
        return NotImplemented
    pairs = np.reshape(op.paddings, (X.ndim, 2))
    return np.pad(X, pairs, mode="constant", constant_values=op.pad_value)


@maps("pad2d", "pad3d")
def pad2d(graph: OnnxGraph, op: Any, X: Any, Paddings: Any) -> Any:
    paddings = op.paddings if Paddings is None else Paddings
    if not isinstance(paddings, (tuple, np.ndarray)) or np.min(paddings) < 0:
        return NotImplemented
    pairs = np.zeros((X.ndim, 2), int)
    pairs[list(op.axes)] = np.reshape(paddings, (-1, 2))
    if op.kind == "wrap":
        return around(graph, X, pairs)
    value = {"constant_values": op.added_value} if op.kind == "constant" else {}
    return np.pad(X, pairs, mode=op.kind, **value)


def around(graph: OnnxGraph, X: Any, pairs: Any) -> Any:
    """X that goes on at its other end."""
    for axis, (size, (before, after)) in enumerate(zip(X.sizes, pairs)):
        if not before and not after:
            continue
        if size != -1:
            places = np.arange(-before, size + after) % size
            X = graph.Gather(X, places.astype(np.int64), axis=axis)
            continue
        spans = [(-before, FAR)] * bool(before), [(0, after)] * bool(after)
        head, tail = (
            [graph.Slice(X, *(numbers([n]) for n in (*span, axis))) for span in each]
            for each in spans
        )
        X = graph.node("Concat", [*head, X, *tail], axis=axis)
    return X


@maps("expand_as")
def expand_as(graph: OnnxGraph, op: Any, X: Any, target_tensor: Any) -> Any:
    sizes = [sizes_of(graph, v, 0, v.ndim) for v in (target_tensor, X)]
    if all(isinstance(each, np.ndarray) for each in sizes):
        return NotImplemented
    return graph.Tile(X, graph.Div(*sizes))
