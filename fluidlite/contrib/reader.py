"""Readers of several trainers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ..errors import ArgumentError
from ..namespace import listing

Reader = Callable[[], Iterable[Any]]


def distributed_batch_reader(batch_reader: Reader) -> Reader:
    """A reader of the batches that belong to this trainer: each takes one in turn.

    How many trainers there are, and which this is, ``PADDLE_TRAINERS_NUM`` and
    ``PADDLE_TRAINER_ID`` in the environment say: one trainer, where they say nothing.

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
    count = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
    number = int(os.environ.get("PADDLE_TRAINER_ID", "0"))
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

__dir__ = listing(globals())
