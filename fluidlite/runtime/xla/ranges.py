"""Ranges of fed numbers that suffice for what must hold, read from a traced function: NumPy looks
at them in a microsecond, where another compiled function takes ten, and has to be waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

#: whose results have elements of their first operand only
_MOVING = frozenset({"reshape", "squeeze", "broadcast_in_dim", "transpose", "slice", "copy", "rev"})
#: comparisons with a constant, as steps from it to the least and to the largest number that hold
_FROM_BELOW, _FROM_ABOVE = {"ge": 0, "gt": 1}, {"le": 0, "lt": -1}


class _Place(NamedTuple):
    """A traced function, and what it is called with."""

    makers: Mapping[Any, Any]
    given: Mapping[Any, tuple[Any, _Place] | int]  #: by input: what it is outside, or its number


class Ranges:
    """Least and largest numbers of inputs of a function with which its truths hold.

    Args:
        jaxpr: of JAX.
        inputs: the numbers of the inputs that may be looked at.
    """

    def __init__(self, jaxpr: Any, inputs: Sequence[int]) -> None:
        self.found: dict[int, tuple[int, int]] = {}
        given = {v: k for k, v in enumerate(jaxpr.invars) if k in inputs}
        self._outside = _Place(_makers(jaxpr), given)

    def suffice(self, truth: Any) -> bool:
        """Whether a truth follows from ranges, which are noted in ``found``."""
        return self._holds(truth, self._outside)

    def _holds(self, truth: Any, place: _Place) -> bool:
        if hasattr(truth, "val"):
            return bool(np.all(truth.val))
        equation = _made(truth, place)
        if equation is None:
            return False
        name = equation.primitive.name
        if name in ("reduce_and", "and"):
            return all(self._holds(v, place) for v in equation.invars)
        if name not in _FROM_BELOW and name not in _FROM_ABOVE:
            return False
        number, bound = equation.invars
        if not _is_whole(bound) or not hasattr(bound, "val") or np.ndim(bound.val):
            return False
        if name in _FROM_BELOW:
            return self._within(number, place, int(bound.val) + _FROM_BELOW[name], _LARGEST)
        return self._within(number, place, _LEAST, int(bound.val) + _FROM_ABOVE[name])

    def _within(self, number: Any, place: _Place, least: int, largest: int) -> bool:
        """Whether each element of ``number`` is within a range where inputs are within theirs."""
        if not _is_whole(number):
            return False
        if hasattr(number, "val"):
            return bool(np.all((number.val >= least) & (number.val <= largest)))
        outside = place.given.get(number)
        if isinstance(outside, int):
            known = self.found.get(outside, (_LEAST, _LARGEST))
            self.found[outside] = max(least, known[0]), min(largest, known[1])
            return True
        if outside is not None:
            return self._within(*outside, least, largest)
        equation = _made(number, place)
        if equation is None:
            return False
        name, operands = equation.primitive.name, equation.invars
        if name in ("jit", "pjit"):
            inner = equation.params["jaxpr"].jaxpr
            given = {v: (o, place) for v, o in zip(inner.invars, operands, strict=True)}
            called = _Place(_makers(inner), given)
            result = inner.outvars[equation.outvars.index(number)]
            return self._within(result, called, least, largest)
        if name in _MOVING:
            operands = operands[:1]
        elif name == "convert_element_type":
            if not np.can_cast(operands[0].aval.dtype, number.aval.dtype):
                return False
        elif name == "select_n":
            operands = operands[1:]
        elif name != "concatenate":
            return False
        return all(self._within(v, place, least, largest) for v in operands)


_LEAST, _LARGEST = -(1 << 63), (1 << 64) - 1


def _makers(jaxpr: Any) -> dict[Any, Any]:
    return {v: equation for equation in jaxpr.eqns for v in equation.outvars}


def _made(variable: Any, place: _Place) -> Any:
    """The equation that makes a variable; None if there is none."""
    return None if hasattr(variable, "val") else place.makers.get(variable)


def _is_whole(variable: Any) -> bool:
    return getattr(variable.aval.dtype, "kind", "") in "iu"


def looked_at(found: Mapping[int, tuple[int, int]], inputs: Sequence[int]) -> Callable[..., bool]:
    """A function of arrays that gives whether all their elements are within ranges.

    Args:
        found: of :class:`Ranges`.
        inputs: the number that each array has there.
    """
    rows = [(k, *found[place]) for k, place in enumerate(inputs) if place in found]

    def within(*given: Any) -> bool:
        for k, least, largest in rows:
            array = given[k]
            if not array.size:
                continue
            if least == 0 and array.dtype.kind == "i":  # what is negative is very large then
                if _largest(array.view(_UNSIGNED[array.dtype.itemsize]), None) > largest:
                    return False
            elif array.min() < least or array.max() > largest:
                return False
        return True

    return within


_largest = np.maximum.reduce
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
