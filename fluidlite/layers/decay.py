"""Learning rates that change from step to step, as Python objects.

They are what ``dygraph`` has in place of the schedules that are operators of a program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from .. import schedules, unique_name
from ..errors import ArgumentError, StateDictError
from ..ground import state
from ..ground.arguments import Check, finite, numbers, positive, yes_or_no
from ..ground.docstrings import Family
from ..ground.dtypes import as_dtype
from ..ground.protected import answers, answers_protected
from ..ground.reprs import Described

DECAYS = Family(
    {
        "learning_rate": "the first rate: a number; for a schedule of a program a variable, too.",
        "decay_steps": "after so many steps the rate has fallen once by ``decay_rate``.",
        "decay_rate": "see ``decay_steps``.",
        "staircase": "let the rate change only every ``decay_steps`` steps.",
        "step_each_epoch": "how many steps an epoch has; the rate changes when one is over.",
        "begin": "the number of the first step.",
        "step": "what is added to it after every step.",
        "dtype": "element type of the rate.",
    }
)


@answers_protected
@DECAYS
class LearningRateDecay(Described):
    """The base of learning rates that change from step to step.

    A decay of your own derives from it and says in ``step`` what the rate is; it may read
    ``self.step_num``, the number of the step.

    >>> class Halved(fluid.dygraph.learning_rate_scheduler.LearningRateDecay):
    ...     def step(self):
    ...         return 0.5**self.step_num
    >>> rate = Halved()
    >>> float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.25)
    """

    _shown = "begin= step=step_size step_num=step_num"

    #: whether the state says how many steps were made
    counts_steps: ClassVar[bool] = True
    #: names of the state -> attributes
    kept: ClassVar[Mapping[str, str]] = {"step_num": "step_num"}

    def __init__(self, begin: int = 0, step: int = 1, dtype: str = "float32") -> None:
        self.step_num: int = begin
        self.step_size = step
        self.dtype: str = str(as_dtype(dtype))
        self._last: float | None = None

    def __call__(self) -> Any:
        """The rate of this step; the next call gives that of the next one.

        Within ``dygraph.guard()`` it is a tensor of one element, elsewhere a number.
        """
        self._last = self.number(self.step())
        self.step_num += self.step_size
        return self.create_lr_var(self._last)

    def step(self) -> Any:
        """The rate of this step: a number, or a tensor of one element."""
        raise NotImplementedError(f"{type(self).__name__} needs a method step(self)")

    def current(self) -> float:
        """The rate that the last call gave; before the first one, the rate that it will give."""
        return self.number(self.step()) if self._last is None else self._last

    def used(self) -> float:
        """The rate of the last step, also when an epoch has changed it since."""
        return self.current() if self._last is None else self._last

    def number(self, rate: Any) -> float:
        """A rate as a number.

        Raises:
            ArgumentError: it is something else.
        """
        if isinstance(rate, Real):
            return finite(self, "the rate", rate)
        array = np.asarray(rate)
        if array.size != 1 or array.dtype.kind not in "fiu":
            raise ArgumentError(
                f"expected step() of {type(self).__name__} to give a number, got {rate!r:.60}"
            )
        return float(array.reshape(-1)[0])

    def create_lr_var(self, lr: Any) -> Any:
        """A rate as ``step`` may give it: where layers run at once, a tensor of one element called
        ``learning_rate_<n>``, elsewhere a number.

        Args:
            lr: a number, or a tensor of one element.

        >>> with fluid.dygraph.guard():
        ...     fluid.dygraph.NoamDecay(d_model=4, warmup_steps=4).create_lr_var(0.25).numpy()
        array([0.25], dtype=float32)
        """
        rate, kind = self.number(lr), state.eager.get()
        if not kind:
            return rate
        made = kind(np.full([1], rate, as_dtype(self.dtype).dtype))
        made.name = unique_name.generate("learning_rate")
        return made

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on, by name."""
        return {name: getattr(self, attribute) for name, attribute in self.kept.items()}

    def set_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state that :meth:`state_dict` gave.

        Raises:
            StateDictError: something is missing.
        """
        for name in self.kept:
            if name not in state_dict:
                raise StateDictError(f"the state of {type(self).__name__} lacks {name!r}")
        self.restore(state_dict)
        self._last = None

    set_state_dict = set_dict

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Take over a state, which is complete."""
        for name, attribute in self.kept.items():
            old, value = getattr(self, attribute), kept[name]
            if isinstance(old, (int, float)) and value is not None:
                value = type(old)(self.number(value))
            setattr(self, attribute, value)


