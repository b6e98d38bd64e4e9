"""The ways of showing programs that ``Program``, ``Operator``, ``Executor`` and others offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ir.program import Program
from ..runtime.compile import CompiledSegment
from ..runtime.executor import Executor
from ..scope import Scope
from .diff import Difference, diff
from .network import value_graph
from .notebook import html_of
from .planning import Stage
from .planning import stages as stages_of
from .stepping import Trace
from .stepping import trace as trace_of
from .summary import Summary
from .summary import summary as summary_of


def html(shown: Any) -> str:
    """What a notebook shows of a part of a program, a scope or a plan."""
    return html_of(shown)


def difference(before: Program, after: Program) -> Difference:
    """In what a program differs from the one before."""
    return diff(before, after)


def graph(program: Program, block: int) -> Any:
    """A block as a networkx graph."""
    return value_graph(program, block)


def summary(program: Program, batch_size: int) -> Summary:
    """Layers, parameters and costs of a program."""
    return summary_of(program, batch_size)


def trace(
    executor: Executor, program: Program, feed: Mapping[str, Any] | None, scope: Scope | None
) -> Trace:
    """Every value of one run of a program."""
    return trace_of(executor, program, feed, scope)


def stages(compiled: Sequence[CompiledSegment]) -> list[Stage]:
    """The graphs of compiled segments behind each pass that changed them."""
    return stages_of(compiled)
