"""Which loops make a number of passes that follows from constants: those can be unrolled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .step import Step


class Counting:
    """What is known before a program runs, step by step.

    Args:
        known: names that hold constants.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.known: set[str] = set(known)
        #: what loops keep for their gradients that can be unrolled
        self._scopes: set[str] = set()

    def unrolls(self, step: Step) -> bool:
        """Whether all passes of a step that drives a block can be put one after the other; notes
        what it writes.
        """
        op = step.instance
        if op.is_control:
            counters = self._counters(step)
            self.known.difference_update(step.writes)
            self.known.update(counters or ())
            return op.unrolls or counters is not None or self._is_gradient_of_counted(step)
        is_fixed = op.folds and not (op.random or step.updates or step.loss)
        if is_fixed and self.known.issuperset(step.reads):
            self.known.update(step.writes)
        else:
            self.known.difference_update(step.writes)
        return True

    def _counters(self, step: Step) -> set[str] | None:
        """What a loop writes that follows from constants alone; None where it goes on by more."""
        body, op = step.body, step.instance
        if body is None or not op.repeats:
            return None
        written = set(body.exports)
        carried = self.known & written
        while True:
            inner = Counting((self.known - written) | carried)
            inner._scopes = set(self._scopes)
            if not all(inner.unrolls(each) for each in body.steps):
                return None
            if carried <= inner.known:
                break
            carried &= inner.known
        if not carried.issuperset(step.op.inputs[op.condition_slot]):
            return None
        self._scopes |= inner._scopes  # gradients of loops within belong to that of this one
        self._scopes.update(step.op.outputs.get("StepScopes", ()))
        return carried

    def _is_gradient_of_counted(self, step: Step) -> bool:
        scopes = step.op.inputs.get("StepScopes", ())
        if not scopes or step.body is None or not self._scopes.issuperset(scopes):
            return False
        inner = Counting()
        inner._scopes = set(self._scopes)
        return all(inner.unrolls(each) for each in step.body.steps)
