"""What became of loss and metrics, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator, KeysView
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FitHistory:
    """Numbers by name, one for each epoch: ``loss``, metrics, ``lr``; those of tests begin with
    ``eval_``.

    >>> history = FitHistory()
    >>> history.add(0, {"loss": 0.5})
    >>> history["loss"], history
    ([0.5], <FitHistory: 1 epochs of loss>)
    >>> dict(history)
    {'loss': [0.5]}
    """

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def add(self, epoch: int, logs: dict[str, Any]) -> None:
        """Note the numbers of an epoch; None stands for those that it has not."""
        self.epochs.append(epoch)
        for name in {**self.history, **logs}:
            kept = self.history.setdefault(name, [None] * (len(self.epochs) - 1))
            kept.append(logs.get(name))

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self.history:
            raise ArgumentError(f"there is no {name!r}; there are {', '.join(self.history)}")
        return self.history[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.history)

    def __contains__(self, name: object) -> bool:
        return name in self.history

    def keys(self) -> KeysView[str]:
        """The names."""
        return self.history.keys()

    def plot(self, *names: str, axes: Axes | None = None) -> Axes:
        """Draw numbers over epochs, with matplotlib.

        Args:
            names: which; all but the learning rate when there are none.
            axes: where; new ones when None.

        Returns:
            the axes.
        """
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.figure().add_subplot()
        for name in names or [name for name in self.history if name != "lr"]:
            axes.plot(self.epochs, self[name], marker=".", label=name)
        axes.set_xlabel("epoch")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"<FitHistory: {len(self.epochs)} epochs of {', '.join(self.history) or 'nothing'}>"
