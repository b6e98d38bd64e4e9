"""Numbers of gamma distributions, as Paddle 2 draws them on a CPU: one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_BLOCK = 256


class Gammas:
    """Draws numbers by rejection (Marsaglia and Tsang, A simple method for generating gamma
    variables, ACM TOMS 26(3), 2000).

    Args:
        look: gives the next random words of a stream, so many, which are given again.
        skip: goes past so many of them.
        fractions: makes numbers in [0, 1) of words.
        kind: the type of the numbers: float32 or float64.
    """

    def __init__(
        self,
        look: Callable[[int], Any],
        skip: Callable[[int], None],
        fractions: Callable[[Any, Any], Any],
        kind: Any,
    ) -> None:
        self._look, self._skip, self._fractions, self._kind = look, skip, fractions, kind
        self._block: list[Any] = []
        self._used = 0

    def draw(self, exponents: Any) -> Any:
        """A number for each exponent.

        Args:
            exponents: an array, above 0.
        """
        drawn = [self._one(exponent) for exponent in exponents.ravel()]
        self._skip(self._used)
        self._block, self._used = [], 0
        return np.array(drawn, self._kind).reshape(exponents.shape)

    def _one(self, exponent: Any) -> Any:
        kind = self._kind
        if not exponent > 0:
            return exponent * 0  # NaN stays
        one, scale = kind(1), kind(1)
        if exponent < 1:
            scale = (one - self._fraction()) ** (one / exponent)
            exponent = exponent + one
        d = exponent - kind(np.float32(1) / np.float32(3))  # the constants are of float32
        c = one / np.sqrt(kind(9) * d)
        while True:
            x = self._normal()
            root = one + c * x
            if root <= 0:
                continue
            cube, square = root * root * root, x * x
            chance = one - self._fraction()
            if chance < one - kind(np.float32(0.0331)) * square * square:
                return scale * d * cube
            if np.log(chance) < kind(0.5) * square + d * (one - cube + np.log(cube)):
                return scale * d * cube

    def _normal(self) -> Any:
        """The first of a pair of normally distributed numbers, by the polar method."""
        one, two = self._kind(1), self._kind(2)
        while True:
            x, y = two * self._fraction() - one, two * self._fraction() - one
            length = x * x + y * y
            if 0 < length <= 1:
                return y * np.sqrt(-two * np.log(length) / length)

    def _fraction(self) -> Any:
        if self._used == len(self._block):
            self._skip(self._used)
            self._block = list(self._fractions(self._look(_BLOCK), self._kind))
            self._used = 0
        self._used += 1
        return self._block[self._used - 1]
