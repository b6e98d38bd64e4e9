"""What stands at an index, and what is put there, in the operators of paddle 2.6."""

from __future__ import annotations

from typing import Any

from ...ground.dtypes import DType
from ...ops.item import ABSENT, ELLIPSIS, NEW, NUMBER, SLICE, TENSOR, entries_of

_END = 2**31 - 1  #: of a slice without an end
_BEFORE_FIRST = -1  #: the end of a slice that runs backwards without one


class _Index:
    """An index, by the dimensions of the tensor that it is for.

    Args:
        item: the attribute of ``take_item``.
        tensors: those in it.
        ndim: how many dimensions the tensor has.
    """

    def __init__(self, item: Any, tensors: Any, ndim: int) -> None:
        rest = iter(tensors or ())
        entries: list[tuple[Any, ...]] = []
        used = 0
        for sort, *numbers in entries_of(item):
            tensor = next(rest) if sort == TENSOR else None
            width = len(tensor.shape) if tensor is not None and tensor.dtype is DType.BOOL else 1
            used += 0 if sort in (ELLIPSIS, NEW) else width
            entries.append((sort, numbers, tensor, width))
        #: the cuts along dimensions: dimension -> start, end, step
        self.cuts: dict[int, tuple[int, int, int]] = {}
        self.dropped: list[int] = []  #: dimensions that numbers take
        self.new: list[int] = []  #: dimensions of the result that are new
        self.tensors: list[tuple[int, Any]] = []  #: dimension after the cuts, and the tensor
        axis = place = 0
        for sort, numbers, tensor, width in entries:
            if sort == ELLIPSIS:
                axis, place = axis + ndim - used, place + ndim - used
            elif sort == NEW:
                self.new.append(place)
                place += 1
            elif sort == NUMBER:
                self.dropped.append(axis)
                self.cuts[axis] = (numbers[0], numbers[0] + 1 or _END, 1)
                axis += 1
            elif sort == SLICE:
                self.cut(axis, *numbers)
                axis, place = axis + 1, place + 1
            else:
                self.tensors.append((place, tensor))
                axis, place = axis + width, place + width

    def cut(self, axis: int, start: int, end: int, step: int) -> None:
        """Note a slice, if it is not the whole dimension."""
        step = 1 if step == ABSENT else step
        if (start, end, step) == (ABSENT, ABSENT, 1):
            return
        first, last = (0, _END) if step > 0 else (_END, _BEFORE_FIRST)
        self.cuts[axis] = (
            first if start == ABSENT else start,
            last if end == ABSENT else end,
            step,
        )

    def bounds(self) -> tuple[list[int], ...]:
        """The dimensions that are cut, and of each the start, the end and the step."""
        axes = sorted(self.cuts)
        return (axes, *([self.cuts[axis][k] for axis in axes] for k in range(3)))


def take_item(f: Any, op: Any, X: Any, Index: Any) -> Any:
    """The operators that take what stands at an index; None if there are none."""
    index = _Index(op.item, Index, len(X.shape))
    axes, starts, ends, steps = index.bounds()
    x = X
    if axes:
        told: Any = dict(axes=axes, starts=starts, ends=ends, infer_flags=[1] * len(axes))
        told["may_be_empty"] = True
        if all(step == 1 for step in steps):
            x = f.slice(x, decrease_axis=index.dropped, zero_d=True, **told)
        else:
            x = f.strided_slice(x, strides=steps, **told)
            x = f.squeeze2(x, axes=index.dropped) if index.dropped else x
    if index.new:
        x = f.unsqueeze2(x, axes=index.new)
    if not index.tensors:
        return x if x is not X else f.assign(X)
    others: list[tuple[int, Any]] = []
    numbers = 0  # tensors of one number take their place first, as numbers do
    for place, tensor in _of_integers(f, index.tensors):
        if tensor.shape:
            others.append((place - numbers, tensor))
        else:
            x = _taken_by_one(f, x, place - numbers, tensor)
            numbers += 1
    if len(others) > 1:
        return _taken_by_several(f, x, others)
    return _taken_by_one(f, x, *others[0]) if others else x


def as_int64(f: Any, x: Any) -> Any:
    """A tensor of integers as int64."""
    return x if x.dtype is DType.INT64 else f.cast(x, in_dtype=x.dtype, out_dtype=DType.INT64)


