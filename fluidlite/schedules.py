"""Formulas of learning rates: what a rate is in a step, for numbers and for variables of programs.

Each takes the first rate and the number of the step, then what it depends on besides.  Where a
formula needs a function it takes it of ``m``: :class:`Numbers`, or layers of the same names.  Its
docstring is that of the classes that have it as their ``formula``, with their names.
"""

from __future__ import annotations

import inspect
import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

from .ground.docstrings import Family
from .ground.fields import fields_of, from_fields

T = TypeVar("T", bound=type)
#: fields of schedules that are no arguments of their formulas
COMMON = ("learning_rate", "optimizer", "last_epoch", "last_step", "verbose")


if TYPE_CHECKING:
    from .ir.variable import Variable

    Number: TypeAlias = float | Variable


class FormulaFunctions(Protocol):
    """The functions that formulas use."""

    @property
    def cos(self) -> Callable[..., Any]: ...

    @property
    def exp(self) -> Callable[..., Any]: ...

    @property
    def minimum(self) -> Callable[..., Any]: ...


class Numbers:
    """The functions that formulas use, for numbers."""

    cos: ClassVar[Callable[[float], float]] = math.cos
    exp: ClassVar[Callable[[float], float]] = math.exp
    minimum: ClassVar[Callable[..., float]] = min


def noam(
    rate: Number, step: Number, d_model: float, warmup_steps: float, m: FormulaFunctions = Numbers
) -> Number:
    """A rate that grows for ``warmup_steps`` steps and then falls with the root of their number:
    ``rate * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5)``.

    Vaswani et al., Attention is all you need, NIPS 2017.

    Args:
        d_model: the width of the model.
        warmup_steps: how many steps the rate grows.
    """
    least = m.minimum(step**-0.5, warmup_steps**-1.5 * step)
    return rate * d_model**-0.5 * least


def exponential(
    rate: Number, step: Number, factor: Number, m: FormulaFunctions = Numbers
) -> Number:
    """``rate * factor^step``.

    Args:
        factor: what the rate is multiplied by each time.
    """
    return rate * factor**step


def natural_exponential(
    rate: Number, step: Number, factor: Number, m: FormulaFunctions = Numbers
) -> Number:
    """``rate * exp(-factor * step)``.

    Args:
        factor: how fast it falls.
    """
    return rate * m.exp(-1 * factor * step)


def inverse_time(
    rate: Number, step: Number, factor: Number, m: FormulaFunctions = Numbers
) -> Number:
    """``rate / (1 + factor * step)``.

    Args:
        factor: how fast it falls.
    """
    return rate / (1 + factor * step)


def power_of_rest(rate: Any, step: Any, steps: Any, end: float, power: float) -> Any:
    """From the rate to ``end`` in so many steps, by a power of the share that is left."""
    left = (1 - step / steps) ** power
    return (rate - end) * left + end


def polynomial(
    rate: float, step: float, steps: float, end: float, power: float, cycle: bool
) -> float:
    """``(rate - end) * (1 - step / steps)^power + end``, and then ``end``.

    Args:
        steps: after so many steps the rate is ``end``, and stays so.
        end: the last rate.
        power: the degree of the polynomial; 1 for a line.
        cycle: let the rate rise again after ``steps`` steps: then twice as many lead to the end,
            and so on.
    """
    if cycle:
        steps *= max(math.ceil(step / steps), 1)
    return float(power_of_rest(rate, min(step, steps), steps, end, power))


def cosine(rate: Any, step: Any, steps: float, m: Any = Numbers) -> Any:
    """``rate * (cos(pi * step / steps) + 1) / 2``.

    Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, ICLR 2017.

    Args:
        steps: after so many the rate is 0.
    """
    angle = step * math.pi / steps
    wave = m.cos(angle)
    return rate * 0.5 * (wave + 1)


def annealed(rate: float, step: float, steps: float, end: float) -> float:
    """A rate that falls along a cosine to ``end``, and rises again.

    Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, ICLR 2017.

    Args:
        steps: after so many steps it is ``end``.
        end: the least rate.
    """
    return end + float(cosine(rate - end, step, steps))


