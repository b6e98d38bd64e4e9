"""Other shapes and orders of elements, parts of tensors, and tensors made of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...opdef.spec import broadcast
from ..building import need_room
from ..forms import operator


@operator("Shape")
def shape(f: Any, x: Any, *, start: int = 0, end: int | None = None) -> Any:
    sizes = f.sizes(x)
    begin, stop, _ = slice(start, end).indices(len(sizes))
    wanted = sizes[begin:stop]
    if -1 not in wanted:
        return np.array(wanted, np.int64)
    result = f.to(f.shape(x), np.int64)
    if len(wanted) < len(sizes):
        result = f.cut(result, 0, begin, stop)
    f.note_partial(result, list(wanted))
    return result


@operator("Size")
def size(f: Any, x: Any) -> Any:
    if -1 not in f.sizes(x):
        return np.array(math.prod(f.sizes(x)), np.int64)
    return f.reshaped(f.to(f.size(x), np.int64), [])


@operator("Reshape")
def reshape(f: Any, x: Any, shape: Any = None, *, allowzero: int = 0) -> Any:
    sizes = f.partial(shape)
    if allowzero and sizes is None:  # fluid takes 0 for a size that stays
        sizes = f.numbers(shape, "the shape of Reshape")
    whole = f.elements(shape) is not None
    if sizes is None or (not whole and sizes.count(-1) > 1):
        known = sizes or [-1] * f.length(shape)
        return f.reshape2(x, Shape=shape, shape=known)
    if allowzero and 0 in sizes:
        others = math.prod(n for n in sizes if n not in (0, -1))
        return f.reshaped(x, [others * 0 if n == -1 else n for n in sizes])
    if 0 in f.sizes(x):
        kept = [f.sizes(x)[i] if n == 0 else n for i, n in enumerate(sizes)]
        rest = math.prod(n for n in kept if n != -1)
        return f.reshaped(x, [0 if n == -1 and rest else max(n, 0) for n in kept])
    return f.reshape2(x, shape=sizes)


@operator("Flatten")
def flatten(f: Any, x: Any, *, axis: int = 1) -> Any:
    axis = axis + f.ndim(x) if axis < 0 else axis
    if f.ndim(x) == axis:
        return f.reshaped(x, [-1, 1])
    return f.flatten2(x, axis=axis)


@operator("Squeeze", moved=["axes"])
def squeeze(f: Any, x: Any, axes: Any = None) -> Any:
    if axes is None:
        return f.dropped(x, *(i for i, n in enumerate(f.known_sizes(x)) if n == 1))
    return f.dropped(x, *f.numbers(axes, "the axes of Squeeze"))


@operator("Unsqueeze", moved=["axes"])
def unsqueeze(f: Any, x: Any, axes: Any) -> Any:
    axes = f.numbers(axes, "the axes of Unsqueeze")
    rank = f.ndim(x) + len(axes)
    return f.added(x, *[axis % rank for axis in axes])


@operator("Transpose")
def transpose(f: Any, x: Any, *, perm: Any = None) -> Any:
    return f.transposed(x, range(f.ndim(x))[::-1] if perm is None else perm)


@operator("Expand")
def expand(f: Any, x: Any, shape: Any) -> Any:
    sizes = f.partial(shape)
    if sizes is not None and -1 not in sizes:
        if 0 in sizes:
            return np.zeros(broadcast(f.sizes(x), tuple(sizes)), f.type_of(x))
        return f.spread(x, np.broadcast_to(np.zeros((), f.type_of(x)), sizes))
    kind = f.type_of(x)
    wide = "int32" if kind.kind == "b" else kind
    zeros = filled(f, shape, np.zeros((), wide))
    return f.to(f.elementwise_add(f.to(x, wide), zeros), kind)


def filled(f: Any, shape: Any, value: Any) -> Any:
    """A tensor of equal elements, of a shape that may be known only when the program runs."""
    sizes, array = f.partial(shape), np.asarray(value)
    one = float(array) if array.dtype.kind == "f" else int(array)
    attrs = dict(dtype=array.dtype, str_value=repr(one), value=float(one))
    if sizes is not None and -1 not in sizes:
        if not sizes or 0 in sizes:
            return np.full(sizes, array)
        return f.fill_constant(shape=sizes, **attrs)
    if sizes is None or set(sizes) == {-1}:
        known = [-1] * (f.length(shape) if sizes is None else len(sizes))
        return f.fill_constant(ShapeTensor=shape, shape=known, **attrs)
    each = [f.cut(shape, 0, i, i + 1) if n == -1 else np.array([n]) for i, n in enumerate(sizes)]
    return f.fill_constant(ShapeTensorList=each, shape=sizes, **attrs)


@operator("ConstantOfShape")
def constant_of_shape(f: Any, shape: Any, *, value: Any = None) -> Any:
    return filled(f, shape, np.zeros((), "float32") if value is None else value.reshape(()))


@operator("Tile")
def tile(f: Any, x: Any, repeats: Any) -> Any:
    times = f.elements(repeats)
    if times is None:
        return f.expand(x, ExpandTimes=f.to(repeats, "int32"))
    return f.expand(x, expand_times=[int(n) for n in times]) if times.size else x


@operator("Concat")
def concat(f: Any, *xs: Any, axis: int) -> Any:
    kind = f.type_of(xs[0])
    found = [f.to(x, "int32") if kind.kind == "b" else x for x in xs]
    filled = [x for x in found if f.sizes(x)[axis] != 0] or found[:1]
    return f.to(f.concat(filled, axis=axis) if len(filled) > 1 else filled[0], kind)


@operator("Split", moved=["split"])
def split(
    f: Any, x: Any, split: Any = None, *, axis: int = 0, num_outputs: int | None = None, count: int
) -> Any:
    if split is not None:
        sizes = f.numbers(split, "the sizes of Split")
    else:
        whole = f.known_sizes(x, [axis])[0]
        part = -(-whole // (num_outputs or count))
        sizes = [max(min(part, whole - i * part), 0) for i in range(count)]
    if len(sizes) != count or min(sizes, default=0) < 0:
        raise UnsupportedError(f"expected {count} sizes to split into, got {len(sizes)}")
    parts, begin = [], 0
    for n in sizes:
        parts.append(part_of(f, x, axis, begin, begin + n))
        begin += n
    return parts


def part_of(f: Any, x: Any, axis: int, begin: int, end: int) -> Any:
    """The elements from one place to another along a dimension; there may be none."""
    axis %= f.ndim(x)
    if begin < end:
        return f.cut(x, axis, begin, end)
    others = f.known_sizes(x, [i for i in range(f.ndim(x)) if i != axis])
    return np.zeros([*others[:axis], 0, *others[axis:]], f.type_of(x))


@operator("Slice", moved=["starts", "ends", "axes"])
def slice_of(f: Any, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    """Parts along some dimensions; bounds may be known only when the program runs."""
    if axes is not None:
        axes = [axis % f.ndim(x) for axis in f.numbers(axes, "the axes of Slice")]
    count = f.length(starts)
    axes = list(range(count)) if axes is None else axes
    steps = np.ones(count, np.int64) if steps is None else steps
    if any(f.elements(v) is None for v in (starts, ends, steps)):
        return _slice_at_run(f, x, axes, starts, ends, steps)
    out = x
    for axis, *move in zip(axes, *map(f.partial, (starts, ends, steps))):
        out = _sliced(f, out, axis, *move)
    return out


_FAR = 2**30  # beyond the last element, within what attributes hold


def _sliced(f: Any, x: Any, axis: int, first: int, last: int, stride: int) -> Any:
    size = f.sizes(x)[axis]
    first, last = (max(min(n, _FAR), -_FAR) for n in (first, last))
    if size == -1:
        if (first, stride) == (0, 1) and last == _FAR:
            return x
        attrs = dict(axes=[axis], starts=[first], ends=[last])
        return (
            f.slice(x, **attrs)
            if stride == 1
            else f.strided_slice(x, **attrs, strides=[stride], infer_flags=[1])
        )
    taken = range(size)[first:last:stride]
    if taken == range(size):
        return x
    if not taken:
        return part_of(f, x, axis, 0, 0)
    if stride == 1:
        return f.cut(x, axis, taken.start, taken.stop)
    stop = taken.stop if taken.stop >= 0 else -_FAR
    return f.strided_slice(
        x, axes=[axis], starts=[taken.start], ends=[stop], strides=[stride], infer_flags=[1]
    )


def _slice_at_run(f: Any, x: Any, axes: list[int], starts: Any, ends: Any, steps: Any) -> Any:
    """Slices whose bounds are computed."""
    limit = lambda v: f.to(f.minimum(f.maximum(v, np.array(-_FAR)), np.array(_FAR)), "int32")
    starts, ends = limit(starts), limit(ends)
    strides = None if f.elements(steps) is None else f.partial(steps)
    attrs = dict(
        axes=axes, starts=[-1] * len(axes), ends=[-1] * len(axes), infer_flags=[-1] * len(axes)
    )
    if strides is None:
        moves = dict(StridesTensor=f.to(steps, "int32"), strides=[1] * len(axes))
        return f.strided_slice(x, StartsTensor=starts, EndsTensor=ends, **moves, **attrs)
    if set(strides) == {1}:
        return f.slice(x, StartsTensor=starts, EndsTensor=ends, **attrs)
    return f.strided_slice(x, StartsTensor=starts, EndsTensor=ends, strides=strides, **attrs)


@operator("Pad", moved=["pads", "value"])
def pad(
    f: Any, x: Any, pads: Any, value: Any = None, axes: Any = None, *, mode: str = "constant"
) -> Any:
    rank, pads = f.ndim(x), f.numbers(pads, "the pads of Pad")
    axes = list(range(rank)) if axes is None else f.numbers(axes, "the axes of Pad")
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis % rank], after[axis % rank] = pads[i], pads[len(axes) + i]
    out = x
    for axis, (a, b) in enumerate(zip(before, after)):
        if a < 0 or b < 0:
            out = _sliced(f, out, axis, max(-a, 0), b if b < 0 else _FAR, 1)
    before, after = [max(n, 0) for n in before], [max(n, 0) for n in after]
    if mode == "constant":
        return padded(f, out, before, after, value)
    for axis, (a, b) in enumerate(zip(before, after)):
        if a or b:
            size = f.known_sizes(out, [axis])[0]
            modes: dict[str, Any] = {m: m for m in ("reflect", "edge", "wrap")}
            need_room(size + a + b)
            if mode not in modes or size == 0:
                raise UnsupportedError(f"{size} elements cannot be padded by {a} and {b} as {mode}")
            out = f.index_select(out, np.pad(np.arange(size), (a, b), modes[mode]), dim=axis)
    return out


def padded(f: Any, x: Any, before: list[int], after: list[int], value: Any = None) -> Any:
    """A tensor with equal elements around it."""
    if not any(before) and not any(after):
        return x
    kind = f.type_of(x)
    wide = f.to(x, "int32") if kind.kind == "b" else x
    number = 0.0 if value is None else float(f.number(f.to(value, kind), "the element around"))
    sides = [n for pair in zip(before, after) for n in pair]
    return f.to(f.pad(wide, paddings=sides, pad_value=number), kind)


@operator("DepthToSpace")
def depth_to_space(f: Any, x: Any, *, blocksize: int, mode: str = "DCR") -> Any:
    n, c, h, w = f.sizes(x)
    b = blocksize
    shape = [n, b, b, c // b**2, h, w] if mode == "DCR" else [n, c // b**2, b, b, h, w]
    order = [0, 3, 4, 1, 5, 2] if mode == "DCR" else [0, 1, 4, 2, 5, 3]
    out = f.transposed(f.reshaped(x, shape), order)
    return f.reshaped(out, [n, c // b**2, h * b if h > 0 else -1, w * b if w > 0 else -1])


@operator("SpaceToDepth")
def space_to_depth(f: Any, x: Any, *, blocksize: int, mode: str = "DCR") -> Any:
    n, c, h, w = f.sizes(x)
    b = blocksize
    f.known_sizes(x, [2, 3])
    out = f.reshaped(x, [n, c, h // b, b, w // b, b])
    order = [0, 3, 5, 1, 2, 4] if mode == "DCR" else [0, 1, 3, 5, 2, 4]
    return f.reshaped(f.transposed(out, order), [n, c * b * b, h // b, w // b])


@operator("Trilu")
def trilu(f: Any, x: Any, k: Any = None, *, upper: int = 1) -> Any:
    """A triangle of matrices; what is outside of it may be infinite."""
    if 0 in f.sizes(x):
        return x
    rank, shift = f.ndim(x), 0 if k is None else int(f.number(k, "k of Trilu"))
    rows, columns = (f.counted(x, axis, rank, axis) for axis in (rank - 2, rank - 1))
    need_room(*(max(n, 1) for n in f.sizes(x)[-2:]))
    ahead = f.elementwise_sub(columns, rows)
    edge = np.array(max(min(shift, 2**62), -(2**62)))
    kept = f.greater_equal(ahead, edge) if upper else f.less_equal(ahead, edge)
    if f.type_of(x).kind == "b":
        return f.logical_and(x, f.spread(kept, x))
    return f.where(f.spread(kept, x), x, f.fill_zeros_like(x))


@operator("ReverseSequence")
def reverse_sequence(
    f: Any, x: Any, lengths: Any, *, batch_axis: int = 1, time_axis: int = 0
) -> Any:
    """The first elements of each sequence backwards, the others as they are."""
    rank = f.ndim(x)
    time = f.counted(x, time_axis, rank, time_axis)
    ends = f.reshaped(f.to(lengths, "int64"), [-1 if i == batch_axis else 1 for i in range(rank)])
    back = f.elementwise_sub(f.elementwise_sub(ends, np.array(1)), time)
    inside = f.to(f.greater_equal(back, np.array(0)), "int64")
    place = f.elementwise_add(
        f.elementwise_mul(inside, back),
        f.elementwise_mul(f.elementwise_sub(np.array(1), inside), time),
    )
    return f.take_along(x, f.spread(place, f.to(f.fill_zeros_like(x), "int64")), axis=time_axis)
