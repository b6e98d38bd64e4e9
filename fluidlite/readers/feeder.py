"""What fills the queue of a program's reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import ArgumentError, EOFException, NotInitializedError
from ..ground.arguments import refused
from ..ground.callsite import CallSite, caller
from ..ir.variable import Variable
from ..opdef.attribute import whole_number
from ..opdef.sources import announce
from ..opdef.spec import Spec
from .buffer import Ahead
from .slots import Batch, Batches, Slots

_PATIENCE = 5.0  # seconds that a reset waits for the thread: a generator may be slow


def capacity_of(what: str, capacity: Any) -> int:
    """How many batches are read ahead.

    Raises:
        ArgumentError: it is not positive.
    """
    try:
        count = whole_number(capacity)
    except (TypeError, ValueError, OverflowError):
        count = 0
    if count < 1:
        raise refused(what, "capacity", "how many batches are read ahead, 1 or more", capacity)
    return count


class ProgramFeeder:
    """Fills the queue that a program's reader reads from.

    Args:
        queue: the queue's name.
        title: the reader's name.
        capacity: how many batches are read ahead at most.
        specs: of the variables that it gives.

    Raises:
        ArgumentError: the capacity is not positive.
    """

    def __init__(self, queue: str, title: str, capacity: Any, specs: Sequence[Spec]) -> None:
        self.title = title
        self._capacity = capacity_of(title, capacity)
        self._specs = list(specs)
        self._source: Callable[[], Iterable[Batch]] | None = None
        self._ahead: Ahead[Batch] | None = None
        self._started_at: CallSite | None = None
        self._ended = False
        #: the next batch, where it was looked at: see :class:`~fluidlite.opdef.sources.BatchSource`
        self.held: Batch | None = None
        announce(queue, self)

    def keep_with(self, reader: Variable) -> None:
        """Live as long as a reader's variable, and so its program, does.

        Args:
            reader: the variable.
        """
        vars(reader)["queue"] = self

    def attach(self, reader: Variable) -> None:
        """Give a reader's variable the functions that old scripts call.

        Args:
            reader: the variable.
        """
        functions = {
            "decorate_paddle_reader": self.set_sample_list_generator,
            "decorate_sample_list_generator": self.set_sample_list_generator,
            "decorate_tensor_provider": self.set_batch_generator,
            "decorate_batch_generator": self.set_batch_generator,
            "start": self.start,
            "reset": self.reset,
            "queue": self,
        }
        for name, function in functions.items():
            setattr(reader, name, function)

    def set_sample_list_generator(self, reader: Any, places: Any = None) -> None:
        """Read lists of samples.

        Args:
            reader: called for each pass; gives the lists.
            places: accepted for old scripts.
        """
        self._take(reader, "sample_list")

    def set_batch_generator(self, reader: Any, places: Any = None) -> None:
        """Read batches: a list of an array for each variable.

        Args:
            reader: called for each pass; gives the batches.
            places: accepted for old scripts.
        """
        self._take(reader, "batch")

    def _take(self, reader: Any, form: str) -> None:
        if not callable(reader):
            raise ArgumentError(
                f"{self.title}: expected a function without arguments that gives a pass over the "
                f"data, got {reader!r:.60} of type {type(reader).__name__}"
            )
        slots = Slots.of_specs(self._specs, self.title)
        self.set_source(Batches(reader, form, slots, str(caller())))

    def set_source(self, source: Callable[[], Iterable[Batch]]) -> None:
        """Read batches.

        Args:
            source: called for each pass.

        Raises:
            ArgumentError: a pass is under way.
        """
        if self._ahead is not None:
            raise ArgumentError(f"{self.title} is being read; call its reset() first")
        self._source = source

    def start(self) -> None:
        """Begin to read.

        Raises:
            ArgumentError: there is nothing to read, or a pass has begun and was not reset.
        """
        if self._source is None:
            raise ArgumentError(
                f"{self.title} has nothing to read: give it a generator before start(), by "
                f"set_sample_generator, set_sample_list_generator or set_batch_generator "
                f"(decorate_... of a PyReader)"
            )
        if self._ahead is not None:
            state = "has come to its end" if self._ended else "is being read"
            raise ArgumentError(
                f"{self.title} {state}: it was started at {self._started_at}; call its reset() "
                f"before the next start()"
            )
        self._started_at = caller()
        self._ahead = Ahead(self._source, self._capacity, self.title)

    def reset(self) -> None:
        """End a pass, be there more to read or not."""
        ahead, self._ahead = self._ahead, None
        self._ended, self.held = False, None
        if ahead is not None:
            ahead.close()
            if ahead.thread is not None:
                ahead.thread.join(_PATIENCE)

    def pull(self, reading: str = "next") -> Batch:
        """The values of a batch: see :class:`~fluidlite.opdef.sources.BatchSource`.

        Raises:
            EOFException: there are no more.
            NotInitializedError: nobody has started it.
            BaseException: what the generator raised.
        """
        if self.held is None:
            self.held = self._taken()
        found = self.held
        if reading != "peek":
            self.held = None
        return found

    def _taken(self) -> Batch:
        if self._ahead is None:
            raise NotInitializedError(
                f"reader {self.title!r} is read before it is started: call its start() before the "
                f"program runs, again behind each reset()"
            )
        if not self._ended:
            try:
                return next(self._ahead)
            except StopIteration:
                self._ended = True
            except BaseException:
                self._ended = True
                raise
        raise EOFException(
            f"reader {self.title!r} has no more batches; for another pass, call its reset() and "
            f"start()"
        )

    def size(self) -> int:
        """How many batches have been read ahead; so fluid 1.8's scripts ask the queue."""
        return 0 if self._ahead is None else self._ahead.size()


__all__ = ["ProgramFeeder", "capacity_of"]
