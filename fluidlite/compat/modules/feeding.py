"""The feeder of programs of 1.8: all that it makes are LoDTensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ... import data_feeder
from ...ground.values import LoDTensor


class DataFeeder(data_feeder.DataFeeder):
    """Turns rows into the dictionary that ``Executor.run`` is fed."""

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, Any]:
        """The LoDTensors of a mini-batch by the variables' names, as programs ask them for their
        shapes and sequences.

        Args:
            iterable: rows; each has one field per variable.
        """
        return {
            name: value if isinstance(value, LoDTensor) else LoDTensor(value)
            for name, value in super().feed(iterable).items()
        }
