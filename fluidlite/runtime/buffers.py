"""The memory that compiled segments work in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..opdef.prepared import ALIGNMENT


@dataclass(frozen=True)
class Allocation:
    """Makes memory for one value at a time."""

    nbytes: int

    def __call__(self) -> Any:
        memory = np.empty(self.nbytes + ALIGNMENT, "uint8")
        begin = -memory.ctypes.data % ALIGNMENT
        return memory[begin : begin + self.nbytes]


@dataclass(frozen=True)
class View:
    """An array over the memory that another maker, of number ``root``, makes."""

    root: int
    shape: tuple[int, ...]
    dtype: Any
    order: tuple[int, ...]  #: the dimensions, that of the longest steps first
    offset: int = 0  #: where it begins

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return int(np.prod(self.shape)) * int(self.dtype.itemsize)

    def of(self, memory: Any) -> Any:
        """The array."""
        own = memory[self.offset : self.offset + self.nbytes].view(self.dtype)
        stored = own.reshape([self.shape[i] for i in self.order])
        return stored.transpose(np.argsort(self.order))


def common_to(makers: Iterable[Any]) -> int:
    """The bytes that kernels work in one after the other."""
    return max((getattr(maker, "common", 0) for maker in makers), default=0)


class Footprint(NamedTuple):
    """Bytes that a run takes beside what is there before it: feeds, and values in the scope."""

    buffers: int  #: memory for values, which is kept for the next run
    scratch: int  #: memory that kernels work in, which is kept, too
    arrays: int  #: what kernels make of arrays, at the moment when they are most
    donated: int  #: arrays that were replaced in the scope, kept for what replaces them in turn
    everything: int  #: what values would take if all of them were kept

    @property
    def peak(self) -> int:
        """The most that values take at a moment; results that go to the scope take turns with what
        they replace, and do not count.
        """
        return self.buffers + self.scratch + self.arrays

    def beside(self, other: Footprint) -> Footprint:
        """Of two segments, one of which runs after the other."""
        sums = [mine + its for mine, its in zip(self, other)]
        return Footprint(*sums)._replace(arrays=max(self.arrays, other.arrays))


class Buffers:
    """The buffers of a segment, one set for each run that is under way."""

    def __init__(self, makers: Sequence[Callable[..., Any]]) -> None:
        self._makers = makers
        self._idle: list[tuple[Any, ...]] = []  # a list gives each item to one thread
        self._most_idle = 2

    def take(self) -> tuple[Any, ...]:
        """A set that no other run has."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._new()

    def _new(self) -> tuple[Any, ...]:
        common = common_to(self._makers)
        memory = Allocation(common)() if common else None
        arrays: list[Any] = []
        for maker in self._makers:
            if isinstance(maker, View):
                arrays.append(maker.of(arrays[maker.root]))
            else:
                arrays.append(maker(memory) if getattr(maker, "common", 0) else maker())
        return tuple(arrays)

    def give_back(self, taken: tuple[Any, ...]) -> None:
        """Let another run have a set."""
        if len(self._idle) < self._most_idle:
            self._idle.append(taken)

    def let_go(self) -> None:
        """Keep no set: nothing is run in them any more."""
        self._most_idle = 0
        self._idle.clear()