#: an argument -> what it has to be, where that is not a number
_CHECKS: Mapping[str, Check] = {
    **dict.fromkeys(
        ("d_model", "warmup_steps", "decay_steps", "step_each_epoch", "epochs"), positive
    ),
    **dict.fromkeys(("boundaries", "values"), numbers),
    **dict.fromkeys(("cycle", "staircase"), yes_or_no),
}


class FormulaDecay(LearningRateDecay):
    """A decay that goes by a formula, whose arguments it keeps."""

    #: of the first rate, the step, and the arguments
    formula: ClassVar[Callable[..., Any]]
    #: whose arguments they are in messages: a layer's; the class's when None
    owner: str | None = None
    #: what the first rate may be besides a number
    rates: ClassVar[tuple[type, ...]] = ()
    learning_rate: Any

    def keep(self, **arguments: Any) -> None:
        """Check the arguments, and keep them as attributes.

        Args:
            arguments: the first rate, and those of the formula in its order.

        Raises:
            ArgumentError: one of them is something else.
        """
        for name, value in arguments.items():
            if name != "learning_rate" or not isinstance(value, self.rates):
                check = _CHECKS.get(name, finite)
                arguments[name] = check(self.owner or self, name, value)
        vars(self).update(arguments)
        self.arguments: list[Any] = [
            arguments[name] for name in arguments if name != "learning_rate"
        ]

    def step(self) -> float:
        step = self.step_num
        return float(type(self).formula(self.learning_rate, step, *self.arguments))


@DECAYS.like(schedules.noam, {"rate": "learning_rate"})
class NoamDecay(FormulaDecay):
    """
    >>> float(fluid.dygraph.NoamDecay(d_model=4, warmup_steps=4)())
    0.0625
    """

    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.noam)

    def __init__(
        self,
        d_model: float,
        warmup_steps: float,
        begin: int = 1,
        step: int = 1,
        dtype: str = "float32",
        learning_rate: float = 1.0,
    ) -> None:
        super().__init__(begin, step, dtype)
        self.keep(learning_rate=learning_rate, d_model=d_model, warmup_steps=warmup_steps)

    def step(self) -> float:
        return float(schedules.noam(self.learning_rate, max(self.step_num, 1), *self.arguments))