def restarted(
    rate: float, step: int, steps: int, longer: int, end: float, factor: float = 1.0, most: int = 0
) -> float:
    """A rate that falls along a cosine and begins again.

    Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, ICLR 2017.

    Args:
        steps: how many steps the first fall takes.
        longer: each fall takes so many times the steps of the one before; a whole number.
        end: the least rate.
        factor: each fall begins with so much of the one before.
        most: how many falls there are before the rate stays ``end``; 0 for no limit.
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
    """A rate that is multiplied by a factor, which goes on a line from ``start`` to ``end``.

    Args:
        start: the first factor.
        end: the last factor, which stays.
        steps: how many steps it takes.
    """
    return float(rate * line(start, end, min(step, steps) / steps if steps else 1.0))


def stairs(rate: float, step: int, steps: int, factor: float) -> float:
    """A rate that is multiplied by ``factor`` every ``steps`` steps.

    Args:
        steps: how many steps it stays.
        factor: what it is multiplied by.
    """
    return float(exponential(rate, step // steps, factor))


def at_milestones(rate: float, step: int, milestones: Sequence[int], factor: float) -> float:
    """A rate that is multiplied by ``factor`` at some steps.

    Args:
        milestones: their numbers, in order.
        factor: what it is multiplied by.
    """
    return float(exponential(rate, bisect_right(milestones, step), factor))


def pieces(
    rate: Number, step: float, boundaries: Sequence[float], values: Sequence[float]
) -> float:
    """A rate that jumps: the first value before the first boundary, then the second one, and so on.

    Args:
        rate: of no account.
        boundaries: the steps at which the rate changes, in order.
        values: the rates, one more than there are boundaries.
    """
    return values[next((k for k, end in enumerate(boundaries) if step < end), len(boundaries))]


def by_function(rate: float, step: int, function: Callable[[int], float]) -> float:
    """``rate * function(step)``.

    Args:
        function: of the number of the step.
    """
    return rate * function(step)


def by_functions(rate: float, step: int, function: Callable[[int], float]) -> float:
    """``rate * function(1) * ... * function(step)``.

    Args:
        function: of the number of a step.
    """
    return rate * math.prod(map(function, range(1, step + 1)))


def at_first(rate: float, step: int, factor: float, steps: int) -> float:
    """``rate * factor`` in the first steps, and then ``rate``.

    Args:
        factor: what it is multiplied by.
        steps: how many steps that are.
    """
    return rate * factor if step < steps else rate


# -- classes that have a formula -------------------------------------------------------------------


class ByFormula:
    """What keeps the arguments of a formula as fields, in the formula's order."""

    #: what the rate is: a function of the first one, the step, and the fields
    formula: ClassVar[Callable[..., Any]]

    def rate_in(self, rate: float, step: int) -> float:
        """The rate in a step.

        Args:
            rate: the first one.
            step: its number.
        """
        kind = type(self)
        if not hasattr(kind, "formula"):
            raise NotImplementedError(f"{kind.__name__} needs a method get_lr(self)")
        own = (getattr(self, name) for name in fields_of(kind) if name not in COMMON)
        return float(kind.formula(rate, step, *own))


def spelled(kind: T, family: Family, rate: str, step: str) -> T:
    """A class with a constructor of its fields, and with the docstring of its formula.

    Args:
        kind: the class.
        family: completes the docstring.
        rate: what the first rate is called there.
        step: what the number of the step is called there.
    """
    schedule: Any = from_fields(kind)
    if not hasattr(schedule, "formula"):
        return family(schedule)
    code = inspect.unwrap(schedule.formula).__code__  # it may be an API boundary
    own = (name for name in fields_of(schedule) if name not in COMMON)
    names = dict(zip(code.co_varnames[2 : code.co_argcount], own))
    return family.like(schedule.formula, {"rate": rate, "step": step, **names})(schedule)


@from_fields
class FirstRate:
    """The argument that comes first."""

    learning_rate: float


@from_fields
class Stairs(ByFormula):
    """The arguments of :func:`stairs`."""

    step_size: int
    gamma: float = 0.1
    formula: ClassVar[Callable[..., Any]] = staticmethod(stairs)


@from_fields
class Milestones(ByFormula):
    """The arguments of :func:`at_milestones`."""

    milestones: Sequence[int]
    gamma: float = 0.1
    formula: ClassVar[Callable[..., Any]] = staticmethod(at_milestones)


@from_fields
class Exponential(ByFormula):
    """The arguments of :func:`exponential`."""

    gamma: float
    formula: ClassVar[Callable[..., Any]] = staticmethod(exponential)


@from_fields
class Annealed(ByFormula):
    """The arguments of :func:`annealed`."""

    T_max: int
    eta_min: float = 0.0
    formula: ClassVar[Callable[..., Any]] = staticmethod(annealed)


@from_fields
class Restarted(ByFormula):
    """The arguments of :func:`restarted` that all spellings have."""

    T_0: int
    T_mult: int = 1
    eta_min: float = 0.0
    formula: ClassVar[Callable[..., Any]] = staticmethod(restarted)


@from_fields
class OfFunction(ByFormula):
    """The arguments of :func:`by_function`."""

    lr_lambda: Callable[[int], float]
    formula: ClassVar[Callable[..., Any]] = staticmethod(by_function)


@from_fields
class Piecewise(ByFormula):
    """The arguments of :func:`pieces`."""

    boundaries: Sequence[int]
    values: Sequence[float]
    formula: ClassVar[Callable[..., Any]] = staticmethod(pieces)


#: what lowers a rate when a value gets no better
PLATEAU = Family(
    {
        "learning_rate": "the first rate.",
        "optimizer": "whose rates are set.",
        "mode": 'whether smaller values ("min") or larger ones ("max") are better.',
        **dict.fromkeys(("decay_rate", "factor"), "what the rate is multiplied by; below 1."),
        "patience": "how many values in a row may be no better.",
        "threshold": "how much better a value must be than the best one.",
        "threshold_mode": 'whether that is a share of the best one ("rel"), or a difference '
        '("abs").',
        "cooldown": "how many values are not counted after a change.",
        "min_lr": "the least rate; of an optimizer with groups perhaps one for each.",
        **dict.fromkeys(("eps", "epsilon"), "changes that are not larger are not made."),
        "verbose": "print when the rate changes.",
        "dtype": "element type of the rate.",
    },
    raises="ArgumentError: there is no such mode, or the factor is out of range.",
)
