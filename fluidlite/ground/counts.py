"""Counts of what happens often: Poisson's distribution by rejection."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, floor, lgamma, log, pi, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class ManyCounts:
    """Draws counts of a mean from 12 (Devroye, Non-uniform random variate generation, 1986, chapter
    X.3): a normal part on both sides of the mean, the three places around it, and a tail.

    Args:
        mean: the mean.
    """

    def __init__(self, mean: float) -> None:
        self._middle = floor(mean)
        m = float(self._middle)
        self._log_mean, self._spread = log(mean), sqrt(m)
        self._log_factorial = lgamma(m + 1)
        reach = sqrt(2 * m * log(32 * m / (pi / 4)))
        self._end = d = float(floor(max(6.0, min(m, reach)) + 0.5))
        self._width = w = 2 * m + d
        left = self._spread * sqrt(pi / 2)
        right = left + sqrt(pi / 4 * w) * exp(1 / w)
        #: up to where each part is chosen
        self._parts = (left, right, right + 1, right + 2, right + 2 + exp(1 / 78))
        self._whole = self._parts[-1] + 2 * w * exp(-d / w * (1 + d / 2)) / d

    def draw(self, numbers: np.random.Generator) -> int:
        """A count.

        Args:
            numbers: the source of random numbers.
        """
        normals: list[float] = []  # they come in pairs

        def normal() -> float:
            if not normals:
                normals.extend(numbers.standard_normal(2)[::-1].tolist())
            return abs(normals.pop())

        while True:
            place, chance = self._whole * _fraction(numbers), -log(1 - _fraction(numbers))
            part = sum(place > end for end in self._parts)
            away, weight = self._tried(part, normal, numbers)
            if not -self._middle <= away <= (self._end if part == 1 else away):
                continue
            known = self._log_factorial - lgamma(away + self._middle + 1)
            if weight - chance - away * self._log_mean <= known:
                return away + self._middle

    def _tried(
        self, part: int, normal: Callable[[], float], numbers: np.random.Generator
    ) -> tuple[int, float]:
        """A place by its distance from the mean, and the logarithm of its weight."""
        w, d = self._width, self._end
        if part == 0:
            drawn = normal()
            return floor(-drawn * self._spread - 1), -drawn * drawn / 2
        if part == 1:
            far = 1 + normal() * sqrt(w / 2)
            return ceil(far), far * (2 - far) / w
        if part < 5:
            return part - 3, 1 / 78 if part == 4 else 0.0
        far = d - log(1 - _fraction(numbers)) * 2 * w / d
        return ceil(far), -d / w * (1 + far / 2)


def _fraction(numbers: np.random.Generator) -> float:
    return float(numbers.random(1)[0])
