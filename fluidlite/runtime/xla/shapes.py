"""Noticing that each run is fed other shapes, for each of which a program is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...ground.callsite import warn
from ...ground.values import LoDTensor

#: runs in a row, each with shapes that have not been there before, after which it is said
RUNS = 5


class ShapeWatch:
    """What one program has been fed."""

    def __init__(self) -> None:
        self._seen: set[Any] = set()
        self._row: list[dict[str, tuple[int, ...]]] = []
        self._last = 0
        self._said = False

    def note(self, feed: Mapping[str, Any], run: int) -> None:
        """Look at what a run is fed that does not fit what was compiled before; warn once where
        that has been so for some runs in a row.

        Args:
            feed: values by name.
            run: its number.
        """
        if run > self._last + 1:  # the runs between were compiled before
            self._row.clear()
        self._last = run
        shapes = {  # what works on sequences is not compiled
            name: tuple(value.shape)
            for name, value in feed.items()
            if not isinstance(value, LoDTensor)
        }
        key = tuple(sorted(shapes.items()))
        if self._said or key in self._seen:
            self._row.clear()
            return
        self._seen.add(key)
        self._row.append(shapes)
        if len(self._row) < RUNS:
            return
        self._said = True
        changing = [
            f"{name!r} ({', '.join(str(list(each.get(name, ()))) for each in self._row[-3:])}, ...)"
            for name in shapes
            if len({each.get(name) for each in self._row}) > 1
        ]
        warn(
            f"each of {RUNS} runs was fed other shapes, and was compiled anew: pad or bucket "
            f"{' and '.join(changing)} to a few shapes, or run on NumPy",
            None,
        )
