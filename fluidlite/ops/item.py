"""What stands at an index, and what is put there: each the adjoint of the other.

An index is that of an array in Python: numbers, slices with steps, ``...``, new dimensions, and
tensors of numbers or truth values.  As an attribute it is a list of four numbers for each entry:
its sort, and what that needs.

Numbers, and tensors of one number, take their place first; what the other tensors stand for comes
where the first of them is, if nothing is between them, and else in front.  So Paddle and PyTorch
have it.  NumPy takes numbers for tensors: where a slice lies between a number and a tensor, it puts
what they stand for in front.  :func:`moved` says where that differs.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ..errors import AxisError, DTypeError, OutOfRangeError, ShapeError
from ..ground.dtypes import DType, as_dtype
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import ValueShaped
from ..opdef.prepared import Prepared
from ..opdef.spec import Shape, Spec, agree, broadcast, same_dtype
from .elementwise import sum_like

NUMBER, SLICE, ELLIPSIS, NEW, TENSOR = range(5)  #: sorts of entries
ABSENT = -(2**31)  #: in place of a bound of a slice


def entries_of(item: Shape) -> list[Any]:
    """The entries of an index: sort and three numbers each."""
    return [tuple(item[i : i + 4]) for i in range(0, len(item), 4)]


def key_of(item: Any, tensors: Any) -> Any:
    """The index as arrays take it."""
    key, rest = [], iter(tensors or ())
    for sort, a, b, c in entries_of(item):
        if sort == NUMBER:
            key.append(a)
        elif sort == SLICE:
            key.append(slice(*(None if n == ABSENT else n for n in (a, b, c))))
        elif sort == TENSOR:
            key.append(next(rest))
        else:
            key.append(Ellipsis if sort == ELLIPSIS else None)
    return tuple(key)


def is_number(tensor: Any) -> Any:
    """Whether a tensor in an index stands for a number."""
    return tensor.ndim == 0 and tensor.dtype != DType.BOOL


def moved(item: Any, tensors: Any, ndim: Any) -> Any:
    """The dimensions in which an index of NumPy puts what tensors stand for, and those where it
    belongs; None where they are the same.

    Args:
        item: the index.
        tensors: those in it.
        ndim: of what it is taken from.
    """
    if not tensors:
        return None
    entries, rest = entries_of(item), iter(tensors)
    used = ndim - sum(1 for sort, *_ in entries if sort in (NUMBER, SLICE))
    used -= sum(t.ndim if t.dtype == DType.BOOL else 1 for t in tensors)
    count = block = 0  # dimensions of the result so far, and those that tensors stand for
    arrays, theirs = (
        [],
        [],
    )  # where tensors are for NumPy, and where here, among what makes dimensions
    for position, (sort, *_) in enumerate(entries):
        if sort == TENSOR:
            tensor = next(rest)
            arrays.append(position)
            if not is_number(tensor):
                theirs.append(count)
                block = max(block, 1 if tensor.dtype == DType.BOOL else tensor.ndim)
        elif sort == NUMBER:
            arrays.append(position)
        else:
            count += used if sort == ELLIPSIS else 1
    in_front = arrays != list(range(arrays[0], arrays[0] + len(arrays)))
    if not (in_front and theirs and theirs[0] == theirs[-1] and theirs[0]):
        return None
    return tuple(range(block)), tuple(range(theirs[0], theirs[0] + block))


def taken(shape: Any, item: Any, tensors: Any) -> Any:
    """The shape of what an index takes from a tensor; -1 where values say.

    Args:
        shape: that of the tensor.
        item: the index.
        tensors: specs of the tensors in it.

    Raises:
        ShapeError: it has more entries than there are dimensions, or tensors that do not go
            together.
        OutOfRangeError: a number is outside of its dimension.
        DTypeError: a tensor holds neither integers nor truth values.
    """
    entries, tensors = entries_of(item), list(tensors or ())
    rest = iter(tensors)
    masks = [t.ndim if t.dtype is DType.BOOL else 1 for t in tensors]
    widths = iter(masks)
    used = sum(
        next(widths) if sort == TENSOR else 1 for sort, *_ in entries if sort not in (ELLIPSIS, NEW)
    )
    if used > len(shape):
        raise AxisError(f"a tensor of shape {list(shape)} takes {len(shape)} indices, got {used}")
    if all(sort != ELLIPSIS for sort, *_ in entries):
        entries = [*entries, (ELLIPSIS, 0, 0, 0)]
    out, block, places, axis = [], (), [], 0
    for sort, a, b, c in entries:
        if sort == ELLIPSIS:
            count = len(shape) - used
            out += shape[axis : axis + count]
            axis += count
        elif sort == NEW:
            out.append(1)
        elif sort == SLICE:
            n = shape[axis]
            bounds = slice(*(None if x == ABSENT else x for x in (a, b, c)))
            whole = (a, b) == (ABSENT, ABSENT) and c in (ABSENT, 1)
            out.append(len(range(n)[bounds]) if n != -1 else -1 if not whole else n)
            axis += 1
        elif sort == NUMBER:
            n = shape[axis]
            if n != -1 and not -n <= a < n:
                raise OutOfRangeError(
                    f"expected an index in [{-n}, {n}) along dimension {axis} of shape "
                    f"{list(shape)}, got {a}"
                )
            axis += 1
        else:
            tensor = next(rest)
            size, width = chosen(tensor, shape[axis:])
            block = broadcast(block, size)
            axis += width
            if not is_number(tensor):
                places.append(len(out))
    at = places[0] if places and places[0] == places[-1] else 0
    return (*out[:at], *block, *out[at:])


def chosen(index: Spec, shape: Shape) -> tuple[Any, ...]:
    """The sizes that a tensor in an index stands for, and how many dimensions it takes."""
    if index.dtype is DType.BOOL:
        if len(index.shape) > len(shape) or not all(map(agree, index.shape, shape)):
            raise AxisError(
                f"expected a mask of the sizes {list(shape[: len(index.shape)])} that it selects "
                f"from, got {list(index.shape)}"
            )
        return (-1,), len(index.shape)
    if index.dtype.is_float:
        raise DTypeError(f"expected indices of integers or truth values, got {index.dtype}")
    return index.shape, 1


class Item(ValueShaped, abstract=True):
    """What stands at an index.

    Index: the tensors in the index, in their order: integers, or masks of truth values.
    item: the index: four numbers for each entry, its sort and what that needs.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    item: list[int] = REQUIRED

    def value_at(self, xp: Any, X: Any, Index: Any) -> Any:
        """What stands at the index of an array."""
        value, axes = X[key_of(self.item, Index)], moved(self.item, Index, X.ndim)
        return value if axes is None else xp.moveaxis(value, *axes)

    def as_placed(self, xp: Any, X: Any, Index: Any, value: Any) -> Any:
        """A value for the index of an array, in the order of dimensions that NumPy has there."""
        axes = moved(self.item, Index, X.ndim)
        return value if axes is None else xp.moveaxis(value, *reversed(axes))

    def need_taken(self, shape: Any, name: Any, value: Any, Index: Any) -> None:
        """Check the shape of what belongs at the index."""
        wanted = taken(shape, self.item, Index)
        if len(wanted) != len(value.shape) or not all(map(agree, wanted, value.shape)):
            raise ShapeError(
                f"expected {name} of the shape {list(wanted)} that the index takes from "
                f"{list(shape)}, got {list(value.shape)}"
            )


