"""What a gradient is compared with: the slopes at elements of an array, or at some of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .differences import Function, Limits, Probe, Slope
from .float64 import dense
from .report import Checked


class Comparing:
    """Compares gradients with differences.

    Args:
        limits: what is allowed.
        elements: how many elements of an array are checked one by one.
        rng: draws elements and directions.
    """

    def __init__(self, limits: Limits, elements: int, rng: np.random.Generator) -> None:
        self._limits = limits
        self._elements = elements
        self._rng = rng

    def compare(self, name: str, array: Any, gradient: Any, total: Function, order: int) -> Checked:
        """What is found about the gradient by one array.

        Args:
            name: of the array.
            array: where.
            gradient: what is checked; None where nothing flows.
            total: the function that was differentiated.
            order: how many times it was.
        """
        slope, problem = dense(gradient), ""
        if slope is not None and slope.shape != array.shape:
            problem = f"the gradient has shape {list(slope.shape)}, expected {list(array.shape)}"
            slope = None
        probe = Probe(total, array, slope, self._limits)
        slopes = self._slopes(probe, probe.size)
        if not slopes:
            return Checked(name, array.shape, order, not problem, 0, 0.0, None, 0.0, 0.0, problem)
        worst = max(slopes, key=lambda s: (not s.ok, s.error))
        if not worst.ok and gradient is None:
            problem = "it has no gradient, although the target depends on it"
        elif worst.kink and not problem:
            problem = "the slope jumps there: move the input away"
        return Checked(
            name,
            array.shape,
            order,
            worst.ok and not problem,
            len(slopes),
            worst.error,
            worst.index,
            worst.found,
            worst.expected,
            problem,
        )

    def _slopes(self, probe: Probe, size: int) -> list[Slope]:
        """The derivatives at elements, and at a wrong one where a direction through all of them
        finds that there is one.
        """
        if size <= self._elements:
            return [probe.at(k) for k in range(size)]
        chosen = np.sort(self._rng.choice(size, self._elements, replace=False))
        slopes = [probe.at(int(k)) for k in chosen]
        if all(slope.ok for slope in slopes) and not probe.agrees(self._rng):
            slopes.append(probe.worst(self._rng))
        return slopes
