"""``fluid.average``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ArgumentError


class WeightedAverage:
    """The average of values with weights.

    >>> average = fluid.compat.modules.average.WeightedAverage()
    >>> average.add(value=2.0, weight=1)
    >>> average.add(value=4.0, weight=3)
    >>> float(average.eval())
    3.5
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self.numerator: Any = None
        self.denominator: Any = None

    def add(self, value: Any, weight: Any) -> None:
        """Take in a value.

        Args:
            value: a number or an array.
            weight: a number, or an array of one element.

        Raises:
            ArgumentError: either is something else.
        """
        for name, given in (("value", value), ("weight", weight)):
            if not isinstance(given, (int, float, np.number, np.ndarray)):
                raise ArgumentError(
                    f"expected {name} to be a number or an array, got {given!r:.60}"
                )
        if self.numerator is None or self.denominator is None:
            self.numerator, self.denominator = value * weight, weight
        else:
            self.numerator = self.numerator + value * weight
            self.denominator = self.denominator + weight

    def eval(self) -> Any:
        """The average.

        Raises:
            ArgumentError: there are no values.
        """
        if self.numerator is None or self.denominator is None:
            raise ArgumentError("WeightedAverage holds no values: add some before eval")
        return self.numerator / self.denominator