class take_item(Item):
    """Out = X[index]."""

    signature = "X, Index*?! -> Out"

    def infer(self, X: Any, Index: Any) -> Specs:
        return X.with_shape(taken(X.shape, self.item, Index))

    def run(self, xp: Any, X: Array, Index: list[Array] | None) -> Array:
        return self.value_at(xp, X, Index)

    def prepare(self, X: Spec, Index: Spec) -> Prepared | None:
        if Index:
            return None
        key = key_of(self.item, None)
        return Prepared(lambda x, *_: x[key])

    def grad(self, f: Any, X: Value, Index: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.add_item(dOut, Index, item=self.item, size=X.shape))


class add_item(Item):
    """Out = zeros with G added at the index: the adjoint of ``take_item``.

    G: in the shape of what the index takes.
    size: the shape of Out.
    """

    signature = "G, Index*?! -> Out"
    size: list[int] = REQUIRED

    def infer(self, G: Spec, Index: Spec) -> Specs:
        self.need_taken(self.size, "G", G, Index)
        return G.with_shape(self.size)

    def run(self, xp: Any, G: Any, Index: Any) -> Any:
        zeros, key = xp.zeros(self.size, G.dtype), key_of(self.item, Index)
        add = xp.scatter_add if Index else xp.add_at
        return add(zeros, key, self.as_placed(xp, zeros, Index, G))

    def grad(self, f: Any, Index: Value, dOut: Value) -> Rules:
        return dict(G=lambda: f.take_item(dOut, Index, item=self.item))


