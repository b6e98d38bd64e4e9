"""Learning rates that change from step to step, as Python objects.

They are what ``dygraph`` has in the place of the schedules that are operators of a program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .. import schedules, unique_name
from ..errors import ArgumentError, StateDictError
from ..ground import state
from ..ground.docstrings import Family
from ..ground.dtypes import as_dtype
from ..ground.reprs import Described

DECAYS = Family(
    {
        "learning_rate": "the first rate.",
        "decay_rate": "see ``decay_steps``.",
        "staircase": "let the rate change only every ``decay_steps`` steps.",
        "begin": "the number of the first step.",
        "step": "what is added to it after every step.",
        "dtype": "element type of the rate.",
    }
)


def finite(owner: Any, what: str, value: Any) -> float:
    """A finite number that a decay was given.

    Args:
        owner: whose: the decay, or the name of a schedule.
        what: the argument's name.
        value: what was given.

    Raises:
        ArgumentError: it is none.
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ArgumentError(
            f"{_named(owner)}: expected {what} to be a number, got {value!r:.60} of type "
            f"{type(value).__name__}"
        )
    return float(value)


def positive(owner: Any, what: str, value: Any) -> float:
    """A positive number that a decay was given; see :func:`finite`."""
    number = finite(owner, what, value)
    if number <= 0:
        raise ArgumentError(f"{_named(owner)}: expected {what} to be above 0, got {value!r:.60}")
    return number


def _named(owner: Any) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__


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

    def __init__(self, begin: int = 0, step: int = 1, dtype: Any = "float32") -> None:
        self.step_num = begin
        self.step_size = step
        self.dtype = str(as_dtype(dtype))
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


@DECAYS
class NoamDecay(LearningRateDecay):
    """A rate that grows up to a step and then falls with the root of the number of steps:
    ``learning_rate * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5)``.

    Vaswani et al., Attention is all you need, NIPS 2017.

    Args:
        d_model: the width of the model.
        warmup_steps: how many steps the rate grows.
        learning_rate: multiplies it.

    >>> float(fluid.dygraph.NoamDecay(d_model=4, warmup_steps=4)())
    0.0625
    """

    def __init__(
        self,
        d_model: float,
        warmup_steps: float,
        begin: int = 1,
        step: int = 1,
        dtype: Any = "float32",
        learning_rate: float = 1.0,
    ) -> None:
        super().__init__(begin, step, dtype)
        self.d_model = positive(self, "d_model", d_model)
        self.warmup_steps = positive(self, "warmup_steps", warmup_steps)
        self.learning_rate = finite(self, "learning_rate", learning_rate)

    def step(self) -> float:
        step = max(self.step_num, 1)
        return schedules.noam(self.learning_rate, step, self.d_model, self.warmup_steps)


@DECAYS
class PiecewiseDecay(LearningRateDecay):
    """A rate that jumps: ``values[i]`` before step ``boundaries[i]``, and the last value after all.

    Args:
        boundaries: steps, in order.
        values: rates, one more than there are boundaries.

    >>> rate = fluid.dygraph.PiecewiseDecay([1, 2], [1.0, 0.5, 0.25], begin=0)
    >>> float(rate()), float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.25, 0.25)
    """

    def __init__(
        self,
        boundaries: Sequence[float],
        values: Sequence[float],
        begin: int,
        step: int = 1,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        self.boundaries = [finite(self, "a boundary", b) for b in boundaries]
        self.values = [finite(self, "a rate", v) for v in values]
        if len(self.values) != len(self.boundaries) + 1:
            raise ArgumentError(
                f"PiecewiseDecay: expected one rate more than boundaries, got {len(self.values)} "
                f"rates and {len(self.boundaries)} boundaries"
            )

    def step(self) -> float:
        return schedules.pieces(self.step_num, self.boundaries, self.values)


class PeriodicDecay(LearningRateDecay):
    """A rate that depends on how many times ``decay_steps`` steps have passed."""

    #: of the first rate, the number of periods, and ``decay_rate``
    formula: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        learning_rate: float,
        decay_steps: float,
        decay_rate: float,
        staircase: bool = False,
        begin: int = 0,
        step: int = 1,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        self.learning_rate = finite(self, "learning_rate", learning_rate)
        self.decay_steps = positive(self, "decay_steps", decay_steps)
        self.decay_rate = finite(self, "decay_rate", decay_rate)
        self.staircase = staircase

    def step(self) -> float:
        passed = self.step_num / self.decay_steps
        periods = math.floor(passed) if self.staircase else passed
        return float(type(self).formula(self.learning_rate, periods, self.decay_rate))


@DECAYS
class ExponentialDecay(PeriodicDecay):
    """``learning_rate * decay_rate^(step / decay_steps)``.

    Args:
        decay_steps: after so many steps the rate has been multiplied by ``decay_rate``.

    >>> rate = fluid.dygraph.ExponentialDecay(1.0, decay_steps=1, decay_rate=0.5)
    >>> float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.25)
    """

    formula = staticmethod(schedules.exponential)


@DECAYS
class NaturalExpDecay(PeriodicDecay):
    """``learning_rate * exp(-decay_rate * step / decay_steps)``.

    Args:
        decay_steps: after so many steps the rate has been multiplied by exp(-decay_rate).

    >>> rate = fluid.dygraph.NaturalExpDecay(1.0, decay_steps=2, decay_rate=0.5, staircase=True)
    >>> float(rate()), float(rate())
    (1.0, 1.0)
    """

    formula = staticmethod(schedules.natural_exponential)


@DECAYS
class InverseTimeDecay(PeriodicDecay):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``.

    Args:
        decay_steps, decay_rate: how fast it falls.

    >>> rate = fluid.dygraph.InverseTimeDecay(1.0, decay_steps=1, decay_rate=1.0)
    >>> float(rate()), float(rate())
    (1.0, 0.5)
    """

    formula = staticmethod(schedules.inverse_time)


@DECAYS
class PolynomialDecay(LearningRateDecay):
    """``(learning_rate - end) * (1 - step / decay_steps)^power + end``, and then ``end``.

    Args:
        decay_steps: how many steps it takes.
        end_learning_rate: the last rate, ``end``.
        power: of the polynomial.
        cycle: when the end is reached, go on with ``decay_steps`` twice, three times, ... as many.

    >>> rate = fluid.dygraph.PolynomialDecay(1.0, decay_steps=2, end_learning_rate=0.0)
    >>> float(rate()), float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.0, 0.0)
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: float,
        end_learning_rate: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        begin: int = 0,
        step: int = 1,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        self.learning_rate = finite(self, "learning_rate", learning_rate)
        self.decay_steps = positive(self, "decay_steps", decay_steps)
        self.end_learning_rate = finite(self, "end_learning_rate", end_learning_rate)
        self.power = finite(self, "power", power)
        self.cycle = cycle

    def step(self) -> float:
        shape = (self.decay_steps, self.end_learning_rate, self.power, self.cycle)
        return schedules.polynomial(self.learning_rate, self.step_num, *shape)


