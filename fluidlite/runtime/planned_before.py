"""Which segments earlier processes have planned: their first run is then planned, too.

That a segment runs twice is a guess everywhere else, so its first run is interpreted.  Where it did
in a process before this one, with the same shapes, notes beside the generated kernels say so.  They
decide nothing but which run is the first one that is compiled.  A process ignores its own notes: a
training that it begins anew has to round as the first one did.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from ..backend import kept_notes
from ..ground.process_group import groups
from .step import Step

#: steps, those of blocks among them, from which on this is worth a look at the disk
FEWEST = 16
BEGUN = time.time_ns()  #: when this process began


def was_planned(steps: Iterable[Step], shapes: Any) -> bool:
    """Whether a process before this one has planned steps for values of some shapes.

    Args:
        steps: in order.
        shapes: what tells them apart from those of other runs.
    """
    notes, key = _place(steps, shapes)
    text = "" if notes is None else notes.noted(key)
    return text.isdigit() and int(text[:20]) < BEGUN


def note_planned(steps: Iterable[Step], shapes: Any) -> None:
    """Keep for later processes that steps were planned.

    Args:
        steps, shapes: as of :func:`was_planned`.
    """
    notes, key = _place(steps, shapes)
    if notes is not None and not notes.noted(key):
        notes.note(key, f"{time.time_ns()}")


def _place(steps: Iterable[Step], shapes: Any) -> tuple[Any, str]:
    """What keeps notes, if anything does, and the key of the note about steps."""
    mentioned = list(_with_blocks(steps))
    if len(mentioned) < FEWEST or groups.get().size > 1:  # processes go the same way together
        return None, ""
    notes = kept_notes()
    if notes is None:
        return None, ""
    digest = blake2b(repr(shapes).encode(), digest_size=16)
    for step in mentioned:
        about = step.op.type, step.op.inputs, step.op.outputs
        digest.update(repr(about).encode("utf-8", "surrogatepass"))
    return notes, digest.hexdigest()


def _with_blocks(steps: Iterable[Step]) -> Iterable[Step]:
    for step in steps:
        yield step
        if step.body is not None:
            yield from _with_blocks(step.body.steps)