class put_item(Item):
    """Out = X with Value at the index; of places named twice the last one stays.

    Value: broadcasts to what the index takes.
    """

    signature = "X, Value, Index*?! -> Out"

    def infer(self, X, Value, Index):
        same_dtype(X=X, Value=Value)
        wanted = taken(X.shape, self.item, Index)
        lead = len(Value.shape) - len(wanted)
        small = Value.shape[max(lead, 0) :]
        fits = all(agree(n, 1) for n in Value.shape[: max(lead, 0)]) and all(
            m == 1 or agree(m, n) for m, n in zip(reversed(small), reversed(wanted))
        )
        if not fits:
            raise ShapeError(
                f"expected Value to broadcast to the shape {list(wanted)} that the index takes "
                f"from {list(X.shape)}, got {list(Value.shape)}"
            )
        return X

    def run(self, xp: Any, X: Any, Value: Any, Index: Any) -> Any:
        key, axes = key_of(self.item, Index), moved(self.item, Index, X.ndim)
        shape = self.value_at(xp, X, Index).shape
        spare = Value.ndim - len(shape)
        Value = Value.reshape(Value.shape[spare:]) if spare > 0 else Value
        if axes is not None:
            Value = self.as_placed(xp, X, Index, xp.broadcast_to(Value, shape))
        return xp.scatter_set(X, key, Value)

    def grad(self, f: Any, Value: Value, Index: list[Value] | None, dOut: Value) -> Rules:
        def rest():
            zero = f.fill_constant(shape=[1], dtype=as_dtype(dOut.dtype), value=0.0)
            return f.put_item(dOut, zero, Index, item=self.item)

        def value():
            flow = f.take_item(dOut, Index, item=self.item)
            if Index:  # a place that is named again holds the later value
                last = f.last_item(dOut, Index, item=self.item)
                flow = flow * f.cast(last, in_dtype=last.dtype, out_dtype=dOut.dtype)
            spare = len(Value.shape) - len(flow.shape)
            if spare > 0:
                flow = f.reshape(flow, shape=(1,) * spare + tuple(flow.shape))
            return sum_like(f, flow, Value)

        return dict(X=rest, Value=value)


class last_item(Item):
    """Out = whether each place that the index takes from X is named for the last time there."""

    signature = "X!, Index*?! -> Out"
    grad = None

    def infer(self, X, Index):
        return X.with_shape(taken(X.shape, self.item, Index)).with_dtype(DType.BOOL)

    def run(self, xp: Any, X: Any, Index: Any) -> Any:
        key = key_of(self.item, Index)
        shape = X[key].shape
        numbers = xp.reshape(xp.arange(math.prod(shape)), shape)
        marks = xp.scatter_set(xp.zeros(X.shape, numbers.dtype), key, numbers)
        last, axes = marks[key] == numbers, moved(self.item, Index, X.ndim)
        return last if axes is None else xp.moveaxis(last, *axes)
