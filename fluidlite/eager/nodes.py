"""The nodes of an eager graph."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from .source import SourceLine, located_line

_count = itertools.count()


class GradNode:
    """An operator that was applied to something that wants a gradient."""

    __slots__ = (
        "__weakref__", "at", "code", "count", "edges", "hooks", "how", "out", "saved", "versions"
    )  # fmt: skip

    def __init__(
        self, how: Any, edges: Any, saved: Any, versions: Any, out: Any, code: Any, at: int
    ) -> None:
        self.count: int = next(_count)  #: nodes that were made later have larger ones
        self.how: Any = how  #: a Pullback, or what else can pull a cotangent back
        self.edges: Any = edges  #: by input slot; None once the graph was released
        self.saved: Any = saved  #: values that the rule reads
        self.versions: Any = versions  #: what their versions were; None where all were 0
        self.out: Any = out  #: outputs that the rule reads
        self.hooks: Any = None
        self.code: Any = code
        self.at: int = at

    @property
    def type(self) -> str:
        """The type of the operator."""
        return self.how.op.type

    @property
    def site(self) -> SourceLine | None:
        """Where the user called it."""
        return located_line(self.code, self.at)

    def release(self) -> None:
        """Let go of everything that a gradient would need."""
        self.edges = self.saved = self.out = None

    def __repr__(self) -> str:
        return f"<{self.type} called at {self.site}>"


class NamedStep(NamedTuple):
    """Stands in place of the operator of a node that has none."""

    type: str  #: what messages call it


class StepOfFunction:
    """Stands in place of the gradient rule of a node that is a call of a user's function.

    Args:
        name: what messages call it.
    """

    __slots__ = ("op", "places", "single")

    def __init__(self, name: str) -> None:
        self.op = NamedStep(name)
        self.places: Sequence[Any] = ()
        self.single = False


def moment() -> int:
    """A number between those of the nodes that are there and of those that come."""
    return next(_count)


class Overwritten(NamedTuple):
    """Stands for an output that was written in place after it was kept."""

    site: SourceLine | None
