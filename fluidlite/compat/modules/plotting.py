"""``paddle.utils.plot``: curves of costs while a program trains."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any


class PlotData:
    """The points of a curve."""

    def __init__(self) -> None:
        self.step: list[Any] = []
        self.value: list[Any] = []

    def append(self, step: Any, value: Any) -> None:
        """Add a point."""
        self.step.append(step)
        self.value.append(value)

    def reset(self) -> None:
        """Forget all points."""
        self.step, self.value = [], []


class Ploter:
    """Curves in one picture.  Nothing is drawn where ``DISABLE_PLOT`` is "True" in the environment.

    Args:
        args: the titles of the curves.

    >>> costs = fluid.compat.modules.plotting.Ploter("train", "test")
    >>> costs.append("train", 0, 2.5)
    """

    def __init__(self, *args: str) -> None:
        self.titles = args
        self.curves: dict[str, PlotData] = {title: PlotData() for title in args}
        self.disabled: bool = os.environ.get("DISABLE_PLOT") == "True"

    def append(self, title: str, step: Any, value: Any) -> None:
        """Add a point to a curve.

        Args:
            title: of the curve.
            step, value: the point.

        Raises:
            ValueError: there is no curve of this title.
        """
        if title not in self.curves:
            raise ValueError(f"expected a title, one of {', '.join(self.titles)}, got {title!r}")
        self.curves[title].append(step, value)

    def plot(self, path: str | None = None) -> None:
        """Draw the curves.

        Args:
            path: the picture's file; they are shown when None.
        """
        if self.disabled:
            return
        plt = import_module("matplotlib.pyplot")
        titles = [title for title in self.titles if self.curves[title].step]
        for title in titles:
            plt.plot(self.curves[title].step, self.curves[title].value)
        plt.legend(titles, loc="upper left")
        if path is None:
            plt.show()
        else:
            plt.savefig(path)
        plt.gcf().clear()

    def reset(self) -> None:
        """Forget all points."""
        for curve in self.curves.values():
            curve.reset()


def dump_config(*args: Any) -> None:
    """Nothing: configurations of that kind were paddle's before fluid."""
