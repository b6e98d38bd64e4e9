"""What ``read`` operators read from: a program names it by the queue of its reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol
from weakref import WeakValueDictionary

from .. import state
from ..errors import NotInitializedError


class BatchSource(Protocol):
    """Gives a program batches."""

    #: the next batch, where it was looked at; None is put there when it has been used
    held: Any

    def pull(self, reading: str) -> Sequence[Any]:
        """The values of a batch, one for each variable.

        Args:
            reading: "next" for the next batch, "peek" for the same, which stays the next one.

        Raises:
            EOFException: there are no more.
        """


_sources: state.StateSlot[WeakValueDictionary[str, BatchSource]] = state.slot(
    "sources", WeakValueDictionary
)


def is_taken(queue: str) -> bool:
    """Whether something gives batches under the name of a queue."""
    return queue in _sources.get()


def announce(queue: str, source: BatchSource) -> None:
    """Let programs read from a source, as long as somebody else keeps it.

    Args:
        queue: the name that programs have for it.
        source: gives the batches.
    """
    _sources.get()[queue] = source


def source_of(queue: str) -> BatchSource:
    """What gives batches under the name of a queue.

    Raises:
        NotInitializedError: nothing does.
    """
    found = _sources.get().get(queue)
    if found is None:
        raise NotInitializedError(
            f"expected a reader that fills {queue!r}, there is none in this process: the program "
            f"was read from a file, or its DataLoader is gone; make the loader in this process, "
            f"and keep it"
        )
    return found