@DECAYS
class CosineDecay(LearningRateDecay):
    """``learning_rate * 0.5 * (cos(epoch * pi / epochs) + 1)``.

    Args:
        step_each_epoch: how many steps there are in an epoch.
        epochs: how many epochs it takes.

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
        dtype: Any = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        self.learning_rate = finite(self, "learning_rate", learning_rate)
        self.step_each_epoch = positive(self, "step_each_epoch", step_each_epoch)
        self.epochs = positive(self, "epochs", epochs)

    def step(self) -> float:
        epoch = math.floor(self.step_num / self.step_each_epoch)
        return float(schedules.cosine(self.learning_rate, epoch, self.epochs))


@DECAYS
class LinearLrWarmup(LearningRateDecay):
    """A rate that goes from ``start_lr`` to ``end_lr`` in equal steps, and then is
    ``learning_rate``.

    Args:
        learning_rate: the rate after ``warmup_steps`` steps: a number, or another decay, which
            counts all steps.
        warmup_steps: how many steps it takes.
        start_lr, end_lr: where it begins and where it leads.

    >>> rate = fluid.dygraph.LinearLrWarmup(2.0, warmup_steps=2, start_lr=0.0, end_lr=1.0)
    >>> float(rate()), float(rate()), float(rate())
    (0.5, 2.0, 2.0)
    """

    def __init__(
        self,
        learning_rate: float | LearningRateDecay,
        warmup_steps: float,
        start_lr: float,
        end_lr: float,
        begin: int = 1,
        step: int = 1,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(begin, step, dtype)
        later = learning_rate
        if not isinstance(later, LearningRateDecay):
            later = finite(self, "learning_rate", later)
        self.learning_rate = later
        self.warmup_steps = positive(self, "warmup_steps", warmup_steps)
        self.start_lr = finite(self, "start_lr", start_lr)
        self.end_lr = finite(self, "end_lr", end_lr)

    def __call__(self) -> Any:
        if isinstance(self.learning_rate, LearningRateDecay):
            self.learning_rate()
        return super().__call__()

    def step(self) -> float:
        if self.step_num < self.warmup_steps:
            share = self.step_num / self.warmup_steps
            return float(schedules.line(self.start_lr, self.end_lr, share))
        later = self.learning_rate
        return later.current() if isinstance(later, LearningRateDecay) else later

    def state_dict(self) -> dict[str, Any]:
        later = self.learning_rate
        kept = {"learning_rate": later.state_dict()} if isinstance(later, LearningRateDecay) else {}
        return {**super().state_dict(), **kept}

    def restore(self, kept: Mapping[str, Any]) -> None:
        super().restore(kept)
        if isinstance(self.learning_rate, LearningRateDecay) and "learning_rate" in kept:
            self.learning_rate.set_dict(kept["learning_rate"])
