"""Arrays of tensors that passes of a scan index by numbers that are only traced: as one tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from ...ground.values import LoDTensorArray
from ...opdef.definition import Op
from .refusal import NotTraceable


class StackedArray(LoDTensorArray):
    """An array of tensors of one shape.

    Args:
        stacked: the elements, [n, ...]; zeros where one is missing.
        there: which of them have been written.
    """

    __slots__ = ("stacked", "there")

    def __init__(self, stacked: Any, there: tuple[bool, ...] | None = None) -> None:
        self.stacked: Any = stacked
        self.there: Any | tuple[bool, ...] = (True,) * stacked.shape[0] if there is None else there

    @property
    def items(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The tensors; None where one is missing."""
        return tuple(self.item(k) for k in range(len(self)))

    def item(self, index: int) -> Any:
        """The element at a position; None when it is missing or beyond the end."""
        return self.stacked[index] if 0 <= index < len(self) and self.there[index] else None

    def __len__(self) -> int:
        return len(self.there)

    def zeros_like(self) -> LoDTensorArray:
        """An array of the same length without elements."""
        return LoDTensorArray([None] * len(self))

    def holds(self, value: Any) -> bool:
        """Whether a value has the form of the elements."""
        return (value.shape, value.dtype) == (self.stacked.shape[1:], self.stacked.dtype)

    def __add__(self, other: Any) -> LoDTensorArray:
        if isinstance(other, StackedArray) and len(other) <= len(self):
            padded = spread(other, self).stacked
        elif isinstance(other, StackedArray):
            return other + self
        else:
            padded = spread(other, self).stacked
        return StackedArray(self.stacked + padded)

    __radd__ = __add__


class PlacedItems(LoDTensorArray):
    """The gradient of an array some elements of which have been read: their gradients, each at a
    position that is only traced; all else is zero.

    Args:
        placed: pairs of a position and a tensor.
    """

    __slots__ = ("placed",)

    def __init__(self, placed: tuple[tuple[Any, Any], ...]) -> None:
        self.placed: tuple[tuple[Any, Any], ...] = placed

    @property
    def items(self) -> tuple[Any, ...]:  # type: ignore[override]
        """Nothing: how many there are is not known.

        Raises:
            NotTraceable: always.
        """
        raise NotTraceable("the positions in an array are not known before the program runs")

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return True

    def __add__(self, other: Any) -> LoDTensorArray:
        if isinstance(other, PlacedItems):
            return PlacedItems((*self.placed, *other.placed))
        if isinstance(other, StackedArray):
            return other + self
        return self if not other else NotImplemented

    __radd__ = __add__


def stacked(array: LoDTensorArray, length: int = 0) -> StackedArray:
    """The elements of an array as one tensor.

    Args:
        array: of tensors of one shape and element type.
        length: how many elements the tensor has at least.

    Raises:
        NotTraceable: they are not alike, or there are none.
    """
    if isinstance(array, StackedArray):
        more = length - len(array)
        if more <= 0:
            return array
        shape = (more, *array.stacked.shape[1:])
        zeros = jnp.zeros(shape, array.stacked.dtype)
        return StackedArray(jnp.concatenate([array.stacked, zeros]), array.there + (False,) * more)
    elements = [None if each is None else jnp.asarray(each) for each in map(_tensor, array.items)]
    forms = {(each.shape, each.dtype) for each in elements if each is not None}
    if len(forms) != 1:
        raise NotTraceable("the elements of an array are not of one shape and element type")
    elements += [None] * (length - len(elements))
    return StackedArray(_rows(elements, *forms.pop()), tuple(each is not None for each in elements))


def _rows(items: Sequence[Any], shape: Sequence[int], dtype: Any) -> Any:
    """Tensors as rows of one, with zeros where one is missing; said in few words, however many."""
    there = [k for k, each in enumerate(items) if each is not None]
    if len(there) == len(items) > 0:
        return jnp.stack(items)
    zeros = jnp.zeros((len(items), *shape), dtype)
    return zeros.at[np.array(there)].set(jnp.stack([items[k] for k in there])) if there else zeros


def _tensor(value: Any) -> Any:
    if value is None or (hasattr(value, "shape") and hasattr(value, "dtype")):
        return value
    raise NotTraceable("an array holds sequences")


def spread(gradient: Any, like: StackedArray) -> StackedArray:
    """The gradient of an array, with zeros where nothing flows.

    Args:
        gradient: an array of any form; None where nothing flows at all.
        like: the array.
    """
    count, zeros = len(like), jnp.zeros(like.stacked.shape, like.stacked.dtype)
    if isinstance(gradient, StackedArray):
        more = count - len(gradient)
        return gradient if more <= 0 else StackedArray(stacked(gradient, count).stacked)
    if isinstance(gradient, PlacedItems):
        for position, value in gradient.placed:
            zeros = zeros.at[position].add(value)
        return StackedArray(zeros)
    items: list[Any] = [None] * count
    items[: len(gradient or ())] = () if gradient is None else gradient.items
    return StackedArray(_rows(items, zeros.shape[1:], zeros.dtype))


def plain(value: Any) -> Any:
    """A value as other parts of a program take it: an array has its tensors one by one."""
    return LoDTensorArray(value.items) if isinstance(value, StackedArray) else value


