"""Which segments earlier processes have planned: their first run is then planned, too.

That a segment runs twice is a guess everywhere else, so its first run is interpreted.  Where it did
in a process before this one, with the same shapes, notes beside the generated kernels say so, and
how many threads were best.  They decide nothing else.  A process ignores its own notes: a training
that it begins anew has to round as the first one did.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from ..backend import kept_notes
from ..ground.process_group import groups
from ..kernels import threads
from .step import Step

#: steps, those of blocks among them, from which on this is worth a look at the disk
FEWEST = 16
BEGUN = time.time_ns()  #: when this process began


class PlanNote:
    """What is kept of a plan: when it was made, and how many threads were best.

    Args:
        steps: in order.
        shapes: what tells them apart from those of other runs.
    """

    def __init__(self, steps: Iterable[Step], shapes: Any) -> None:
        self._steps, self._shapes = list(_with_blocks(steps)), shapes
        self._key = ""
        notes = self._notes()
        numbers = [] if notes is None else _numbers(notes.noted(self._key))
        self._planned, tuned, most, *counts = numbers + [0] * max(0, 3 - len(numbers))
        #: how many threads were best, by the place of what has them; 0 where that is not known
        self.thread_counts: list[int] = []
        if 0 < tuned < BEGUN and most == threads.count():
            self.thread_counts = counts

    @property
    def was_planned(self) -> bool:
        """Whether a process before this one has planned the steps."""
        return 0 < self._planned < BEGUN

    def note_planned(self) -> None:
        """Keep for later processes that the steps were planned."""
        if not self._planned:
            self._planned = time.time_ns()
            self._keep()

    def note_threads(self, place: int, count: int) -> None:
        """Keep for later plans how many threads are best for what has a place."""
        self.thread_counts += [0] * (place + 1 - len(self.thread_counts))
        self.thread_counts[place] = count
        self._keep(time.time_ns(), threads.count(), *self.thread_counts)

    def _keep(self, *tuned: int) -> None:
        notes = self._notes()
        if notes is not None:
            notes.note(self._key, " ".join(map(str, (self._planned, *tuned))))

    def _notes(self) -> Any:
        """What keeps notes, if anything does by now; the key is then known."""
        if len(self._steps) < FEWEST or groups.get().size > 1:  # processes go the same way together
            return None
        notes = kept_notes()
        if notes is not None and not self._key:
            self._key = _digest_of(self._steps, self._shapes)
        return notes


def _digest_of(steps: Iterable[Step], shapes: Any) -> str:
    """What tells steps and shapes from others, in all processes."""
    digest = blake2b(repr(shapes).encode(), digest_size=16)
    for step in steps:
        parts = [step.op.type]
        for slots in (step.op.inputs, step.op.outputs):
            for slot, names in slots.items():
                parts += (slot, str(len(names)), *names)
            parts.append("")
        digest.update("\0".join(parts).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _numbers(text: str) -> list[int]:
    """The numbers of a note; none where it is another text."""
    words = text.split(" ")
    if not all(word.isdecimal() and word.isascii() and len(word) < 20 for word in words):
        return []
    return [int(word) for word in words]


def _with_blocks(steps: Iterable[Step]) -> Iterable[Step]:
    for step in steps:
        yield step
        if step.body is not None:
            yield from _with_blocks(step.body.steps)
