"""How programs are shown.  The package that looks into programs says it; programs do not know that
package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..errors import FluidError

if TYPE_CHECKING:
    from .operator import Operator
    from .program import Program


class Views(Protocol):
    """Ways of showing programs, their parts, and what runs them."""

    def html(self, shown: Any) -> str:
        """What a notebook shows of a program, a block, an operator, a variable, a scope or a
        plan.
        """
        ...

    def difference(self, before: Program, after: Program) -> Any:
        """In what a program differs from another one, to be printed."""
        ...

    def summary(self, program: Program, batch_size: int) -> Any:
        """Layers, parameters and costs of a program, to be printed."""
        ...

    def explanation(self, op: Operator) -> Any:
        """What an operator does, to be printed."""
        ...

    def trace(self, executor: Any, program: Any, feed: Any, scope: Any) -> Any:
        """Every value of one run of a program."""
        ...


_REGISTERED: list[Views] = []


def register_views(views: Views) -> None:
    """Make these the ways of showing programs."""
    _REGISTERED.append(views)


def views() -> Views:
    """The ways of showing programs."""
    if not _REGISTERED:
        raise FluidError("programs are shown once fluidlite.inspect is imported")
    return _REGISTERED[-1]
