"""The dynamic program over a chain of stages: which keep their values, and which form segments."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .stages import Stages

_LABELS = 40  #: choices that are remembered for a prefix and the way in which its last stage ends
#: parts of what is saved that a stage may let go of alone, the cheapest first
_THRIFT = (0.0, 0.25, 0.5, 0.75)
_SEGMENT = len(_THRIFT)  #: the way of a stage that is part of a segment

Ints = NDArray[np.int64]


class _Labels(NamedTuple):
    """Choices for a prefix of the chain, one after the other."""

    kept: Ints  #: bytes
    cost: NDArray[np.float64]
    way: Ints  #: of the last stage
    start: Ints  #: the stage behind which that way begins
    before: Ints  #: place of the choice for the prefix up to there


class Segmentation:
    """A chain of stages of which some are to be computed again.

    Args:
        stages: of the chain.
        passes_on: whether a stage that lets go of values alone keeps what it hands on: without that
            the stages behind it need stages before it, which costs less than is planned where the
            way there is short, and takes more memory where it is long.
    """

    def __init__(self, stages: Stages, passes_on: bool) -> None:
        self.stages = stages
        trace, count = stages.trace, stages.count
        self._let_go = _cheapest(stages, passes_on)
        size = trace.sizes.__getitem__
        self._kept = np.zeros((_SEGMENT, count + 1), np.int64)
        self._cost = np.zeros((_SEGMENT, count + 1))
        #: bytes that a segment behind a stage has to keep besides, by the way of that stage
        self._handed = np.zeros((_SEGMENT + 1, count + 1), np.int64)
        again = _cost_again(stages)
        work = [0] * (count + 1)
        for position in dict.fromkeys(trace.made_at.values()):
            work[stages.of_op[position]] += trace.costs[position]
        for number in range(1, count + 1):
            saved, handed = stages.saved[number], stages.passed_on[number]
            self._handed[_SEGMENT, number] = sum(map(size, handed))
            for way, let_go in enumerate(self._let_go):
                kept = [name for name in saved if name not in let_go]
                self._kept[way, number] = sum(map(size, kept))
                spent = sum(again[name] for name in saved if name in let_go)
                self._cost[way, number] = min(spent, work[number])
                held = {name for name in handed if name in trace.saved and name not in let_go}
                self._handed[way, number] = sum(size(n) for n in handed if n not in held)
        self._segment_cost = _spans(work, stages)
        self._segment_peak = _peaks(stages)
        alone = [max(both) for both in zip(stages.forward, stages.backward)]
        self._alone: Ints = np.array(alone, np.int64)

    def solve(self, budget: int) -> dict[str, int] | None:
        """The levels of what is let go of at the least cost; None where nothing fits.

        Args:
            budget: bytes that may be held at any moment.
        """
        count = self.stages.count
        zero = np.zeros(1, np.int64)
        table = [_Labels(zero, np.zeros(1), zero, zero - 1, zero - 1)]
        ends: Ints = zero  # the prefix of each choice so far
        places: Ints = zero
        bytes_kept: Ints = zero  # with what a segment behind it has to keep
        cost = np.zeros(1)
        for number in range(1, count + 1):
            fits = np.flatnonzero(bytes_kept + self._segment_peak[ends, number] <= budget)
            begins = ends[fits]
            spent = cost[fits] + self._segment_cost[begins, number]
            ended = [_best(bytes_kept[fits], spent, _SEGMENT, begins, places[fits])]
            last = table[-1]
            fits = np.flatnonzero(last.kept + self._alone[number] <= budget)
            for way in range(_SEGMENT):
                more, dearer = self._kept[way, number], self._cost[way, number]
                begins = np.full(len(fits), number - 1)
                ended.append(
                    _best(last.kept[fits] + more, last.cost[fits] + dearer, way, begins, fits)
                )
            labels = _Labels(*(np.concatenate(column) for column in zip(*ended, strict=True)))
            table.append(labels)
            handed = self._handed[labels.way, number]
            ends = np.concatenate([ends, np.full(len(labels.kept), number)])
            places = np.concatenate([places, np.arange(len(labels.kept))])
            bytes_kept = np.concatenate([bytes_kept, labels.kept + handed])
            cost = np.concatenate([cost, labels.cost])
        if not len(table[-1].kept):
            return None
        return self._levels(table)

    def _levels(self, table: list[_Labels]) -> dict[str, int]:
        """What the cheapest choice for the whole chain lets go of."""
        stages, number = self.stages, self.stages.count
        ways, borders = [0] * (number + 1), set()
        place = int(np.argmin(table[number].cost))
        while number:
            labels = table[number]
            way, start = int(labels.way[place]), int(labels.start[place])
            for each in range(start + 1, number + 1):
                ways[each] = way
            if way == _SEGMENT:
                borders.update(stages.passed_on[start])
            place, number = int(labels.before[place]), start
        trace = stages.trace
        return {
            name: 1
            for name, position in trace.made_at.items()
            if name not in borders
            and name not in stages.long
            and (
                name not in trace.saved
                or (way := ways[stages.of_op[position]]) == _SEGMENT
                or name in self._let_go[way]
            )
        }


def _cost_again(stages: Stages) -> dict[str, int]:
    """What it costs to compute each saved value again, from others that are saved."""
    trace = stages.trace
    costs: dict[str, int] = {}
    everything = list(accumulate(trace.costs))
    for name, position in trace.made_at.items():
        spent = trace.costs[position] + sum(
            costs[each]
            for each in trace.free_reads[position]
            if each not in trace.saved and each not in stages.long
        )
        costs[name] = min(spent, everything[position])  # what is shared counts more than once
    return costs


def _cheapest(stages: Stages, passes_on: bool) -> list[set[str]]:
    """By way of a stage the values that it lets go of: of all stages the cheapest for a byte."""
    again, sizes = _cost_again(stages), stages.trace.sizes
    kept = {name for names in stages.passed_on for name in names} if passes_on else set()
    names = [name for saved in stages.saved for name in saved if name not in kept]
    names.sort(key=lambda name: again[name] / max(1, sizes[name]))
    ends = list(accumulate(sizes[name] for name in names))
    whole = ends[-1] if ends else 0
    return [
        {name for name, end in zip(names, ends) if end <= part * whole} if part else set()
        for part in _THRIFT
    ]


def _spans(work: list[int], stages: Stages) -> NDArray[np.float64]:
    """What it costs to compute the stages behind one up to another one again."""
    trace, count = stages.trace, stages.count
    able = set(trace.made_at.values())
    reached = [0] * (count + 1)  # work up to the last value that is saved
    for number, saved in enumerate(stages.saved):
        last = max((trace.made_at[name] for name in saved), default=-1)
        begin = 0 if number < 2 else stages.cuts[number - 2] + 1
        reached[number] = sum(trace.costs[p] for p in range(begin, last + 1) if p in able)
    before = np.array([0, *accumulate(work[1:])], np.float64)
    spans = np.zeros((count + 1, count + 1))
    for number in range(1, count + 1):
        spans[:number, number] = before[number - 1] - before[:number] + reached[number]
    return spans


def _peaks(stages: Stages) -> Ints:
    """What the stages behind one up to another one take beside what is kept before them, where they
    form a segment.
    """
    size, count = stages.trace.sizes.__getitem__, stages.count
    saved = np.array([sum(map(size, names)) for names in stages.saved], np.int64)
    before = np.concatenate([[0], np.cumsum(saved)[:-1]])  # of the stages before each one
    forward, backward = (np.array(n, np.int64) for n in (stages.forward, stages.backward))
    between = np.array(stages.between, np.int64)
    peaks = np.zeros((count + 1, count + 1), np.int64)
    for start in range(count):
        inside = slice(start + 1, None)
        held = before[inside] - before[start + 1]
        first_time = np.maximum.accumulate(forward[inside])
        again = np.maximum.accumulate(held + forward[inside]) + between[inside]
        gradients = np.maximum.accumulate(held + backward[inside])
        peaks[start, inside] = np.maximum(first_time, np.maximum(again, gradients))
    return peaks


def _best(kept: Ints, cost: NDArray[np.float64], way: int, start: Ints, before: Ints) -> _Labels:
    """Those that no other one beats in both kept bytes and cost; of many some, evenly."""
    order = np.lexsort((cost, kept))
    lowest = np.minimum.accumulate(cost[order])
    better = np.ones(len(order), bool)
    better[1:] = cost[order][1:] < lowest[:-1]
    chosen = order[better]
    if len(chosen) > _LABELS:
        chosen = chosen[np.linspace(0, len(chosen) - 1, _LABELS).round().astype(int)]
    ways = np.full(len(chosen), way)
    return _Labels(kept[chosen], cost[chosen], ways, start[chosen], before[chosen])
