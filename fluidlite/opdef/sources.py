"""What operators read from: ``read`` from what fills the queue of its reader, others from files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol
from weakref import WeakValueDictionary

from ..errors import NotInitializedError
from ..ground import state
from ..ground.extension import ExtensionPoint


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


class TensorFiles(Protocol):
    """Files of tensors, one after the other."""

    def write_inputs(self, op: Any, run: Any) -> None:
        """Write what an operator reads to its file."""

    def read_outputs(self, op: Any, run: Any) -> None:
        """Read what an operator writes from its file."""


TENSOR_FILES: ExtensionPoint[TensorFiles] = ExtensionPoint("files of tensors")
#: makes what fills the queue of a program's reader, of the queue, a title, how many batches it
#: holds, and the specs of their values
FEEDER: ExtensionPoint[Callable[..., Any]] = ExtensionPoint("what fills queues")
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
    source = _sources.get().get(queue)
    if source is None:
        raise NotInitializedError(
            f"expected a reader that fills {queue!r}, there is none in this process: the program "
            f"was read from a file, or its DataLoader is gone; make the loader in this process, "
            f"and keep it"
        )
    return source
