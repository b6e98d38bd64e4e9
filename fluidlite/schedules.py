"""Formulas of learning rates: what a rate is in a step, for numbers and for variables of programs.

Each takes the first rate and the number of the step, then what it depends on besides.  Where a
formula needs a function it takes it of ``m``: :class:`Numbers`, or layers of the same names.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, ClassVar


class Numbers:
    """The functions that formulas use, for numbers."""

    cos: ClassVar[Callable[[float], float]] = math.cos
    exp: ClassVar[Callable[[float], float]] = math.exp
    minimum: ClassVar[Callable[..., float]] = min


def noam(rate: Any, step: Any, d_model: float, warmup_steps: float, m: Any = Numbers) -> Any:
    """Grows for some steps, then falls with the root of their number (Vaswani et al. 2017)."""
    least = m.minimum(step**-0.5, warmup_steps**-1.5 * step)
    return rate * d_model**-0.5 * least


def exponential(rate: Any, step: Any, factor: Any, m: Any = Numbers) -> Any:
    """``rate * factor^step``."""
    return rate * factor**step


def natural_exponential(rate: Any, step: Any, factor: Any, m: Any = Numbers) -> Any:
    """``rate * e^(-factor step)``."""
    return rate * m.exp(-1 * factor * step)


def inverse_time(rate: Any, step: Any, factor: Any, m: Any = Numbers) -> Any:
    """``rate / (1 + factor step)``."""
    return rate / (1 + factor * step)


def power_of_rest(rate: Any, step: Any, steps: Any, end: float, power: float) -> Any:
    """From the rate to ``end`` in so many steps, by a power of the share that is left."""
    left = (1 - step / steps) ** power
    return (rate - end) * left + end


def polynomial(
    rate: float, step: float, steps: float, end: float, power: float, cycle: bool
) -> float:
    """:func:`power_of_rest`, which stays at ``end``, or begins anew with as many steps more."""
    if cycle:
        steps *= max(math.ceil(step / steps), 1)
    return float(power_of_rest(rate, min(step, steps), steps, end, power))


def cosine(rate: Any, step: Any, steps: float, m: Any = Numbers) -> Any:
    """Half a wave, from the rate to 0 in so many steps."""
    angle = step * math.pi / steps
    wave = m.cos(angle)
    return rate * 0.5 * (wave + 1)


def annealed(rate: float, step: float, steps: float, end: float) -> float:
    """Half a wave from the rate to another one, and further along it."""
    return end + float(cosine(rate - end, step, steps))


def restarted(
    rate: float,
    step: int,
    steps: int,
    longer: int,
    end: float,
    factor: float = 1.0,
    most: int = 0,
) -> float:
    """:func:`annealed` again and again (Loshchilov and Hutter 2017).

    Args:
        rate, step, end: the first rate, the number of the step, the least rate.
        steps: of the first fall.
        longer: each fall takes so many times the steps of the one before.
        factor: each fall begins with so much of the one before.
        most: how many falls there are; 0 for no limit.
    """
    falls = 0
    if longer == 1:
        falls, step = divmod(step, steps)
    while step >= steps:
        falls, step, steps = falls + 1, step - steps, steps * longer
    return end if 0 < most <= falls else annealed(rate * factor**falls, step, steps, end)


def line(start: Any, end: Any, share: Any) -> Any:
    """From one number to another."""
    return start + (end - start) * share


def along_line(rate: float, step: int, start: float, end: float, steps: int) -> float:
    """The rate times a factor, which goes from one to another in so many steps."""
    return float(rate * line(start, end, min(step, steps) / steps if steps else 1.0))


def stairs(rate: float, step: int, steps: int, factor: float) -> float:
    """The rate times a factor, every so many steps."""
    return float(exponential(rate, step // steps, factor))


def at_milestones(rate: float, step: int, milestones: Sequence[int], factor: float) -> float:
    """The rate times a factor, at each of some steps."""
    return float(exponential(rate, bisect_right(milestones, step), factor))


def pieces(step: float, boundaries: Sequence[float], values: Sequence[float]) -> float:
    """The first value before the first boundary, the second one before the second, and so on."""
    return values[next((k for k, end in enumerate(boundaries) if step < end), len(boundaries))]


def by_function(rate: float, step: int, function: Callable[[int], float]) -> float:
    """The rate times what a function gives for the step."""
    return rate * function(step)


def by_functions(rate: float, step: int, function: Callable[[int], float]) -> float:
    """The rate times what a function gives for each step so far."""
    return rate * math.prod(map(function, range(1, step + 1)))


def at_first(rate: float, step: int, factor: float, steps: int) -> float:
    """The rate times a factor in the first steps, then the rate."""
    return rate * factor if step < steps else rate
