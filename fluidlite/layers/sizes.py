"""Shapes, bounds and counts, of which some may be known only when the program runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .. import unique_name
from ..errors import ArgumentError, DTypeError
from ..ground.dtypes import DType
from ..ir.declared import may_hold_integers, warn_of_integers
from ..ir.variable import Variable
from ..opdef.attribute import whole_number
from .layer import LayerBuilder, is_variable, stopped

#: what users write: numbers and variables of one element, or one variable that holds them all
Given = Sequence[int | Variable] | Variable


class Sizes(NamedTuple):
    """Numbers as an operator takes them: an attribute, and inputs for those that variables give."""

    numbers: list[int]  #: empty where ``whole`` holds them
    each: Sequence[Variable] = ()  #: a variable for each, where variables give any of them
    whole: Variable | None = None  #: one variable with all of them

    @property
    def are_known(self) -> bool:
        """Whether no variable is needed."""
        return self.whole is None and not self.each


def sizes_of(
    f: LayerBuilder,
    given: Given,
    what: str,
    unknown: int = -1,
    constant: Callable[[int], Variable] | None = None,
    convert: Callable[[Variable], Variable] | None = None,
) -> Sizes:
    """What a user gave as a shape or the like.

    Args:
        f: the layer, which makes variables of the numbers that stand beside variables.
        given: numbers and variables of one element, or one variable.
        what: the parameter, for messages.
        unknown: stands for a variable among the numbers.
        constant: makes a variable of a number; an int32 result of the layer when None.
        convert: makes what the operator takes of a variable; nothing is to be made when None.

    Raises:
        ArgumentError: something else is given.
        DTypeError: a variable does not hold integers.
    """

    def taken(variable: Variable) -> Variable:
        stopped(_integers(variable, what))
        return variable if convert is None else convert(variable)

    if is_variable(given):
        return Sizes([], whole=taken(given))
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ArgumentError(
            f"expected {what} to be a list of integers, got {given!r:.60} of type "
            f"{type(given).__name__}"
        )
    given = list(given)
    numbers = [unknown if is_variable(n) else integer(n, what) for n in given]
    if not any(is_variable(n) for n in given):
        return Sizes(numbers)
    constant = constant or (lambda n: known_integer(f, n))
    each = [taken(n) if is_variable(n) else constant(number) for n, number in zip(given, numbers)]
    return Sizes(numbers, each)


def integer(value: Any, what: str) -> int:
    """An integer.

    Raises:
        ArgumentError: it is none.
    """
    try:
        return whole_number(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"expected {what} to hold integers, or variables of one element, got {value!r:.60}"
        ) from None


def integers(value: int | Sequence[int], what: str) -> list[int]:
    """One integer or a list of them, as a list.

    Raises:
        ArgumentError: it is neither.
    """
    return [integer(n, what) for n in as_list(value)]


def as_list(value: Any) -> list[Any]:
    """What a user gave as a list, an array, a range or the like, as a list; one thing as a list of
    it.
    """
    if (
        isinstance(value, (str, bytes))
        or not isinstance(value, Iterable)
        or getattr(value, "shape", None) == ()
    ):
        return [value]
    return list(value)


def number(value: Any, what: str) -> float:
    """A number, of whatever ``float`` takes, or of an array of one.

    Raises:
        ArgumentError: it is none.
    """
    try:
        return float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError):
        raise ArgumentError(f"expected {what} to be a number, got {value!r:.60}") from None


def known_integer(f: LayerBuilder, value: int, dtype: DType = DType.INT32) -> Variable:
    """A number as a result of the layer, of shape [1]; counted as a layer ``fill_constant``, as
    fluid counts it.
    """
    unique_name.generate("fill_constant")
    return stopped(
        f.fill_constant(
            shape=[1], dtype=dtype, value=float(value), str_value=str(value), force_cpu=True
        )
    )


def _integers(variable: Variable, what: str) -> Variable:
    if may_hold_integers(variable):
        warn_of_integers(variable, what)
    elif variable.dtype.is_float or variable.dtype is DType.BOOL:
        raise DTypeError(
            f"expected {what} to be given by integers, got {variable.name!r} of {variable.dtype}"
        )
    return variable