@answers(vars=attrgetter("values"))
@DECAYS.like(schedules.pieces)
class PiecewiseDecay(FormulaDecay):
    """
    >>> rate = fluid.dygraph.PiecewiseDecay([1, 2], [1.0, 0.5, 0.25], begin=0)
    >>> float(rate()), float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.25, 0.25)
    """

    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.pieces)
    learning_rate: Any = 0.0

    def __init__(
        self,
        boundaries: Sequence[float],
        values: Sequence[float],
        begin: int,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        self.keep(boundaries=boundaries, values=values)
        ends, rates = map(len, self.arguments)
        if rates != ends + 1:
            raise ArgumentError(
                f"{self.owner or 'PiecewiseDecay'}: expected one value more than there are "
                f"boundaries, got {rates} values and {ends} boundaries"
            )


class PeriodicDecay(FormulaDecay):
    """A rate that depends on how many times ``decay_steps`` steps have passed; on whole ones with
    ``staircase``.
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        begin: int = 0,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        periods = {"decay_steps": decay_steps, "decay_rate": decay_rate, "staircase": staircase}
        self.keep(learning_rate=learning_rate, **periods)

    def step(self) -> float:
        return float(self.after(self.step_num, math.floor))

    def after(self, step: Any, floor: Callable[[Any], Any], m: Any = schedules.Numbers) -> Any:
        """The rate after so many steps.

        Args:
            step: how many: a number or a variable.
            floor: the largest whole number up to one.
            m: the functions that formulas use.
        """
        decay_steps, decay_rate, staircase = self.arguments
        passed = step / decay_steps
        periods = floor(passed) if staircase else passed
        return type(self).formula(self.learning_rate, periods, decay_rate, m)


#: names of the formulas' arguments here
_PERIODIC = {"rate": "learning_rate", "step": "(step / decay_steps)", "factor": "decay_rate"}


@DECAYS.like(schedules.exponential, _PERIODIC)
class ExponentialDecay(PeriodicDecay):
    """
    >>> rate = fluid.dygraph.ExponentialDecay(1.0, decay_steps=1, decay_rate=0.5)
    >>> float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.25)
    """

    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.exponential)


@DECAYS.like(schedules.natural_exponential, _PERIODIC)
class NaturalExpDecay(PeriodicDecay):
    """
    >>> rate = fluid.dygraph.NaturalExpDecay(1.0, decay_steps=2, decay_rate=0.5, staircase=True)
    >>> float(rate()), float(rate())
    (1.0, 1.0)
    """

    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.natural_exponential)


@DECAYS.like(schedules.inverse_time, _PERIODIC)
class InverseTimeDecay(PeriodicDecay):
    """
    >>> rate = fluid.dygraph.InverseTimeDecay(1.0, decay_steps=1, decay_rate=1.0)
    >>> float(rate()), float(rate())
    (1.0, 0.5)
    """

    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.inverse_time)


@DECAYS.like(
    schedules.polynomial,
    {"rate": "learning_rate", "steps": "decay_steps", "end": "end_learning_rate"},
)
class PolynomialDecay(FormulaDecay):
    """
    >>> rate = fluid.dygraph.PolynomialDecay(1.0, decay_steps=2, end_learning_rate=0.0)
    >>> float(rate()), float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.0, 0.0)
    """

    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.polynomial)

    def __init__(
        self,
        learning_rate: float,
        decay_steps: float,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        begin: int = 0,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        shape = {"end_learning_rate": end_learning_rate, "power": power, "cycle": cycle}
        self.keep(learning_rate=learning_rate, decay_steps=decay_steps, **shape)


@DECAYS.like(schedules.cosine, {"rate": "learning_rate", "step": "epoch", "steps": "epochs"})
class CosineDecay(FormulaDecay):
    """
    >>> rate = fluid.dygraph.CosineDecay(1.0, step_each_epoch=1, epochs=2)
    >>> round(float(rate()), 4), round(float(rate()), 4)
    (1.0, 0.5)
    """

    def __init__(
        self,
        learning_rate: float,
        step_each_epoch: float,
        epochs: float,
        begin: int = 0,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        self.keep(learning_rate=learning_rate, step_each_epoch=step_each_epoch, epochs=epochs)

    def step(self) -> float:
        step_each_epoch, epochs = self.arguments
        epoch = math.floor(self.step_num / step_each_epoch)
        return float(schedules.cosine(self.learning_rate, epoch, epochs))


@answers(
    lr_ratio_before_warmup=lambda self: (self.end_lr - self.start_lr) / float(self.warmup_steps)
)
@DECAYS
class LinearLrWarmup(FormulaDecay):
    """A rate that goes from ``start_lr`` to ``end_lr`` in equal steps, and then is
    ``learning_rate``.

    Args:
        learning_rate: the rate after ``warmup_steps`` steps: a number, or another decay or
            schedule, which counts all steps.
        warmup_steps: how many steps it takes.
        start_lr: where it begins.
        end_lr: where it leads.

    >>> rate = fluid.dygraph.LinearLrWarmup(2.0, warmup_steps=2, start_lr=0.0, end_lr=1.0)
    >>> float(rate()), float(rate()), float(rate())
    (0.5, 2.0, 2.0)
    """

    rates: ClassVar[tuple[type, ...]] = (LearningRateDecay,)

    def __init__(
        self,
        learning_rate: float | LearningRateDecay,
        warmup_steps: float,
        start_lr: float,
        end_lr: float,
        begin: int = 1,
        step: int = 1,
        dtype: str = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        way = {"warmup_steps": warmup_steps, "start_lr": start_lr, "end_lr": end_lr}
        self.keep(learning_rate=learning_rate, **way)

    def __call__(self) -> Any:
        if isinstance(self.learning_rate, LearningRateDecay):
            self.learning_rate()
        return super().__call__()

    def step(self) -> float:
        warmup_steps, start, end = self.arguments
        if self.step_num < warmup_steps:
            return float(schedules.line(start, end, self.step_num / warmup_steps))
        later = self.learning_rate
        return float(later.current() if isinstance(later, LearningRateDecay) else later)

    def state_dict(self) -> dict[str, Any]:
        later = self.learning_rate
        kept = {"learning_rate": later.state_dict()} if isinstance(later, LearningRateDecay) else {}
        return {**super().state_dict(), **kept}

    def restore(self, kept: Mapping[str, Any]) -> None:
        super().restore(kept)
        if isinstance(self.learning_rate, LearningRateDecay) and "learning_rate" in kept:
            self.learning_rate.set_dict(kept["learning_rate"])
