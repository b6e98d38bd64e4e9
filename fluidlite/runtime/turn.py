"""The turn of a run at the scope that it updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from ..errors import ConcurrentUpdateError
from ..ground.turns import Turns
from ..scope import Scope

T = TypeVar("T")

#: gives variables of a scope new values: as :meth:`Scope.commit`
Commit = Callable[..., Any]


class _Overtaken(Exception):
    """Another run has updated what this one started from."""


def in_turn(
    scope: Scope,
    reads: Iterable[str],
    updates: Iterable[str],
    calls_out: bool,
    run: Callable[[Commit], T],
) -> T:
    """Run what may update a scope when it is its turn; again where another run was faster that did
    not wait for its own.

    While a run calls functions of the user's, others may update the scope: the functions may wait
    for them, in other threads, or run them.  Then what it computes itself is not put over theirs.

    Args:
        scope: where values are taken from and committed.
        reads: names of variables whose values are taken.
        updates: names of those that may be committed.
        calls_out: whether it calls functions of the user's, or waits for what they make.
        run: is given what commits its values.

    Raises:
        ConcurrentUpdateError: it calls functions, and another run has updated a variable.
    """
    turns = scope.turns
    names = list(updates if calls_out else {*reads, *updates})
    while True:
        with turns.calls if calls_out else turns.updates:
            before = {name: scope.value(name) for name in names}
            try:
                return run(partial(_commit, scope, before))
            except _Overtaken:
                if calls_out:
                    raise _error(scope, before) from None
        turns.have_met = True


def _commit(
    scope: Scope,
    before: dict[str, Any],
    values: Mapping[str, Any],
    *more: partial[None],
    first: Iterable[Any] = (),
) -> list[Any]:
    with scope.turns.updates:
        olds = scope.commit(values, *more, before=before, first=first)
    if olds is None:
        raise _Overtaken
    for name in values:  # so that what is replaced is seen to be nobody's, and donated
        before.pop(name, None)
    return olds


def _error(scope: Scope, before: Mapping[str, Any]) -> ConcurrentUpdateError:
    changed = [name for name, value in before.items() if scope.value(name) is not value]
    names = ", ".join(map(repr, changed[:5])) + ", ..." * (len(changed) > 5)
    return ConcurrentUpdateError(
        f"expected nothing else to update {names or 'its variables'} while this run called a "
        f"function of yours or waited for a batch, another run or a script has; nothing of this "
        f"run is kept, since it started from the values before; let one program alone update them, "
        f"or run the two one after the other"
    )


def retried(turns: Turns, call: Callable[..., Any]) -> Callable[..., Any]:
    """A bound call, repeated in its turn, since it has met another run.

    Args:
        turns: of the scope.
        call: as of :class:`~fluidlite.runtime.bound.BoundCall`; its last argument is whether it
            is its turn.
    """

    def again(feed: Any, draw: Any, sources: Any, is_turn: bool) -> Any:
        if is_turn:
            return None  # a planned run begins anew
        turns.have_met = True
        with turns.updates:
            return call(feed, draw, sources, True)

    return again
