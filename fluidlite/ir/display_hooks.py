"""How programs are shown.  The package that looks into programs says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..ground.extension import ExtensionPoint

if TYPE_CHECKING:
    from ..inspect.diff import Difference
    from ..inspect.summary import Summary
    from .program import Program


class Views(Protocol):
    """Ways of showing programs, their parts, and what runs them."""

    def html(self, shown: Any) -> str:
        """What a notebook shows of a program, a block, an operator, a variable, a scope or a
        plan.
        """
        ...

    def difference(self, before: Program, after: Program) -> Difference:
        """In what a program differs from another one, to be printed."""
        ...

    def graph(self, program: Program, block: int) -> Any:
        """The values and operators of a block as a networkx graph."""
        ...

    def summary(self, program: Program, batch_size: int) -> Summary:
        """Layers, parameters and costs of a program, to be printed."""
        ...

    def stages(self, compiled: Any) -> list[Any]:
        """The graphs of compiled segments behind each pass."""
        ...

    def trace(self, executor: Any, program: Any, feed: Any, scope: Any) -> Any:
        """Every value of one run of a program."""
        ...


VIEWS: ExtensionPoint[Views] = ExtensionPoint("ways of showing programs")