def on_arrays(op: Op, ins: Mapping[str, Any], checks: Any) -> dict[str, Any] | None:
    """What an operator makes of arrays of these forms; None where its kernel serves.

    Args:
        op: the operator.
        ins: what it reads, by slot.
        checks: takes the truths that must hold.

    Raises:
        NotTraceable: it has no such form.
    """
    form = _FORMS.get(op.type)
    return None if form is None else form(op, ins, checks)


def _position(ins: Mapping[str, Any]) -> Any:
    """A position that is only traced; None where it is known."""
    found = ins["I"]
    known = isinstance(found, (np.ndarray, np.generic)) or not isinstance(found, jax.core.Tracer)
    return None if known else found.reshape(()).astype("int32")


def _write(op: Op, ins: Mapping[str, Any], checks: Any) -> dict[str, Any] | None:
    array, value, at = ins["Out"], ins["X"], _position(ins)
    if at is None:
        known = int(np.asarray(ins["I"]).reshape(()))
        if isinstance(array, StackedArray) and 0 <= known < len(array) and array.holds(value):
            there = tuple(k == known or here for k, here in enumerate(array.there))
            return {"Out": StackedArray(array.stacked.at[known].set(value), there)}
        return None
    if isinstance(array, StackedArray):
        if not array.holds(value):
            raise NotTraceable("what is written to an array has another shape than its elements")
        checks.append((at >= 0) & (at < len(array)))
        return {"Out": StackedArray(array.stacked.at[at].set(value))}
    if not array:
        return {"Out": PlacedItems(((at, value),))}
    raise NotTraceable("the position in an array is not known before the program runs")


def _read(op: Op, ins: Mapping[str, Any], checks: Any) -> dict[str, Any] | None:
    array, like, at = ins["X"], ins.get("X_W"), _position(ins)
    if isinstance(array, PlacedItems):
        if like is None or at is None:
            raise NotTraceable("the position in an array is not known before the program runs")
        parts = [jnp.where(p == at, v, jnp.zeros_like(v)) for p, v in array.placed]
        return {"Out": sum(parts[1:], parts[0])}
    if at is None:
        return None
    if not any(each is not None for each in array.items) and like is not None:
        return {"Out": jnp.zeros_like(like)}
    whole = stacked(array)
    if like is None and not all(whole.there):
        raise NotTraceable("an array has elements that may not have been written")
    checks.append((at >= 0) & (at < len(whole)))
    return {"Out": lax.dynamic_index_in_dim(whole.stacked, at, 0, keepdims=False)}


def _without(op: Op, ins: Mapping[str, Any], checks: Any) -> dict[str, Any] | None:
    array, at = ins["X"], _position(ins)
    if isinstance(array, PlacedItems):
        where = jnp.asarray(ins["I"]).reshape(()) if at is None else at
        left = ((p, jnp.where(p == where, jnp.zeros_like(v), v)) for p, v in array.placed)
        return {"Out": PlacedItems(tuple(left))}
    if at is None:
        known = int(np.asarray(ins["I"]).reshape(()))
        if isinstance(array, StackedArray) and 0 <= known < len(array):
            return {"Out": StackedArray(array.stacked.at[known].set(0), array.there)}
        return None
    if not any(each is not None for each in array.items):
        return {"Out": array}
    whole = stacked(array)
    return {"Out": StackedArray(whole.stacked.at[at].set(0, mode="drop"), whole.there)}


def _filled(op: Op, ins: Mapping[str, Any], checks: Any) -> dict[str, Any] | None:
    like = ins["Like"]
    return {"Out": spread(ins["X"], like)} if isinstance(like, StackedArray) else None


def _joined(op: Any, ins: Mapping[str, Any], checks: Any) -> dict[str, Any] | None:
    array = ins["X"]
    if not isinstance(array, StackedArray) or not all(array.there):
        return None
    axis = op.axis % (array.stacked.ndim - (not op.use_stack))
    whole = jnp.moveaxis(array.stacked, 0, axis)
    size = 1
    if not op.use_stack:
        size = array.stacked.shape[axis + 1]
        shape = array.stacked.shape[1:]
        whole = whole.reshape(*shape[:axis], -1, *shape[axis + 1 :])
    elif axis < array.stacked.ndim - 1:
        size = array.stacked.shape[axis + 1]
    return {"Out": whole, "OutIndex": np.full(len(array), size, "int32")}


def _parted(op: Any, ins: Mapping[str, Any], checks: Any) -> dict[str, Any] | None:
    like, value = ins["Like"], ins["X"]
    if not isinstance(like, StackedArray):
        return None
    axis = op.axis % value.ndim
    if not op.use_stack:
        shape = value.shape
        value = value.reshape(*shape[:axis], len(like), -1, *shape[axis + 1 :])
    return {"Out": StackedArray(jnp.moveaxis(value, axis, 0))}


def _length(op: Op, ins: Mapping[str, Any], checks: Any) -> dict[str, Any] | None:
    return {"Out": np.array([len(ins["X"])], "int64")}


_FORMS: Mapping[str, Any] = {
    "write_to_array": _write,
    "read_from_array": _read,
    "array_without": _without,
    "array_filled": _filled,
    "tensor_array_to_tensor": _joined,
    "tensor_to_array": _parted,
    "lod_array_length": _length,
}

jax.tree_util.register_pytree_node(
    StackedArray,
    lambda array: ((array.stacked,), array.there),
    lambda there, parts: StackedArray(parts[0], there),
)
