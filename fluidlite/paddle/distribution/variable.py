"""Where random numbers may lie: what transforms take and give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ...functions.reduction import all as all_of
from ...functions.shaping import stack
from ...functions.views import unbind
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries
from . import constraint as constraints

if TYPE_CHECKING:
    from ...eager.tensor import Tensor

__all__ = ["Independent", "Positive", "Real", "Stack", "Variable", "positive", "real"]


class Variable(Described):
    """Random numbers.

    Args:
        is_discrete: whether there are gaps between them.
        event_rank: the number of dimensions of one draw.
        constraint: what says which numbers they are.
    """

    def __init__(
        self,
        is_discrete: bool = False,
        event_rank: int = 0,
        constraint: constraints.Constraint | None = None,
    ) -> None:
        self._is_discrete, self._event_rank = is_discrete, event_rank
        self._constraint = constraint

    @property
    def is_discrete(self) -> bool:
        """Whether there are gaps between the numbers."""
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        """The number of dimensions of one draw."""
        return self._event_rank

    def constraint(self, value: Tensor) -> Tensor:
        """Whether values are such numbers.

        Args:
            value: numbers.
        """
        if self._constraint is None:
            raise ArgumentError(f"expected a {type(self).__name__} with a constraint, has none")
        return self._constraint(value)


class Real(Variable):
    """All numbers.

    Args:
        event_rank: the number of dimensions of one draw.
    """

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraints.real)


class Positive(Variable):
    """The numbers from 0.

    Args:
        event_rank: the number of dimensions of one draw.
    """

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraints.positive)


class Independent(Variable):
    """Random numbers with more dimensions.

    Args:
        base: random numbers.
        reinterpreted_batch_rank: how many dimensions are added to those of a draw.
    """

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        self._base, self._reinterpreted_batch_rank = base, reinterpreted_batch_rank
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)

    def constraint(self, value: Tensor) -> Tensor:
        """Whether values are such, all of those of a draw.

        Args:
            value: numbers.
        """
        rank = self._reinterpreted_batch_rank
        truths = self._base.constraint(value)
        if truths.array.ndim < rank:
            raise ArgumentError(
                f"expected numbers of {rank} dimensions or more, got {truths.array.ndim}"
            )
        return all_of(truths, list(range(-rank, 0))) if rank else truths


class Stack(Variable):
    """Random numbers that lie side by side.

    Args:
        vars: of each place along a dimension.
        axis: the dimension.
    """

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        self._vars, self._axis = vars, axis
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """Whether there are gaps between the numbers of one place."""
        return any(each.is_discrete for each in self._vars)

    @property
    def event_rank(self) -> int:
        """The number of dimensions of one draw."""
        rank = max(each.event_rank for each in self._vars)
        return rank + (self._axis + rank < 0)

    def constraint(self, value: Tensor) -> Tensor:
        """Whether values are such, each place for itself.

        Args:
            value: numbers.
        """
        if not -value.array.ndim <= self._axis < value.array.ndim:
            raise ArgumentError(
                f"expected numbers with a dimension {self._axis}, got {value.array.ndim} dimensions"
            )
        parts: list[Any] = unbind(value, self._axis)
        return stack([each.constraint(part) for each, part in zip(self._vars, parts)], self._axis)


real, positive = Real(), Positive()

list_public_names(globals())
api_boundaries(globals())
