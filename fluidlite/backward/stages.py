"""The forward operators of a block as a chain of stages, between places where little is passed on.

Where a single value is passed on, it dominates all that comes behind it: every path to the loss
goes through it.  Counting what is passed on finds these dominators in one pass over a straight-line
program, and the next best places if there are none, as beside masks that all layers read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from .rematerialization import GradientTrace

_LONG = 4  #: a value that is read across more than this part of the operators is kept


class Stages:
    """Stages, numbered from 1, and what is known of each; of number 0 there is nothing.

    Args:
        trace: the operators.
        live: bytes held while each of them runs, where nothing is computed again.
        most: how many stages there are at most.
    """

    def __init__(self, trace: GradientTrace, live: Sequence[int], most: int) -> None:
        self.trace = trace
        self._read = self._last_forward_reads()
        self.cuts: list[int] = self._chosen(most)
        self.count: int = len(self.cuts)
        #: stage of each forward operator
        self.of_op: list[int] = []
        for number, (begin, end) in enumerate(zip([-1, *self.cuts], self.cuts), 1):
            self.of_op += [number] * (end - begin)
        #: the values that are passed on behind a stage
        self.passed_on: list[list[str]] = self._passed_on()
        #: the values of a stage that gradients read and that may be let go of
        self.saved: list[list[str]] = [[] for _ in range(self.count + 1)]
        for name in trace.saved:
            if name not in self.long:
                self.saved[self.of_op[trace.made_at[name]]].append(name)
        self._measure(live)

    def _last_forward_reads(self) -> dict[str, int]:
        """Where each value that may be let go of is read last by a forward operator."""
        trace = self.trace
        last = dict(trace.made_at)
        for place in range(trace.first):
            for name in trace.free_reads[place]:
                last[name] = place
        span = max(1, trace.first // _LONG)
        #: values that are kept, since what reads them lies far apart
        self.long: set[str] = {
            name for name, place in last.items() if place - trace.made_at[name] > max(span, 16)
        }
        return last

    def _chosen(self, most: int) -> list[int]:
        """The last operators of stages: of equal parts of the work the places where least is passed
        on.
        """
        trace, changes = self.trace, [0] * (self.trace.first + 1)
        for name, place in self._read.items():
            if name not in self.long:
                changes[trace.made_at[name]] += trace.sizes[name]
                changes[place] -= trace.sizes[name]
        handed = list(accumulate(changes))
        count = trace.first
        if count <= most:
            return list(range(count))
        work = list(accumulate(trace.costs))
        share = max(1, work[-1]) / most
        best: dict[int, int] = {}
        for place in range(count - 1):
            part = int(work[place] / share)
            if part not in best or handed[place] <= handed[best[part]]:
                best[part] = place
        return [*sorted(best.values()), count - 1]

    def _passed_on(self) -> list[list[str]]:
        begins: dict[int, list[str]] = {}
        for name in self._read:
            if name not in self.long:
                begins.setdefault(self.of_op[self.trace.made_at[name]], []).append(name)
        handed: list[list[str]] = [[]]
        at_hand: list[str] = []
        for number, cut in enumerate(self.cuts, 1):
            at_hand = [n for n in [*at_hand, *begins.get(number, ())] if self._read[n] > cut]
            handed.append(at_hand)
        return handed

    def _measure(self, live: Sequence[int]) -> None:
        """What each stage takes beside the values of those before it that are saved."""
        trace, count = self.trace, self.count
        sizes, of_op = trace.sizes, self.of_op
        saved_at = {n: k for k, names in enumerate(self.saved) for n in names}
        #: bytes while the operators of a stage run, and while their gradients are computed
        self.forward: list[int] = [0] * (count + 1)
        self.backward: list[int] = [0] * (count + 1)
        #: bytes before the first gradient of a stage is computed
        self.between: list[int] = [0] * (count + 1)
        below = total = 0
        number = 0
        for place in range(trace.first):
            if of_op[place] != number:
                number, below = of_op[place], total
            self.forward[number] = max(self.forward[number], live[place] - below)
            total += sum(sizes[n] for n in trace.touched[place][1] if n in saved_at)
        ends: dict[int, list[str]] = {}
        for name, place in trace.saved.items():
            if name in saved_at:
                ends.setdefault(place, []).append(name)
        stage_at = self._stage_of_gradients(saved_at)
        held = [sum(sizes[n] for n in names) for names in self.saved]
        number, below = count, sum(held[:count])
        for place in range(trace.first, len(trace.ops)):
            while number > stage_at[place]:
                number -= 1
                below -= held[number]
                self.between[number] = max(0, live[place] - below - held[number])
            self.backward[number] = max(self.backward[number], live[place] - below)
            for name in ends.get(place, ()):
                held[saved_at[name]] -= sizes[name]
                below -= sizes[name] if saved_at[name] < number else 0

    def _stage_of_gradients(self, saved_at: Mapping[str, int]) -> dict[int, int]:
        """For each gradient operator the last stage that it or one behind it reads of."""
        stage_at, last = {}, 0
        for place in range(len(self.trace.ops) - 1, self.trace.first - 1, -1):
            reads = self.trace.free_reads[place]
            last = max([last, *(saved_at[n] for n in reads if n in saved_at)])
            stage_at[place] = last
        return stage_at
