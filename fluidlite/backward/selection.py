"""Choosing what to compute again, so that what is held fits into a budget at the least cost.

A dynamic program over the chain of stages proposes, and so do divisions of the chain into equal
parts, of parts into parts (Chen, Xu, Zhang and Guestrin, Training Deep Nets with Sublinear Memory
Cost, 2016).  Each proposal is measured on its schedule, and the best is made better by single
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate, combinations, pairwise
from typing import NamedTuple

from .chain import Segmentation
from .rematerialization import GradientTrace, Schedule
from .stages import Stages

_STAGES = 96  #: of the chain
_ROUNDS = 8  #: dynamic programs, each with a budget mended by what the one before was off
_NEARNESS = 100  #: a budget that can be met is this part of itself above one that cannot
_WORK = 300_000  #: operators of the schedules that changes are tried on
_FEWEST_TRIALS = 12
_PARTS = (2, 3, 4, 6, 8, 12, 16, 24, 32)  #: that the chain is divided into
_DEEPEST = 6  #: divisions of divisions
_PAIRS = 24  #: values; with more of them no two are changed at a time


class Choice(NamedTuple):
    """What is let go of, and what comes of it."""

    dropped: dict[str, int]  #: value -> level
    schedule: Schedule

    @property
    def by_cost(self) -> tuple[int, int]:
        """Cost and peak, to compare."""
        return self.schedule.cost, self.schedule.peak

    @property
    def by_peak(self) -> tuple[int, int]:
        """Peak and cost, to compare."""
        return self.schedule.peak, self.schedule.cost


class Selection:
    """Choices for the operators of a block, by budget.

    Args:
        trace: the operators.
    """

    def __init__(self, trace: GradientTrace) -> None:
        self.trace = trace
        self.plain: Choice = Choice({}, trace.schedule({}))
        self._stages = Stages(trace, self.plain.schedule.held.live.tolist(), _STAGES)
        self._chains = [Segmentation(self._stages, keeps) for keeps in (True, False)]

    def best(self, budget: int) -> Choice:
        """The cheapest choice that was found whose peak is at most the budget; the one with the
        lowest peak if there is none.

        Args:
            budget: bytes of values that may be held at any moment.
        """
        if self.plain.schedule.peak <= budget or not self.trace.saved:
            return self.plain
        fitting = self._fitting(budget)
        if not fitting:
            if self.smallest.schedule.peak > budget:
                return self.smallest
            fitting = [self.smallest]
        cheapest = min(fitting, key=lambda choice: choice.by_cost)
        return _improved(
            self.trace,
            cheapest,
            lambda choice: choice.schedule.peak <= budget,
            lambda choice: choice.by_cost,
        )

    @cached_property
    def smallest(self) -> Choice:
        """The choice with the lowest peak that is found without a budget."""
        start = min([self.plain, *self._divided], key=lambda choice: choice.by_peak)
        return _improved(self.trace, start, lambda choice: True, lambda choice: choice.by_peak)

    def smallest_budget(self, too_small: int) -> int:
        """A budget that can be met, and is close to one that cannot.

        Args:
            too_small: a budget that cannot be met.
        """
        low, high = too_small, self.smallest.schedule.peak
        while high - low > max(1, high // _NEARNESS):
            middle = (low + high) // 2
            if self._fitting(middle):
                high = middle
            else:
                low = middle
        return high

    @cached_property
    def _divided(self) -> list[Choice]:
        if not self.trace.saved:
            return []
        divided = divisions(self._stages)
        return [Choice(levels, self.trace.schedule(levels)) for levels in divided]

    def _fitting(self, budget: int) -> list[Choice]:
        """Proposals whose peak is at most the budget."""
        planned = [each for chain in self._chains for each in self._planned(chain, budget)]
        proposed = [*planned, *self._divided]
        return [choice for choice in proposed if choice.schedule.peak <= budget]

    def _planned(self, chain: Segmentation, budget: int) -> Iterator[Choice]:
        """What the dynamic program finds, whose own budget is moved until the schedule takes most
        of it and not more.
        """
        aim, tried = budget, set()
        for _ in range(_ROUNDS):
            levels = chain.solve(aim)
            if levels is None or aim in tried:
                return
            tried.add(aim)
            choice = Choice(levels, self.trace.schedule(levels))
            yield choice
            peak = choice.schedule.peak
            if 0 <= budget - peak <= budget // _NEARNESS:
                return
            aim = aim * budget // peak


def divisions(stages: Stages, deepest: int = _DEEPEST) -> Iterator[dict[str, int]]:
    """Levels of values where the chain is divided into parts of equal bytes, of which only what is
    handed to them is kept, and parts are divided again, up to some depth.

    Args:
        stages: of the chain.
        deepest: how often parts are divided at most.
    """
    trace, size = stages.trace, stages.trace.sizes.__getitem__
    saved = [sum(map(size, names)) for names in stages.saved]
    ends = list(accumulate(saved))
    seen = set()
    for parts in _PARTS:
        for depth in range(1, deepest + 1):
            if parts ** (depth - 1) >= stages.count:
                break
            borders = [0] * (stages.count + 1)  # 0: none
            rows = [(0, stages.count)]
            for level in range(depth):
                inner: list[tuple[int, int]] = []
                for begin, end in rows:
                    cuts = _even(ends, begin, end, parts)
                    for cut in cuts[1:-1]:
                        borders[cut] = level + 1
                    inner += pairwise(cuts)
                rows = inner
            key = tuple(borders)
            if key in seen:
                continue
            seen.add(key)
            levels = {name: depth for name in trace.made_at if name not in stages.long}
            for number in sorted(range(stages.count + 1), key=lambda n: -borders[n]):
                if borders[number]:
                    for name in stages.passed_on[number]:
                        levels[name] = borders[number] - 1
            yield {name: level for name, level in levels.items() if level}


def _even(ends: list[int], begin: int, end: int, parts: int) -> list[int]:
    """Where a row of stages is divided into parts of about as many bytes."""
    share = (ends[end] - ends[begin]) / parts
    cuts, number = [begin], begin
    for part in range(1, parts):
        while number < end and ends[number] < ends[begin] + part * share:
            number += 1
        if cuts[-1] < number < end:
            cuts.append(number)
    return [*cuts, end]


# -- single changes --------------------------------------------------------------------------------


def _improved(
    trace: GradientTrace,
    choice: Choice,
    fits: Callable[[Choice], bool],
    figure: Callable[[Choice], tuple[int, int]],
) -> Choice:
    """A choice made better by changes, each of which leaves it fitting, as long as trials last.

    Args:
        trace: the operators.
        choice: where to begin.
        fits: whether a choice may be taken.
        figure: what to make small.
    """
    search = _Search(trace, choice, fits, figure)
    search.keep_groups()
    search.change_few()
    return search.choice


class _Search:
    def __init__(
        self,
        trace: GradientTrace,
        choice: Choice,
        fits: Callable[[Choice], bool],
        figure: Callable[[Choice], tuple[int, int]],
    ) -> None:
        self.trace = trace
        self.choice = choice
        self._fits = fits
        self._figure = figure
        self._work = max(_WORK, _FEWEST_TRIALS * len(trace.ops))

    def _takes(self, dropped: dict[str, int]) -> bool:
        """Whether a change made it better."""
        if self._work <= 0:
            return False
        changed = Choice(dropped, self.trace.schedule(dropped))
        self._work -= len(self.trace.ops) + changed.schedule.copies
        if not self._fits(changed) or self._figure(changed) >= self._figure(self.choice):
            return False
        self.choice = changed
        return True

    def keep_groups(self) -> None:
        """Keep values, those first that are dearest to compute for a byte, many at a time."""
        trace, place = self.trace, 0
        added = self.choice.schedule.added.values()
        again = {step.position for steps in added for step in steps}
        names = [name for name in self.choice.dropped if trace.made_at[name] in again]
        names.sort(key=lambda n: -trace.costs[trace.made_at[n]] / max(1, trace.sizes[n]))
        size = max(1, len(names) // 4)
        while place < len(names) and self._work > 0:
            group = {*names[place : place + size]}
            rest = {n: level for n, level in self.choice.dropped.items() if n not in group}
            if self._takes(rest):
                place += size
                size *= 2
            elif size > 1:
                size //= 2
            else:
                place += 1

    def change_few(self) -> None:
        """Keep or let go of single values, and of two at a time where there are few."""
        names = [*self.trace.made_at]
        groups: list[tuple[str, ...]] = [(name,) for name in names]
        if len(names) <= _PAIRS:
            groups += combinations(names, 2)
        going_on = True
        while going_on and self._work > 0:
            going_on = False
            for group in groups:
                dropped = {**self.choice.dropped}
                for name in group:
                    if dropped.pop(name, None) is None:
                        dropped[name] = 1
                going_on |= self._takes(dropped)
