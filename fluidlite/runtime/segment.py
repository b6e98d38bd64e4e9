"""Segments: steps in a row that can be compiled as one function."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import groupby
from textwrap import indent
from typing import Any

from .step import Step

#: steps in a row that are compiled although those before and behind them work on sequences
FEWEST_COMPILED = 3


class Segment:
    """Steps in a row that drive no blocks.

    Args:
        steps: in order.
        is_ragged: whether they work on sequences of several lengths, and are not compiled.
    """

    def __init__(self, steps: list[Step], is_ragged: bool = False) -> None:
        self.steps, self.is_ragged = steps, is_ragged
        reads: dict[str, None] = {}
        written: dict[str, None] = {}
        for step in steps:
            for name in step.reads:
                if name not in written:
                    reads[name] = None
            for name in step.writes:
                written[name] = None
        #: live on entry
        self.reads = list(reads)
        freed = {name for step in steps for name in step.free}
        #: what they write that is live on exit
        self.writes = [name for name in written if name not in freed]
        self.free = [name for name in self.reads if name in freed and name not in written]
        #: what of that goes to the scope
        self.commits: set[str] = set()
        #: gradients of parameters that are to be looked at
        self.gradients: frozenset[str] = frozenset()
        #: the same without its loops, for shapes with which these cannot be unrolled
        self.parts: list[Segment | Step] = []
        if not is_ragged and any(step.instance.is_control for step in steps):
            self.parts = segments_of(steps, unroll=False)
        #: shapes of what is read -> the compiled segment
        self.functions: OrderedDict[Any, Any] = OrderedDict()
        #: the one that ran last
        self.last: Any = None


def segments_in(items: Iterable[Segment | Step]) -> Iterator[Segment]:
    """Segments, and those that are parts of them."""
    for item in items:
        if isinstance(item, Segment):
            yield item
            yield from segments_in(item.parts)


def source_of(items: Iterable[Segment | Step]) -> str:
    """What runs: the source of each compiled segment, for the shapes that it was last given, and
    the operators one by one of those that are not compiled.
    """
    parts = []
    for item in items:
        if not isinstance(item, Segment):
            parts.append(f"# runs blocks: {item.op}\n")
            if item.body is not None:
                parts.append(indent(item.body.source, "    "))
        elif item.last is not None and (source := item.last.source):
            parts.append(source)
        elif item.parts:
            parts.append(source_of(item.parts))
        else:
            parts.append("".join(f"# interpreted: {s.op}\n" for s in item.steps))
    return "\n".join(parts)


def segments_of(
    steps: Iterable[Step], unroll: bool = True, ragged: frozenset[str] = frozenset()
) -> list[Segment | Step]:
    """Steps in as few segments as can be compiled, and control operators between them.

    Args:
        steps: in order.
        unroll: whether loops whose number of passes follows from shapes are parts of segments.
        ragged: names of variables whose number of rows depends on lengths of sequences.
    """
    items: list[Segment | Step] = []
    row: list[Step] = []
    for step in steps:
        is_ragged = bool(ragged) and not ragged.isdisjoint((*step.reads, *step.writes))
        if not step.instance.is_control or (unroll and step.instance.unrolls and not is_ragged):
            row.append(step)
            continue
        items += _divided(row, ragged)
        items.append(step)
        row = []
    return [*items, *_divided(row, ragged)]


def _divided(row: list[Step], ragged: frozenset[str]) -> list[Segment]:
    """Steps in a row as segments: those that work on sequences, and between them those that do not,
    where they are not too few.
    """
    if not row or not ragged:
        return [Segment(row)] if row else []
    parts: list[tuple[bool, list[Step]]] = []
    for is_ragged, group in groupby(
        row, lambda step: not ragged.isdisjoint((*step.reads, *step.writes))
    ):
        part = list(group)
        joins = parts and parts[-1][0] and (is_ragged or len(part) < FEWEST_COMPILED)
        if joins:
            parts[-1][1].extend(part)
        else:
            parts.append((is_ragged, part))
    return [Segment(part, is_ragged) for is_ragged, part in parts]
