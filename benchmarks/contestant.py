"""What every implementation of a training step offers to ``worker.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from problems import Array


class Contestant(Protocol):
    """A training step of one problem."""

    def load(self, start: Mapping[str, Array]) -> None:
        """Begin anew from parameters laid out as in fluid 1.8, with fresh optimizer states."""

    def step(self, feed: Mapping[str, Array]) -> Any:
        """Train on one batch, and return the loss before it as something ``float`` takes."""

    def parameters(self) -> dict[str, Array]:
        """The parameters, laid out as in fluid 1.8."""
