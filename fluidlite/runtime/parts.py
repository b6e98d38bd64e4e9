"""Which parts of a value the results of an instruction are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .value import Value


class Parts:
    """Which parts of a value the results of an instruction are.

    Args:
        op: with its attributes.
        whole: the only value that it reads.
        results: what it makes.
    """

    def __init__(self, op: Any, whole: Value, results: Sequence[Value]) -> None:
        self.op = op
        cuts = op.slices(whole.spec) if whole.is_static else None
        #: by result the positions that it takes along each dimension
        self.cuts: dict[Value, list[slice]] = {}
        if cuts is not None and len(cuts) == len(results):
            self.cuts.update(zip(results, cuts))
        #: whether each result is a part that has elements
        self.are_all: bool = bool(self.cuts) and all(
            value.size and value.is_static for value in results
        )
