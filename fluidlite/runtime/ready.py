"""Runs of a program that was run before with the same feeds and fetches."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..values import as_fetched
from .compile import CompiledSegment
from .finite import first_bad
from .plan import Plan
from .scope import Scope, ScopeVariable

#: how a program is run in full, given a feed
InFull = Callable[[Mapping[str, Any]], list[Any]]


class Ready:
    """A function of the feeds that runs a program; made by ``Executor.prepare``.

    Args:
        run: runs the program in full.
        again: runs it in the way that it was run before, given a feed; None where it cannot.
    """

    def __init__(self, run: InFull, again: Callable[[Mapping[str, Any]], list[Any] | None]) -> None:
        self._run, self._again = run, again

    def __call__(self, feed: Mapping[str, Any]) -> list[Any]:
        """Run the program once.

        Args:
            feed: name of a data variable -> array.

        Returns:
            the fetched values; copies.

        Raises:
            FluidError: what ``Executor.run`` raises.
        """
        found = self._again(feed)
        return self._run(feed) if found is None else found


class Runs:
    """What an executor remembers of one program."""

    def __init__(self) -> None:
        #: how often it was run
        self.count = 0
        #: what random operators start from in place of this executor's own number
        self.seed: int | None = None
        #: by revision and fetched names
        self.plans: OrderedDict[Any, Plan] = OrderedDict()


class Taken(NamedTuple):
    """A value that a function takes."""

    source: Any  #: the name of what is fed, or the variable of the scope that has it
    is_fed: bool
    shape: tuple[int, ...]
    dtype: Any


class Fetched(NamedTuple):
    """A value that is fetched."""

    place: int
    is_result: bool  #: whether the place is one among the results, or among what is taken
    is_handed_out: bool  #: whether the user gets the array itself, if nobody else has it


class Kept(NamedTuple):
    """A variable of the scope that takes a new value."""

    name: str
    variable: ScopeVariable
    place: int  #: of the value among the results
    is_room: bool  #: whether the next run may write to what the variable had


class Shortcut:
    """Runs a plan that is one specialised function, without the look-ups and checks that do not
    change from run to run.

    It belongs to one scope, as long as names there do not change, and does not keep the function
    alive.

    Args:
        taken: in the order of the function's names.
        fetched: in the order of the user's.
        kept: variables.
        looked_at: names of results that are looked at for values that are not finite.
    """

    def __init__(
        self, taken: list[Taken], fetched: list[Fetched], kept: list[Kept], looked_at: list[str]
    ) -> None:
        self._taken, self._fetched, self._kept = taken, fetched, kept
        self._count = sum(each.is_fed for each in taken)
        self._looked_at = looked_at

    def run(
        self,
        function: CompiledSegment,
        feed: Mapping[str, Any],
        draw: Callable[[Any], Any],
        guard: bool = False,
    ) -> list[Any] | None:
        """Run the function, and keep what is to be kept.

        Args:
            function: the one that this was made for.
            feed: values by name.
            draw: gives the random numbers of an operator, by its key.
            guard: whether to look for values that are not finite.

        Returns:
            the fetched values; None where the run has to be done in full: the feeds or the
            variables have other shapes than the function takes, it failed, or a value that is
            looked at is not finite.
        """
        if len(feed) != self._count:
            return None
        value: Any = None
        given: list[Any] = []
        for source, is_fed, shape, dtype in self._taken:
            value = feed.get(source) if is_fed else source.value
            if type(value) is not np.ndarray or value.shape != shape or value.dtype != dtype:
                return None
            given.append(value)
        try:
            found = _with_infinities(function, given, draw)
        except Exception:  # a run in full says what is wrong
            return None
        if guard:
            with np.errstate(all="ignore"):
                bad = first_bad(self._looked_at, dict(zip(function.results, found)))
            if bad is not None:
                return None
        results, news = [], []
        for place, is_result, is_handed_out in self._fetched:
            value = found[place] if is_result else given[place]
            is_alone = is_handed_out and value.base is None and _references(value) <= _ALONE
            results.append(as_fetched(value if is_alone else np.array(value)))
        for _, _, place, _ in self._kept:
            value = found[place]
            is_alone = value.base is None and _references(value) <= _ALONE
            news.append(value if is_alone else np.array(value))
        del given, value, found  # so that what is replaced is seen to be nobody's
        for (name, variable, _, is_room), new in zip(self._kept, news):
            old = _replaced(variable, new)
            if old is not None and is_room:
                function.spares[name] = old
        return results


def _references(value: Any) -> int:
    """How many references there are to an array."""
    return sys.getrefcount(value)


def _references_to_results() -> int:
    """How many there are to one that only a function's results have."""
    found = (np.empty(0),)
    value = found[0]
    return _references(value)


