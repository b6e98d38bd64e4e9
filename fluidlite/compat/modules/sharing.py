"""``fluid.contrib.reader``: one process's share of the batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any


def distributed_batch_reader(batch_reader: Callable[[], Any]) -> Callable[[], Iterator[Any]]:
    """A reader of the batches that are this process's, as the environment says.

    ``PADDLE_TRAINERS_NUM`` is the number of processes, 1 when it is not set; ``PADDLE_TRAINER_ID``
    is the number of this one.  What is left over at the end nobody gets.

    Args:
        batch_reader: gives all batches.
    """
    count = int(os.environ.get("PADDLE_TRAINERS_NUM", 1))
    own = int(os.environ.get("PADDLE_TRAINER_ID", 0)) if count > 1 else 0

    def read() -> Iterator[Any]:
        held = None
        for number, batch in enumerate(batch_reader()):
            place = number % count
            if place == own:
                held = batch
            if place == count - 1:
                yield held

    return read
