"""Turns: runs that update one scope go one after the other."""

from __future__ import annotations

from threading import RLock
from typing import Any

from . import state


class Turns:
    """Whose turn it is to update a scope, those above it and those below.

    A thread may take a turn that it has already.  A copy, or what is unpickled, is nobody's turn.
    """

    def __init__(self) -> None:
        #: held while values are taken, computed and replaced; nobody who holds it waits for another
        #: thread
        self.updates: RLock = RLock()
        #: held in place of it by a run that calls the user's functions, or reads what they make:
        #: these may wait for runs of other threads
        self.calls: RLock = RLock()
        #: whether runs have met here: until then the shortest ones do without a lock, and look
        #: whether anything has changed when they commit
        self.have_met = False
        state.begin_anew_when_forked(self)

    def begin_anew(self) -> None:
        """Let go of turns of threads that a forked process does not have."""
        for lock in (self.updates, self.calls):
            if not lock._is_owned():  # type: ignore[attr-defined]  # as threading.Condition asks
                lock._at_fork_reinit()  # type: ignore[attr-defined]  # as logging does

    def __reduce__(self) -> Any:
        return Turns, ()