def _of_integers(f: Any, index: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Dimensions and tensors of integers, which select what an index with masks does."""
    pairs: list[tuple[int, Any]] = []
    for place, tensor in index:
        if tensor.dtype is not DType.BOOL:
            pairs.append((place, as_int64(f, tensor)))
            continue
        where = f.where_index(tensor)
        for k in range(len(tensor.shape)):
            column = dict(starts=[k], ends=[k + 1], decrease_axis=[1], infer_flags=[1])
            pairs.append((place + k, f.slice(where, axes=[1], **column)))
    return pairs


def _from_front(f: Any, tensor: Any, x: Any, axis: int) -> Any:
    """Indices of a dimension of a tensor without those that count from the end."""
    if x.shape[axis] == -1:
        bounds = dict(axes=[0], starts=[axis], ends=[axis + 1], infer_flags=[1])
        size = f.cast(f.slice(f.shape(x), **bounds), in_dtype=DType.INT32, out_dtype=tensor.dtype)
        moved = f.elementwise_add(tensor, size)
    else:
        moved = f.scale(tensor, bias=float(x.shape[axis]))
    is_behind = f.less_than(tensor, f.fill_any_like(tensor, value=0.0))
    return f.where(is_behind, moved, tensor)


def _taken_by_one(f: Any, x: Any, axis: int, tensor: Any) -> Any:
    row = tensor if len(tensor.shape) == 1 else f.reshape2(tensor, shape=[-1])
    out = f.gather(x, _from_front(f, row, x, axis), axis=axis)
    if len(tensor.shape) == 1:
        return out
    if not tensor.shape:
        return f.squeeze2(out, axes=[axis])
    shape = [*x.shape[:axis], *tensor.shape, *x.shape[axis + 1 :]]
    return None if shape.count(-1) > 1 else f.reshape2(out, shape=shape)


def _taken_by_several(f: Any, x: Any, index: list[tuple[int, Any]]) -> Any:
    places = [place for place, _ in index]
    ndim, count = len(x.shape), len(places)
    order = [*places, *(axis for axis in range(ndim) if axis not in places)]
    turned = x if order == list(range(ndim)) else f.transpose2(x, axis=order)
    spread = _spread(f, [_from_front(f, tensor, x, place) for place, tensor in index])
    out = f.gather_nd(turned, f.stack(spread, axis=-1))
    block, first = len(spread[0].shape), places[0]
    if not first or places != list(range(first, first + count)):
        return out
    rest = list(range(block, block + ndim - count))
    return f.transpose2(out, axis=[*rest[:first], *range(block), *rest[first:]])


def _spread(f: Any, tensors: list[Any]) -> list[Any]:
    """Tensors of integers of one shape."""
    alike = all(t.shape == tensors[0].shape and -1 not in t.shape for t in tensors)
    return tensors if alike else list(f.broadcast_tensors(tensors))


def put_item(f: Any, op: Any, X: Any, Value: Any, Index: Any) -> Any:
    """The operators that put a value at an index; None if there are none."""
    index = _Index(op.item, Index, len(X.shape))
    if not index.tensors:
        axes, starts, ends, steps = index.bounds()
        told = dict(axes=axes, starts=starts, ends=ends, steps=steps, dtype=X.dtype)
        if not axes:
            axes = told["axes"] = [0]
            told.update(starts=[0], ends=[_END], steps=[1])
        return f.set_value(
            X, Value, decrease_axes=index.dropped, none_axes=_before(op.item, X), **told
        )
    if len(index.tensors) == 1 and not index.dropped and index.tensors[0][1].shape:
        chosen = dict(index.tensors)  # a mask stays one
    else:
        free = [axis for axis in range(len(X.shape)) if axis not in index.dropped]
        chosen = {
            free[place]: tensor if tensor.shape else f.reshape2(tensor, shape=[1])
            for place, tensor in _of_integers(f, index.tensors)
        }
        like = next(iter(chosen.values()))
        for axis in index.dropped:
            chosen[axis] = f.fill_any_like(like, value=float(index.cuts[axis][0]))
    is_cut = len(index.cuts) > len(index.dropped)
    if is_cut or index.new or sorted(chosen) != list(range(len(chosen))):
        return None
    return f.index_put(X, [chosen[axis] for axis in sorted(chosen)], Value)


def _before(item: Any, X: Any) -> list[int]:
    """The dimensions of X that new ones of an index precede."""
    entries = entries_of(item)
    used = sum(1 for sort, *_ in entries if sort in (NUMBER, SLICE))
    axis, places = 0, []
    for sort, *_ in entries:
        if sort == NEW:
            places.append(axis)
        else:
            axis += len(X.shape) - used if sort == ELLIPSIS else 1
    return places
