"""Readers of several trainers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ..errors import ArgumentError
from ..ground.job_environment import launched
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names

#: modules that fluid 1.8 had below this one are found (ground/fluid_paths.py)
__path__: list[str] = []

Reader = Callable[[], Iterable[Any]]


def distributed_batch_reader(batch_reader: Reader) -> Reader:
    """A reader of the batches that belong to this trainer: each takes one in turn.

    How many trainers there are, and which this is, the environment says: MPI, or
    ``PADDLE_TRAINERS_NUM`` and ``PADDLE_TRAINER_ID``; one trainer, where they say nothing.
    ``fluid.distributed.shard_reader`` divides each batch instead, and loses none.

    Args:
        batch_reader: gives the batches; a last round in which not each trainer gets one is left
            out.

    Raises:
        ArgumentError: it is no reader, or there is no trainer of that number.

    >>> list(distributed_batch_reader(lambda: iter([[1, 2], [3, 4]]))())
    [[1, 2], [3, 4]]
    """
    if not callable(batch_reader):
        raise ArgumentError(
            f"distributed_batch_reader: expected a reader, got {batch_reader!r:.60}"
        )
    found = launched()
    count, number = found.size, found.rank
    if not 0 <= number < count:
        raise ArgumentError(
            f"expected PADDLE_TRAINER_ID to be one of {count} trainers, 0 to {count - 1}, as "
            f"PADDLE_TRAINERS_NUM says; got {number}"
        )

    def own() -> Iterator[Any]:
        batches = iter(batch_reader())
        while len(part := list(islice(batches, count))) == count:
            yield part[number]

    return own


__all__ = ["distributed_batch_reader"]

list_public_names(globals())
answer(globals())
