"""The seed of everything that is drawn: programs, eager tensors, the order of samples."""

from __future__ import annotations

import itertools
import os
from typing import Any, Protocol

import numpy as np

from . import state

_WORD = 0xFFFFFFFFFFFFFFFF
#: how many executors there have been: each draws other random numbers
_executors: state.StateSlot[itertools.count[int]] = state.slot("executors made", itertools.count)


class RandomStream(Protocol):
    """Gives a source of random numbers for an operator, called with its own seed."""

    standing: Any  #: where it stands; to be set, too

    def __call__(self, own: int) -> Any: ...


class Seed:
    """What random numbers start from where a program has no seed of its own.

    Args:
        number: the seed.
        is_given: whether it is the user's; else nobody knows it.
    """

    def __init__(self, number: int, is_given: bool = False) -> None:
        self._number = number
        #: the executors that have drawn since a user gave the seed, in their order
        self._drawing: dict[int, int] | None = {} if is_given else None
        #: draws the order of samples; None where Python's and NumPy's own generators do
        self.orders: np.random.Generator | None = None
        #: what every program draws from in turn, called with an operator's own seed; None where
        #: each run of one has numbers of its own
        self.stream: RandomStream | None = None
        if is_given:
            self.orders = np.random.default_rng(number & _WORD)

    def of_executor(self, number: int) -> int:
        """What programs start from that an executor runs.

        Args:
            number: that of the executor.
        """
        known = self._drawing
        return self._number + (number if known is None else known.setdefault(number, len(known)))


#: what programs start from, and orders of samples
seeds: state.StateSlot[Seed] = state.slot(
    "seed", lambda: Seed(int.from_bytes(os.urandom(8), "little"))
)


def next_executor() -> int:
    """The number of a new executor."""
    return next(_executors.get())


def reseed(number: int) -> None:
    """Start everything that is drawn from now on from a seed.

    Args:
        number: the seed.
    """
    seeds.switch(Seed(number, is_given=True))


def shuffled(items: Any) -> list[Any]:
    """Items in another order: drawn by NumPy's generator, but behind ``fluid.seed``.

    Args:
        items: a sequence.
    """
    orders = seeds.get().orders
    places = (np.random if orders is None else orders).permutation(len(items))
    return [items[place] for place in places.tolist()]
