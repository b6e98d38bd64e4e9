"""What a process that makes batches knows of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..ground import state


@dataclass(frozen=True)
class WorkerInfo:
    """Which of the processes of a loader this is."""

    id: int  #: its number
    num_workers: int  #: how many there are
    dataset: Any  #: its copy of the data set
    seed: int  #: what its random numbers begin with


_own: state.StateSlot[WorkerInfo | None] = state.slot("worker of a loader", lambda: None)


def get_worker_info() -> WorkerInfo | None:
    """Which process of a :class:`DataLoader` calls this; None in one that makes no batches.

    >>> fluid.flow.utils.data.get_worker_info() is None
    True
    """
    return _own.get()


class Introduced(NamedTuple):
    """Tells a process which it is, and calls the user's function; goes there with the data set."""

    dataset: Any
    num_workers: int
    function: Callable[[int], Any] | None

    def __call__(self, number: int) -> None:
        """Called in the process with its number."""
        drawn: Any = np.random.get_state()
        seed = int(drawn[1][0])  # which the process was begun with
        _own.switch(WorkerInfo(number, self.num_workers, self.dataset, seed))
        if self.function is not None:
            self.function(number)


def introduced(
    dataset: Any, num_workers: int, function: Callable[[int], Any] | None
) -> Callable[[int], Any] | None:
    """What each process calls first: where there are processes, it tells them which they are.

    Args:
        dataset: the data set.
        num_workers: how many processes there are.
        function: the user's, or None.
    """
    if not num_workers:
        return function
    begin: Any = Introduced(dataset, num_workers, function)
    return begin


__all__ = ["WorkerInfo", "get_worker_info"]
