"""Which numbers a distribution draws, or a transform takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...functions.arithmetic import logical_and
from ...functions.elementary import abs as absolute
from ...functions.reduction import all as all_of
from ...functions.reduction import sum as total
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries

if TYPE_CHECKING:
    from ...eager.tensor import Tensor

__all__ = [
    "Constraint", "Positive", "Range", "Real", "Simplex", "positive", "real", "simplex",
]  # fmt: skip


class Constraint(Described):
    """The base of constraints: a call says of values whether they fulfil it."""

    def __call__(self, value: Tensor) -> Tensor:
        """Whether numbers are such.

        Args:
            value: numbers.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method __call__(self, value)")


class Real(Constraint):
    """All numbers, but for NaN."""

    def __call__(self, value: Tensor) -> Tensor:
        """Whether numbers are such.

        Args:
            value: numbers.
        """
        return value == value


class Range(Constraint):
    """The numbers from one bound to another.

    Args:
        lower, upper: the bounds; themselves included.
    """

    def __init__(self, lower: float | Tensor, upper: float | Tensor) -> None:
        self._lower, self._upper = lower, upper

    def __call__(self, value: Tensor) -> Tensor:
        """Whether numbers are such.

        Args:
            value: numbers.
        """
        return logical_and(value >= self._lower, value <= self._upper)


class Positive(Constraint):
    """The numbers from 0."""

    def __call__(self, value: Tensor) -> Tensor:
        """Whether numbers are such.

        Args:
            value: numbers.
        """
        return value >= 0.0


class Simplex(Constraint):
    """Numbers from 0 that add up to 1, along the last dimension."""

    def __call__(self, value: Tensor) -> Tensor:
        """Whether rows are such.

        Args:
            value: numbers, [..., n].
        """
        whole: Any = total(value, -1)
        return logical_and(all_of(value >= 0.0, -1), absolute(whole - 1.0) < 1e-6)


real, positive, simplex = Real(), Positive(), Simplex()

list_public_names(globals())
api_boundaries(globals())
