"""Sunspots: how many there were in every year from 1700 to 2008, a time series with a period of
about eleven years.

    >>> from fluidlite.dataset import sunspots
    >>> years, counts = sunspots.series()
    >>> years[:2].tolist(), counts[:2].tolist()
    ([1700, 1701], [5.0, 11.0])

A sample is some years' numbers and that of the next year, float32, divided by 100.  The years to
1949 are for training, the others for testing.  Where the data is from stands in
``LICENSE-tables.txt`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..errors import ArgumentError
from ..ground.public_names import list_public_names
from .tables import Array, numbers

__all__ = ["arrays", "series", "test", "train"]

_FIRST_TEST = 1950


def series() -> tuple[Array, Array]:
    """The years, int64 [309], and the numbers of sunspots, float32 [309]."""
    rows = numbers("sunspots")
    return rows[:, 0].astype(np.int64), rows[:, 1].astype(np.float32)


def arrays(split: str, window: int = 12) -> tuple[Array, Array]:
    """Windows of years, float32 [n, window], and the years behind them, [n, 1], divided by 100.

    Args:
        split: "train" or "test": in which the year behind the window lies.
        window: years in a window.

    Raises:
        ArgumentError: the split is another, or the window is not in [1, 200].

    >>> from fluidlite.dataset import sunspots
    >>> windows, behind = sunspots.arrays("test")
    >>> windows.shape, behind.shape
    ((59, 12), (59, 1))
    """
    if split not in ["train", "test"]:
        raise ArgumentError(
            f'expected a split, "train" or "test", got {split!r} in sunspots.arrays'
        )
    if not isinstance(window, int) or not 1 <= window <= 200:
        raise ArgumentError(f"expected a window in [1, 200], got {window!r}")
    years, counts = series()
    scaled = counts / np.float32(100)
    windows = np.lib.stride_tricks.sliding_window_view(scaled, window)[:-1]
    chosen = (years[window:] >= _FIRST_TEST) == (split == "test")
    return windows[chosen].copy(), scaled[window:][chosen].reshape(-1, 1)


def train(window: int = 12) -> Callable[[], Iterator[tuple[Array, Array]]]:
    """A reader creator over the windows for training."""
    return lambda: iter(zip(*arrays("train", window)))


def test(window: int = 12) -> Callable[[], Iterator[tuple[Array, Array]]]:  # noqa: PT028
    """A reader creator over the windows for testing."""
    return lambda: iter(zip(*arrays("test", window)))


test.__test__ = False  # type: ignore[attr-defined]  # pytest: not a test, whoever imports it

list_public_names(globals())
