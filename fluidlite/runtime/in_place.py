"""Runs that write parameters over what they replace, as they commit: bound calls, and the first run
of a plan.

The updates, and the look whether anybody else holds what they write over, are part of the commit,
which is one call of C: Python raises interrupts and changes threads before it or behind it, and
finds all parameters old or all of them new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import attrgetter, gt, is_not
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.commands import CommandBuffer
from ..ground.allocator import give_back_freed_memory
from ..ground.values import as_fetched
from .ownership import ALONE, reusable
from .updates import SMALLEST

if TYPE_CHECKING:
    from .compile import CompiledSegment
    from .updates import LateUpdates

#: what ``map`` counts of references to an item of a list that nothing else holds
ALONE_IN_MAP: int = next(map(getrefcount, [object()]))
#: the same of what is written over: the lists of inputs and of what was taken, the variable, and
#: the operand and the result of the update have it, too
OURS = ALONE_IN_MAP + 5
#: what is counted of it before the commit of a first run: the variable, what the commit looks for,
#: and the operand and the result
OURS_BEFORE = ALONE + 4
MOST_REFUSED = 3  #: commits in a row that are refused, up to which it is tried
_value = attrgetter("value")


class InPlaceCall:
    """What a bound call does behind its look at the inputs, where nobody else holds what its
    updates write over.

    Args:
        segment: a compiled segment with late updates.
        run: its function without these.
        inputs: of each input the variable, None where it is fed, and the name.
        fetches: names of results and inputs to fetch.
        commits: the variables that get results, by name.
        state: counts the runs.
        again: repeats a call that another run has overtaken.
    """

    def __init__(
        self,
        segment: CompiledSegment,
        run: Callable[..., Any],
        inputs: Sequence[tuple[Any, str]],
        fetches: Sequence[str],
        commits: Mapping[str, Any],
        state: Any,
        again: Callable[..., Any],
    ) -> None:
        late, results = segment.late, {name: k for k, name in enumerate(segment.results)}
        assert late is not None
        self._segment, self._run, self._state, self._again = segment, run, state, again
        places = {name: k for k, (_, name) in enumerate(inputs)}
        #: the names of variables whose arrays are written over, and their places among the inputs
        self._names = set(late.names)
        self._over = [places[name] for name in late.names]
        self._is_fed = any(inputs[k][0] is None for k in self._over)
        self._held = [(k, variable) for k, (variable, _) in enumerate(inputs) if variable]
        #: whether each is a result, and its place among these or among the inputs
        self._fetches = [(n in results, results[n] if n in results else places[n]) for n in fetches]
        #: of other results the names, the places, and whether late updates make them
        self._results = [(n, results[n], n in late.others) for n in commits if n not in self._names]
        self._variables = [commits[name] for name, _, _ in self._results]
        self._update, self._buffer = late.sequence.functions.run, late.sequence.buffer
        self._refused = 0

    def fits(self, given: list[Any]) -> bool:
        """Whether the scope alone holds what is written over, beside the list of inputs that a
        caller has.
        """
        tries = self._refused < MOST_REFUSED and not self._is_fed
        return tries and all(
            getrefcount(given[k]) <= ALONE + 1 and given[k].base is None and given[k].flags.carray
            for k in self._over
        )

    def __call__(
        self, feed: Any, given: list[Any], draw: Any, sources: Sequence[Any], is_turn: bool
    ) -> list[Any] | None:
        """Run and commit: the fetched values; None, and nothing has happened, where the run has to
        be planned.
        """
        segment, donated = self._segment, self._segment.donated
        if not self._names.isdisjoint(donated):  # what planned runs replaced
            for name in self._names:
                donated.pop(name, None)
            give_back_freed_memory(SMALLEST)
        memory = segment.buffers.take()
        try:
            spare = [donated.pop(name, None) for name in segment.donatable]
            arrays = self._run(memory, spare, draw, *given)
        except Exception:
            self._refused += 1
            return None
        results = [
            as_fetched(np.array((arrays if is_result else given)[k]))
            for is_result, k in self._fetches
        ]
        news: list[Any] = []
        for _, k, is_late in self._results:
            is_ours = is_late or (getrefcount(arrays[k]) <= ALONE and arrays[k].base is None)
            news.append(arrays[k] if is_ours else np.array(arrays[k]))
        late = arrays[-1]
        del arrays, spare
        olds = [variable.value for variable in self._variables]
        taken = [given[k] for k, _ in self._held]
        over = [given[k] for k in self._over]
        commit = chain(
            map(is_not, map(_value, [variable for _, variable in self._held]), taken),
            map(gt, map(getrefcount, over), repeat(OURS)),
            map(self._update, (late,), (memory[self._buffer],)),
            map(
                setattr,
                [*self._variables, self._state, *sources],
                [*["value"] * len(olds), "count", *["held"] * len(sources)],
                [*news, self._state.count + 1, *[None] * len(sources)],
            ),
        )
        if any(commit):
            self._refused += 1
            segment.buffers.give_back(memory)
            return self._again(feed, draw, sources, is_turn)
        self._refused = 0
        segment.buffers.give_back(memory)
        del commit, late, taken, over
        for k in reusable(olds, range(len(olds))):
            segment.donate(self._results[k][0], olds[k])
        return results


class PendingUpdates:
    """Late updates that a first run has left to be made as it commits, where nobody else holds what
    they write over.

    Args:
        late: the updates.
        held: by number, the values that they read.
    """

    def __init__(self, late: LateUpdates, held: Mapping[int, Any]) -> None:
        sequence, over = late.sequence, late.over
        self._late, self._over = late, [held[old.number] for old in over.values()]
        #: by number, the arrays that they fill beside
        self.made: dict[int, Any] = {
            v.number: np.empty(*v.stored) for v in sequence.outputs if v.number not in over
        }
        outputs = {**self.made, **{number: held[old.number] for number, old in over.items()}}
        self._given = (
            *(held[value.number] for value in sequence.inputs),
            *(outputs[value.number] for value in sequence.outputs),
        )
        self._buffer = CommandBuffer()
        late.record(self._buffer)

    @property
    def names(self) -> Sequence[str]:
        """The variables whose arrays are written over."""
        return self._late.names

    def fits(self, feed: Collection[str]) -> bool:
        """Whether the scope alone holds what is written over."""
        over, is_fed = self._over, not set(feed).isdisjoint(self.names)
        return (
            self._buffer.is_recorded
            and not is_fed
            and all(
                getrefcount(over[k]) <= OURS_BEFORE
                and over[k].base is None
                and over[k].flags.carray
                for k in range(len(over))
            )
        )

    def computed(self) -> dict[str, Any]:
        """What they make in new arrays, by name."""
        return self._late.computed(self._given[: len(self._late.sequence.inputs)])

    def made_first(self) -> Iterator[Any]:
        """What a commit does first, in C alone; where that gives anything true, somebody else holds
        what is written over, and nothing has happened.
        """
        return chain(
            map(gt, map(getrefcount, self._over), repeat(OURS)),
            map(self._late.sequence.functions.run, (self._given,), (self._buffer,)),
        )
