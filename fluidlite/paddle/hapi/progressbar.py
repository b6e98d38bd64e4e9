"""The progress of a loop: a bar that is written anew, or lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ground.public_names import list_public_names
from ...ground.reprs import Described

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["ProgressBar"]


class ProgressBar(Described):
    """Writes how far a loop is.

    Args:
        num: how many steps there are; None where that is not known.
        width: letters of the bar.
        verbose: 1: a bar; 2: lines; 0: nothing.
        start: accepted; the clock starts at once.
        file: where to; standard output when None.
        name: what a step is called.

    >>> bar = ProgressBar(4, verbose=2)
    >>> bar.update(2, [("loss", 0.25)])  # doctest: +ELLIPSIS
    step 2/4 - loss: 0.2500 - ...s/step
    """

    def __init__(
        self,
        num: int | None = None,
        width: int = 30,
        verbose: int = 1,
        start: bool = True,
        file: TextIO | None = None,
        name: str = "step",
    ) -> None:
        self._num, self._width, self._verbose = num, width, verbose
        self.file, self.name = file, name
        self._written = 0  # letters of the line that stands there
        self._start = time.time()

    def start(self) -> None:
        """Start the clock."""
        self._start = time.time()

    def update(self, current_num: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """Write a step.

        Args:
            current_num: its number, beginning with 1.
            values: names and numbers to be written.
        """
        if self._verbose not in (1, 2, 3):
            return
        seconds = (time.time() - self._start) / current_num if current_num else 0.0
        line = self._place(current_num)
        for key, value in values or ():
            line += f" - {key}: {_shown(value)}"
        remaining = self._num is not None and current_num < self._num
        if self._verbose == 1 and self._num is not None and remaining:
            line += f" - ETA: {_duration(seconds * (self._num - current_num))}"
        line += f" - {_time_of_step(seconds)}"
        file = sys.stdout if self.file is None else self.file
        if self._verbose != 1:
            file.write(f"{line}\n")
        else:
            back, self._written = self._written, len(line)
            ends = "" if remaining else "\n"
            file.write("\b" * back + "\r" + line.ljust(back) + ends)
        file.flush()

    def _place(self, number: int) -> str:
        """Which step it is, with the bar if there is one."""
        if self._num is None:
            return f"{self.name} {number:3d}"
        digits = len(str(self._num))
        told = f"{self.name} {number:{digits}d}/{self._num}"
        if self._verbose != 1:
            return told
        full = int(self._width * min(number / self._num, 1.0)) if self._num else 0
        tip = ">" if number < self._num else "="
        bar = "=" * (full - 1) + tip if full else ""
        return f"{told} [{bar.ljust(self._width, '.')}]"


def _shown(value: Any) -> str:
    """A number, or several."""
    return " ".join(_one(each) for each in value) if isinstance(value, list) else _one(value)


def _one(value: Any) -> str:
    single = value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
    if not isinstance(single, (float, np.floating)):
        return str(single)
    number = float(single)
    return f"{number:.4e}" if abs(number) <= 1e-3 else f"{number:.4f}"


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole > 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if whole > 60 else f"{whole}s"


def _time_of_step(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.0f}s/step"
    return f"{seconds * 1e3:.0f}ms/step" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us/step"


list_public_names(globals())