_ALONE = _references_to_results()


def _computed(
    function: CompiledSegment, given: list[Any], draw: Callable[[Any], Any]
) -> tuple[Any, ...]:
    """What a function computes."""
    return function.compute(given, draw)


def _computed_quietly(
    function: CompiledSegment, given: list[Any], draw: Callable[[Any], Any]
) -> Any:
    """What a function computes, without a word about infinities."""
    with np.errstate(all="ignore"):
        return function.compute(given, draw)


#: as in a run in full infinities are values; from NumPy 2 on several threads may run what has been
#: decorated, which takes half the time
_with_infinities: Callable[..., tuple[Any, ...]] = (
    np.errstate(all="ignore")(_computed)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    else _computed_quietly
)


def _replaced(variable: ScopeVariable, new: Any) -> Any:
    """Give a variable a value.  Returns the array that it had, if nobody else has it and it may be
    written; else None.
    """
    old = variable.value
    variable.value = new
    alone = sys.getrefcount(old) <= _REPLACED and old.base is None and old.flags.writeable
    return old if alone else None


def _references_to_replaced() -> int:
    """How many there are to one that only who replaces it has."""
    variable = ScopeVariable("")
    variable.value = np.empty(0)
    old = variable.value
    variable.value = None
    return sys.getrefcount(old)


_REPLACED = _references_to_replaced()


def run_again(
    plan: Plan,
    feed: Mapping[str, Any],
    scope: Scope,
    draw: Callable[[Any], Any],
    guard: bool = False,
) -> list[Any] | None:
    """Run a plan in the way that it was run before.

    Args:
        plan: it.
        feed: values by name.
        scope: where the variables are.
        draw: gives the random numbers of an operator, by its key.
        guard: whether to look for values that are not finite.

    Returns:
        the fetched values; None where it has to be run in full.
    """
    function = plan.function
    if function is None or (guard and plan.gradients):  # which are to be looked at on the way
        return None
    revision, known = scope.shortcuts.get(function, (-1, None))
    if known is None or revision != scope.revision:
        return None
    found: list[Any] | None = known.run(function, feed, draw, guard)
    return found


def remember(plan: Plan, feed: Mapping[str, Any], fetches: Sequence[str], scope: Scope) -> None:
    """Let a plan that has just been run be run in the same way again, where that is possible.

    Args:
        plan: it.
        feed: what was fed.
        fetches: names.
        scope: where the variables are.
    """
    function = plan.function
    if function is None or not function.is_ready:
        return
    revision = scope.revision
    if scope.shortcuts.get(function, (-1,))[0] != revision:
        scope.shortcuts[function] = revision, _shortcut(plan, function, feed, fetches, scope)


def _shortcut(
    plan: Plan,
    function: CompiledSegment,
    feed: Mapping[str, Any],
    fetches: Sequence[str],
    scope: Scope,
) -> Shortcut | None:
    if set(feed) - set(function.names) or set(plan.commits) - function.fresh:
        return None
    made = {name: place for place, name in enumerate(function.results)}
    taken = {name: place for place, name in enumerate(function.names)}
    if not all(name in made or name in taken for name in fetches):
        return None
    kept = [name for name in function.names if name not in feed]
    found = {name: scope.find_var(name) for name in (*kept, *plan.commits)}
    variables = {n: v for n, v in found.items() if v is not None and type(v.value) is np.ndarray}
    if len(variables) < len(found):
        return None
    had = {function.numbers[made[name]] for name in plan.commits}
    fetched = []
    for name in fetches:
        is_result = name in made
        number = function.numbers[made[name]] if is_result else -1
        is_handed_out = is_result and name in function.fresh and number not in had
        place = made[name] if is_result else taken[name]
        fetched.append(Fetched(place, is_result, is_handed_out))
        had.add(number)
    return Shortcut(
        [
            Taken(name if name in feed else variables[name], name in feed, s.shape, s.dtype.dtype)
            for name, s in zip(function.names, function.specs, strict=True)
        ],
        fetched,
        [Kept(n, variables[n], made[n], function.has_room_for(n)) for n in plan.commits],
        [name for name in dict.fromkeys((*fetches, *plan.commits)) if name in made],
    )
