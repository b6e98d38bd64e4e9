"""Line search: a point along a direction that satisfies the strong conditions of Wolfe.

Nocedal and Wright, Numerical optimization, 2006, chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Point(NamedTuple):
    """A place on the line."""

    step: float
    value: float
    gradient: Array
    slope: float  #: along the line


def cubic_minimum(a: Point, b: Point, least: float, most: float) -> float:
    """Where the cubic through two points and their slopes is least, kept within bounds; the middle
    of the bounds where it has no minimum.
    """
    rise = a.slope + b.slope - 3 * (a.value - b.value) / (a.step - b.step)
    square = rise * rise - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2
    first, last = (a, b) if a.step <= b.step else (b, a)
    root = math.sqrt(square)
    share = (last.slope + root - rise) / (last.slope - first.slope + 2 * root)
    return min(max(last.step - (last.step - first.step) * share, least), most)


@dataclass
class LineSearch:
    """A search along a line.

    Args:
        at: evaluates a step.
        start: the point of step 0.
        most: how many steps are tried.
        decrease, curvature: the constants of the two conditions.
    """

    at: Callable[[float], Point]
    start: Point
    most: int = 25
    decrease: float = 1e-4
    curvature: float = 0.9
    evaluations: int = 0

    def _evaluated(self, step: float) -> Point:
        self.evaluations += 1
        return self.at(step)

    def _too_high(self, point: Point) -> bool:
        start = self.start
        return point.value > start.value + self.decrease * point.step * start.slope

    def _flat(self, point: Point) -> bool:
        return abs(point.slope) <= -self.curvature * self.start.slope

    def _narrowed(self, low: Point, high: Point, point: Point) -> tuple[Point, Point]:
        """The bracket that a better point makes of another one."""
        return point, low if point.slope * (high.step - low.step) >= 0 else high


@dataclass
class WolfeSearch(LineSearch):
    """A search along a line, of at most so many evaluations.

    Args:
        length: the largest element of the direction.
        tolerance: a bracket that moves no element further than this is narrow enough.
    """

    length: float = 1.0
    tolerance: float = 1e-9

    def run(self, step: float) -> Point:
        """The point that was found.

        Args:
            step: the first one that is tried.
        """
        bracket = self._bracket(step)
        return bracket[0] if len(bracket) == 1 else self._zoomed(bracket)

    def _bracket(self, step: float) -> list[Point]:
        """Two points with a minimum between them, or one that will do."""
        before, point = self.start, self._evaluated(step)
        for tried in range(self.most):
            if self._too_high(point) or (tried > 1 and point.value >= before.value):
                return [before, point]
            if self._flat(point):
                return [point]
            if point.slope >= 0:
                return [before, point]
            bounds = point.step + 0.01 * (point.step - before.step), point.step * 10
            before, point = point, self._evaluated(cubic_minimum(before, point, *bounds))
        return [self.start, point]

    def _zoomed(self, bracket: list[Point]) -> Point:
        """The best point of a bracket that becomes narrower."""
        low, high = sorted(bracket, key=lambda point: point.value)
        slow = False
        while self.evaluations <= self.most:
            least, most = sorted((low.step, high.step))
            if (most - least) * self.length < self.tolerance:
                break
            step, slow = self._inside(low, high, least, most, slow)
            point = self._evaluated(step)
            if self._too_high(point) or point.value >= low.value:
                low, high = (low, point) if low.value <= point.value else (point, low)
                continue
            if self._flat(point):
                return point
            low, high = self._narrowed(low, high, point)
        return low

    def _inside(
        self, low: Point, high: Point, least: float, most: float, slow: bool
    ) -> tuple[float, bool]:
        """The step to try, a bit away from the ends of the bracket where the last one was not, and
        whether it is close to one.
        """
        step = cubic_minimum(low, high, least, most)
        margin = 0.1 * (most - least)
        if min(most - step, step - least) >= margin:
            return step, False
        if not slow and least < step < most:
            return step, True
        return (most - margin if most - step < step - least else least + margin), False
