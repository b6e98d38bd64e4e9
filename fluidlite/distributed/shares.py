"""Readers of one process made into readers of one share of each batch."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ground.arguments import refused
from ..ground.callsite import warn
from ..ground.process_group import joined
from ..ground.public_names import list_public_names
from ..ground.reprs import Described
from ..ground.tracebacks import api_boundaries

Reader = Callable[[], Iterable[Any]]


def shard_reader(
    reader: Reader, *, weights: bool = False, seed: int | None = None
) -> ShardedReader:
    """A reader of this process's share of each batch: every sample is read once in an epoch, by one
    of the processes, and the shares of a batch are the batch that one process would read.

    A batch is a list of samples, as ``fluid.io.batch`` makes it, an array, or a tuple or dictionary
    of arrays, which are cut along the first dimension.  Where its samples do not come out even, the
    first processes have one more.  The mean of the shares' means is not the mean of the batch then;
    it is with ``weights``: multiply the loss by them.

    What ``random`` and ``numpy.random`` give while a batch is read depends on the seed and the
    number of the epoch alone, so that ``fluid.io.shuffle`` gives all processes the same order, and
    the same one when a training goes on.

    Args:
        reader: gives batches, the same in all processes.
        weights: whether to give pairs of a share and its weight, a float32 array of one element:
            the number of samples of the share over that of an even one.  A process whose share is
            empty then gets the first sample of the batch, with weight 0; without weights a batch of
            fewer samples than processes is left out, with a warning.
        seed: what shuffling depends on; another one for each call when None.

    Returns:
        the reader; its ``state`` and ``restore`` are what a checkpoint needs.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> samples = fluid.io.batch(lambda: iter(range(5)), batch_size=2)
    >>> for share, weight in fluid.distributed.shard_reader(samples, weights=True)():
    ...     print(share, weight)
    [0, 1] [1.]
    [2, 3] [1.]
    [4] [1.]
    """
    return ShardedReader(reader, weights, seed)


class ShardedReader(Described):
    """A reader of this process's share of each batch; :func:`shard_reader` makes it.

    Args:
        reader: gives batches.
        weights: whether to give pairs of a share and its weight.
        seed: what shuffling depends on; another one for each reader when None.
    """

    def __init__(self, reader: Reader, weights: bool = False, seed: int | None = None) -> None:
        if not callable(reader):
            raise ArgumentError(
                f"shard_reader: expected a function that gives batches, got {reader!r:.60}"
            )
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
            raise ArgumentError(f"expected seed to be None or a number from 0 on, got {seed!r:.60}")
        self._reader = reader
        self._weights = weights
        drawn = secrets.randbits(62) if seed is None else seed
        # All processes make the reader at the same place, but call it in threads of their loaders.
        self._seed = int(joined().broadcast(np.array([drawn]), 0, 0)[0])
        self._epoch = 0
        self._done = 0

    def __call__(self) -> Iterator[Any]:
        """The shares of an epoch; behind :meth:`restore` those that are left of it."""
        group = joined()
        rank, size = group.rank, group.size
        epoch, begin = self._epoch, self._done
        for number, batch in enumerate(_batches(self._reader, (self._seed, epoch))):
            if number < begin:
                continue
            # What is counted is what the caller has had: it may keep the state at any time.
            self._epoch, self._done = epoch, number + 1
            count = _length(batch)
            least, more = divmod(count, size)
            first = rank * least + min(rank, more)
            last = first + least + (rank < more)
            if self._weights:
                weight = np.array([(last - first) * size / count if count else 0.0], "float32")
                yield (_part(batch, first, last) if last > first else _part(batch, 0, 1)), weight
            elif count >= size:
                yield _part(batch, first, last)
            else:
                warn(
                    f"shard_reader: a batch of {count} samples for {size} processes is left out; "
                    "with weights=True it is not",
                    None,
                )
        self._epoch, self._done = epoch + 1, 0

    def state(self, batches: int | None = None) -> dict[str, int]:
        """Where the reader is, for :meth:`restore`, of this reader or of one in a training with
        another number of processes.

        Args:
            batches: how many batches of the epoch are done; those that were given when None.  A
                loader that reads ahead was given more than are done.
        """
        done = self._done if batches is None else batches
        return {"seed": self._seed, "epoch": self._epoch, "batches": done}

    def restore(self, state: Mapping[str, int]) -> None:
        """Let the next epoch be what is left of that of a state.

        Args:
            state: what :meth:`state` gave.

        Raises:
            ArgumentError: it is something else.
        """
        try:
            seed, epoch, done = (int(state[key]) for key in ("seed", "epoch", "batches"))
        except (KeyError, TypeError, ValueError):
            raise ArgumentError(
                f"expected the state of a sharded reader, with seed, epoch and batches, got "
                f"{state!r:.60}"
            ) from None
        self._seed, self._epoch, self._done = seed, epoch, done


def _batches(reader: Reader, key: tuple[int, int]) -> Iterator[Any]:
    """The batches of an epoch, read with random numbers of their own."""
    streams = _Streams(key)
    with streams.drawn_from():
        batches = iter(reader())
    while True:
        with streams.drawn_from():
            try:
                batch = next(batches)
            except StopIteration:
                return
        yield batch


class _Streams:
    """Random numbers that do not depend on what others draw."""

    def __init__(self, key: tuple[int, int]) -> None:
        words = np.random.SeedSequence(key).generate_state(4)
        # Python's and NumPy's old generators are what readers shuffle with.
        self._state = (
            random.Random(int(words[0]) << 32 | int(words[1])).getstate(),
            np.random.RandomState(words[2:]).get_state(),
        )

    @contextmanager
    def drawn_from(self) -> Iterator[None]:
        """Let ``random`` and ``numpy.random`` draw from these."""
        before = random.getstate(), np.random.get_state()
        random.setstate(self._state[0])
        np.random.set_state(self._state[1])
        try:
            yield
        finally:
            self._state = random.getstate(), np.random.get_state()
            random.setstate(before[0])
            np.random.set_state(before[1])


def _length(batch: Any) -> int:
    """How many samples a batch has.

    Raises:
        ArgumentError: its parts have different lengths, or it has none.
    """
    parts = list(batch.values()) if isinstance(batch, dict) else batch
    try:
        lengths = {len(p) for p in parts} if isinstance(batch, (dict, tuple)) else {len(batch)}
    except TypeError:
        lengths = set()
    if len(lengths) != 1:
        wanted = "a list of samples, an array, or a tuple or dictionary of arrays with one length"
        raise refused("shard_reader", "a batch", wanted, batch)
    return int(lengths.pop())


def _part(batch: Any, first: int, last: int) -> Any:
    """Some samples of a batch."""
    if isinstance(batch, dict):
        return {name: part[first:last] for name, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple(part[first:last] for part in batch)
    return batch[first:last]


list_public_names(globals())
api_boundaries(globals())
