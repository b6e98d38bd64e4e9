"""Values of Python and of a program, brought together where a program decides between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...ground import state
from ...ground.callsite import caller
from ...ground.dtypes import DType, Kind, as_dtype
from ...ir.variable import Variable
from ...layers.array import array_write, create_array
from ...layers.creation import assign, fill_constant
from ...layers.math import cast
from ..capture import value
from .cells import UNBOUND, Assigned, Cells

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


class TranslationError(UnsupportedError):
    """Something in a function cannot be made operators of a program; says which line and why."""


class Maybe:
    """What a name has that only one of two branches gave a value; no value to work with.

    Args:
        name: the name.
        variable: its value, if it was given one.
    """

    def __init__(self, name: str, variable: Variable) -> None:
        self._name = name
        self.variable = variable
        self._site = caller()

    def __repr__(self) -> str:
        return (
            f"{self._name!r}, which gets a value in one branch only of the 'if' at {self._site} "
            f"that depends on a tensor: assign it before, or in both"
        )

    def error(self) -> UnboundLocalError:
        """That it is read."""
        return UnboundLocalError(f"the program reads {self!r}\n  in translated code at {caller()}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.error()


def known_value(found: Any) -> Any:
    """A value, also of a name that only one of two branches gave one."""
    return found.variable if isinstance(found, Maybe) else found


def _no_operand(self: Maybe, *others: Any) -> Any:
    raise self.error()


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(Maybe, f"__{_name}__", _no_operand)
    setattr(Maybe, f"__r{_name}__", _no_operand)
for _name in ("lt", "le", "gt", "ge", "neg", "getitem", "len", "iter", "bool", "call"):
    setattr(Maybe, f"__{_name}__", _no_operand)


def refused(message: str) -> TranslationError:
    """An error that names the user's line.

    Args:
        message: what cannot be, and what to do.
    """
    return TranslationError(f"{message}\n  in translated code at {caller()}")


def is_static(found: Any) -> bool:
    """Whether a value is a variable of a program, known when that runs."""
    return isinstance(found, Variable)


def is_array(found: Any) -> bool:
    """Whether a value is an array of tensors in a program."""
    return isinstance(found, Variable) and found.kind is Kind.LOD_TENSOR_ARRAY


def is_number(found: Any) -> bool:
    """Whether a value is a number or a truth of Python."""
    return isinstance(found, _NUMBERS)


def dtype_of(found: Any) -> DType:
    """The element type that a number gets in a program."""
    if isinstance(found, (Variable, np.generic, np.ndarray)):
        return as_dtype(found.dtype)
    if isinstance(found, bool):
        return DType.BOOL
    return DType.INT64 if isinstance(found, int) else DType.FP32


def shape_of_numbers() -> tuple[int, ...]:
    """The shape of a number as a variable."""
    return () if state.builds.get() else (1,)


def as_variable(found: Any, dtype: DType | None = None) -> Variable:
    """A number, an array or a tensor as a variable.

    Args:
        found: the number, array or tensor.
        dtype: the element type wanted; its own when None.
    """
    found = value(found)
    wanted = dtype_of(found) if dtype is None else dtype
    if is_number(found):
        shape = list(shape_of_numbers())
        return fill_constant(
            shape, wanted, found.item() if isinstance(found, np.generic) else found
        )
    made = found if isinstance(found, Variable) else assign(np.asarray(found))
    return made if made.dtype == wanted or is_array(made) else cast(made, wanted)


def truth(found: Variable) -> Variable:
    """A condition as a truth."""
    return found if found.dtype is DType.BOOL else cast(found, "bool")


def connected(connect: Any, first: Variable, second: Variable) -> Variable:
    """What a layer makes of two truths, of which one may have no dimensions.

    Args:
        connect: the layer.
        first, second: the truths.
    """
    result: Variable = connect(*sorted((first, second), key=lambda each: -each.ndim))
    return result


def as_array(found: list[Any]) -> Variable:
    """A list of Python as an array of tensors."""
    kinds = [dtype_of(each) for each in found]
    array = create_array(kinds[0] if kinds else "float32")
    for place, each in enumerate(found):
        array_write(as_variable(each), fill_constant([1], "int64", place), array)
    return array


def can_be_array(found: Any) -> bool:
    """Whether a list has nothing but what tensors can be."""
    return isinstance(found, list) and all(
        is_number(value(each)) or isinstance(value(each), (Variable, np.ndarray)) for each in found
    )


def shared_cells(functions: Iterable[Any], assigned: Assigned) -> Cells:
    """The cells of names that functions share; lists that they change become arrays of tensors.

    Args:
        functions: branches, or what a loop repeats.
        assigned: what they assign.
    """
    cells = Cells(functions, assigned.names)
    for name in assigned.lists:
        found = cells.get().get(name)
        if found is not None and can_be_array(found):
            cells.set({name: as_array(found)})
    return cells


def same(a: Any, b: Any) -> bool:
    """Whether two values are one and need no decision."""
    if a is b:
        return True
    if isinstance(a, Variable) or isinstance(b, Variable):
        return False
    plain = (bool, int, float, str, bytes, type(None))
    return isinstance(a, plain) and type(a) is type(b) and a == b


def joined_dtype(a: Any, b: Any) -> DType:
    """The element type of what may be one value or the other."""
    if is_number(a) and isinstance(b, Variable):
        return _with_number(b.dtype, a)
    if is_number(b) and isinstance(a, Variable):
        return _with_number(a.dtype, b)
    first, second = dtype_of(a), dtype_of(b)
    if first == second:
        return first
    for kind in (DType.FP64, DType.FP32, DType.FP16, DType.INT64, DType.INT32):
        if kind in (first, second):
            return kind
    return first


def _with_number(dtype: DType, number: Any) -> DType:
    if dtype.is_float or isinstance(number, (bool, np.bool_)):
        return dtype
    if isinstance(number, (float, np.floating)):
        return DType.FP32
    return DType.INT64 if dtype is DType.BOOL else dtype


def joined_shape(a: Any, b: Any) -> tuple[int, ...] | None:
    """The sizes that two values share; None where even their number differs."""
    if not (isinstance(a, Variable) and isinstance(b, Variable)):
        one = a if isinstance(a, Variable) else b
        shape = shape_of_numbers()
        return shape if not isinstance(one, Variable) or one.shape == shape else None
    if not (a.has_shape and b.has_shape) or a.ndim != b.ndim:
        return None
    return tuple(m if m == n else -1 for m, n in zip(a.shape, b.shape))


def parts(*values: Any) -> list[tuple[Any, ...]] | None:
    """What belongs together of structures that are alike; None where they are no structures."""
    first = values[0]
    if isinstance(first, (list, tuple)):
        if all(type(v) is type(first) and len(v) == len(first) for v in values):
            return list(zip(*values))
    elif isinstance(first, Mapping) and all(
        type(v) is type(first) and v.keys() == first.keys() for v in values
    ):
        return [tuple(v[key] for v in values) for key in first]
    return None


def can_be_variable(found: Any) -> bool:
    """Whether a value can be one of a program."""
    found = value(found)
    return is_number(found) or isinstance(found, (Variable, np.ndarray))


def shown(found: Any) -> str:
    """What a value is, for messages."""
    if found is UNBOUND:
        return "no value"
    if isinstance(found, Variable):
        return "an array of tensors" if is_array(found) else "a tensor"
    return f"{found!r:.40}"
