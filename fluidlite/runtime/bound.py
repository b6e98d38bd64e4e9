"""Bound calls: the fast path of a program that is one compiled segment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..scope import Scope, ScopeVariable, at_once
from ..values import as_fetched
from .compile import FUNCTIONS_KEPT, CompiledSegment
from .finite import first_bad
from .ownership import held_only_by, owned_items, reusable
from .plan import Plan
from .run_state import RunState


class BoundCall:
    """A compiled segment with its inputs and results bound to variables of a scope.

    It is valid as long as the names in the scope do not change, and leaves out every look-up and
    check whose outcome follows from that.

    Args:
        segment: compiled.
        feed: what of the segment's inputs is fed; the others are variables.
        fetches: names.
        commits: names of results that variables take.
        variables: of the scope, by name.
        state: counts the runs.
    """

    def __init__(
        self,
        segment: CompiledSegment,
        feed: Collection[str],
        fetches: Sequence[str],
        commits: Sequence[str],
        variables: Mapping[str, ScopeVariable],
        state: RunState,
    ) -> None:
        self._segment, self._state = segment, state
        #: whether it takes random numbers
        self.draws = any(instruction.draws for instruction in segment.order)
        #: of each input the name of what is fed or its variable, which of them, and its form
        self._inputs: list[tuple[Any, bool, tuple[int, ...], Any]] = [
            (name if name in feed else variables[name], name in feed, s.shape, s.dtype.dtype)
            for name, s in zip(segment.names, segment.specs, strict=True)
        ]
        self._fed = len(feed)
        made = {name: place for place, name in enumerate(segment.results)}
        places = {name: place for place, name in enumerate(segment.names)} | made
        #: of each fetched value its place, whether that is one among the results or the inputs, and
        #: whether the user gets the array itself, if nobody else holds it
        self._fetches = [(places[n], n in made, n in segment.fresh) for n in fetches]
        #: what is looked at for values that are not finite
        self._watched = [name for name in dict.fromkeys((*fetches, *commits)) if name in made]
        self._made = [made[name] for name in commits]
        self._variables = [variables[name] for name in commits]
        #: what the next run may write to the arrays of
        self._donated = {k: n for k, n in enumerate(commits) if segment.takes_donation(n)}
        self._targets = [*self._variables, state]
        self._attributes = [*("value" for _ in commits), "count"]

    def __call__(
        self, feed: Mapping[str, Any], draw: Callable[[Any], Any] | None, guard: bool
    ) -> list[Any] | None:
        """Run the segment and commit its results.

        Args:
            feed: values by name.
            draw: gives the random numbers of an operator, by its key; None where none is drawn.
            guard: whether to look for values that are not finite.

        Returns:
            the fetched values; None, and nothing is committed, where the run has to be planned:
            feeds or variables have other shapes, the segment failed, or a value is not finite.
        """
        if len(feed) != self._fed:
            return None
        given: list[Any] = []
        for source, is_fed, shape, dtype in self._inputs:
            value = feed.get(source) if is_fed else source.value
            if type(value) is not np.ndarray or value.shape != shape or value.dtype != dtype:
                return None
            given.append(value)
        value = None
        try:
            made = _quietly(self._segment, given, draw)
        except Exception:  # a planned run says what is wrong
            return None
        if guard and not self._all_finite(made):
            return None
        results = []
        for place, is_result, is_fresh in self._fetches:
            if is_fresh and held_only_by(made, place):
                results.append(as_fetched(made[place]))
            else:
                results.append(as_fetched(np.array(made[place] if is_result else given[place])))
        news = owned_items(made, self._made)
        del given, made  # so that what is replaced is seen to be nobody's
        self._commit(news)
        return results

    def _all_finite(self, made: tuple[Any, ...]) -> bool:
        """Whether the results that are watched are finite."""
        with np.errstate(all="ignore"):
            return first_bad(self._watched, dict(zip(self._segment.results, made))) is None

    def _commit(self, news: list[Any]) -> None:
        """Give variables their new values, and the next run the arrays that they replace."""
        state = self._state
        if not news:
            state.count += 1
            return
        olds = [variable.value for variable in self._variables]
        news.append(state.count + 1)
        at_once(setattr, self._targets, self._attributes, news)
        donated = self._segment.donated
        for place in reusable(olds, self._donated):
            donated[self._donated[place]] = olds[place]


def _compute_quietly(segment: CompiledSegment, given: list[Any], draw: Callable[[Any], Any]) -> Any:
    with np.errstate(all="ignore"):
        return segment.compute(given, draw)


#: infinities are values; from NumPy 2 on several threads may run what has been decorated, which
#: takes half the time
_quietly: Callable[..., tuple[Any, ...]] = (
    np.errstate(all="ignore")(CompiledSegment.compute)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    else _compute_quietly
)


def bound_call(plan: Plan, scope: Scope) -> BoundCall | None:
    """The call of a plan that is bound to a scope; None where there is none."""
    calls = plan.bound.of(scope)
    if calls is None:
        return None
    segment = plan.compiled
    revision, call = calls.get(segment, _UNBOUND)
    if segment is not None and segment.improvement is not None and segment.improvement.is_ready():
        return None  # a planned run takes what is there now
    return call if revision == scope.revision else None


_UNBOUND: tuple[int, BoundCall | None] = -1, None


def bind(
    plan: Plan, feed: Mapping[str, Any], fetches: Sequence[str], scope: Scope, state: RunState
) -> None:
    """Bind a plan that has just been run to a scope, where that is possible."""
    segment = plan.compiled
    if segment is None or not segment.is_ready:
        return
    calls = plan.bound.of(scope)
    if calls is None:
        calls = plan.bound.keep(scope, {})
    if calls.get(segment, _UNBOUND)[0] != scope.revision:
        while len(calls) >= FUNCTIONS_KEPT:
            calls.pop(next(iter(calls)))
        calls[segment] = scope.revision, _bound(plan, segment, feed, fetches, scope, state)


def _bound(
    plan: Plan,
    segment: CompiledSegment,
    feed: Mapping[str, Any],
    fetches: Sequence[str],
    scope: Scope,
    state: RunState,
) -> BoundCall | None:
    if set(feed) - set(segment.names) or set(plan.commits) - segment.fresh:
        return None
    if not {*segment.names, *segment.results} >= set(fetches):
        return None
    needed = [*(name for name in segment.names if name not in feed), *plan.commits]
    variables = {n: v for n in needed if (v := scope.find_var(n)) and type(v.value) is np.ndarray}
    if len(variables) < len(set(needed)):
        return None
    return BoundCall(segment, feed, fetches, plan.commits, variables, state)
