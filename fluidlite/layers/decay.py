"""Learning rates that change from step to step, as Python objects: what ``dygraph`` has in the place
of the schedules that are operators of a program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .. import state
from ..dtypes import as_dtype
from ..errors import ArgumentError, StateDictError


def _finite(decay: Any, what: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ArgumentError(
            f"{type(decay).__name__}: expected {what} to be a number, got {value!r:.60} of type "
            f"{type(value).__name__}"
        )
    return float(value)


def _positive(decay: Any, what: str, value: Any) -> float:
    number = _finite(decay, what, value)
    if number <= 0:
        raise ArgumentError(
            f"{type(decay).__name__}: expected {what} to be above 0, got {value!r:.60}"
        )
    return number


class LearningRateDecay:
    """The base of learning rates that change from step to step.

    A decay of your own derives from it and says in ``step`` what the rate is; it may read
    ``self.step_num``, the number of the step.

    Args:
        begin: the number of the first step.
        step: what is added to it after every step.
        dtype: element type of the rate.

    >>> class Halved(fluid.dygraph.learning_rate_scheduler.LearningRateDecay):
    ...     def step(self):
    ...         return 0.5 ** self.step_num
    >>> rate = Halved()
    >>> float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.25)
    """

    #: whether the state says how many steps were made
    counts_steps: ClassVar[bool] = True

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
        return self.as_tensor(self._last)

    def step(self) -> Any:
        """The rate of this step: a number, or a tensor of one element."""
        raise NotImplementedError(f"{type(self).__name__} needs a method step(self)")

    def current(self) -> float:
        """The rate that the last call gave; before the first one, the rate that it will give."""
        return self.number(self.step()) if self._last is None else self._last

    def number(self, rate: Any) -> float:
        """A rate as a number.

        Raises:
            ArgumentError: it is something else.
        """
        if isinstance(rate, Real):
            return _finite(self, "the rate", rate)
        array = np.asarray(rate)
        if array.size != 1 or array.dtype.kind not in "fiu":
            raise ArgumentError(
                f"expected step() of {type(self).__name__} to give a number, got {rate!r:.60}"
            )
        return float(array.reshape(-1)[0])

    def as_tensor(self, rate: float) -> Any:
        """A rate as a tensor where layers run at once."""
        kind = state.eager.get()
        return rate if kind is None else kind(np.full([1], rate, as_dtype(self.dtype).dtype))

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on, by name."""
        return {"step_num": self.step_num}

    def set_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state that :meth:`state_dict` gave.

        Raises:
            StateDictError: something is missing.
        """
        for name in self.state_dict():
            if name not in state_dict:
                raise StateDictError(f"the state of {type(self).__name__} lacks {name!r}")
        self.restore(state_dict)
        self._last = None

    set_state_dict = set_dict

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Take over a state, which is complete."""
        self.step_num = int(kept["step_num"])


class NoamDecay(LearningRateDecay):
    """A rate that grows up to a step and then falls with the root of the number of steps:
    ``learning_rate * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5)``.

    Vaswani et al., Attention is all you need, NIPS 2017.

    Args:
        d_model: the width of the model.
        warmup_steps: how many steps the rate grows.
        begin, step, dtype: as of :class:`LearningRateDecay`.
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
        self.d_model = _positive(self, "d_model", d_model)
        self.warmup_steps = _positive(self, "warmup_steps", warmup_steps)
        self.learning_rate = _finite(self, "learning_rate", learning_rate)

    def step(self) -> float:
        n = max(self.step_num, 1)
        least = min(n**-0.5, n * self.warmup_steps**-1.5)
        return float(self.learning_rate * self.d_model**-0.5 * least)


class PiecewiseDecay(LearningRateDecay):
    """A rate that jumps: ``values[i]`` before step ``boundaries[i]``, and the last value after all.

    Args:
        boundaries: steps, in order.
        values: rates, one more than there are boundaries.
        begin, step, dtype: as of :class:`LearningRateDecay`.

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
        self.boundaries = [_finite(self, "a boundary", b) for b in boundaries]
        self.values = [_finite(self, "a rate", v) for v in values]
        if len(self.values) != len(self.boundaries) + 1:
            raise ArgumentError(
                f"PiecewiseDecay: expected one rate more than boundaries, got {len(self.values)} "
                f"rates and {len(self.boundaries)} boundaries"
            )

    def step(self) -> float:
        passed = sum(self.step_num >= boundary for boundary in self.boundaries)
        return self.values[passed]


class _Periodic(LearningRateDecay):
    """A rate that depends on how many times ``decay_steps`` steps have passed."""

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
        self.learning_rate = _finite(self, "learning_rate", learning_rate)
        self.decay_steps = _positive(self, "decay_steps", decay_steps)
        self.decay_rate = _finite(self, "decay_rate", decay_rate)
        self.staircase = staircase

    @property
    def periods(self) -> float:
        """How many periods have passed; whole ones where the rate goes down in stairs."""
        passed = self.step_num / self.decay_steps
        return math.floor(passed) if self.staircase else passed


class ExponentialDecay(_Periodic):
    """``learning_rate * decay_rate^(step / decay_steps)``.

    Args:
        learning_rate: the first rate.
        decay_steps: after so many steps the rate has been multiplied by ``decay_rate``.
        decay_rate: see ``decay_steps``.
        staircase: let the rate change only every ``decay_steps`` steps.
        begin, step, dtype: as of :class:`LearningRateDecay`.

    >>> rate = fluid.dygraph.ExponentialDecay(1.0, decay_steps=1, decay_rate=0.5)
    >>> float(rate()), float(rate()), float(rate())
    (1.0, 0.5, 0.25)
    """

    def step(self) -> float:
        return float(self.learning_rate * self.decay_rate**self.periods)


class NaturalExpDecay(_Periodic):
    """``learning_rate * exp(-decay_rate * step / decay_steps)``.

    Args:
        learning_rate: the first rate.
        decay_steps: after so many steps the rate has been multiplied by exp(-decay_rate).
        decay_rate: see ``decay_steps``.
        staircase: let the rate change only every ``decay_steps`` steps.
        begin, step, dtype: as of :class:`LearningRateDecay`.

    >>> rate = fluid.dygraph.NaturalExpDecay(1.0, decay_steps=2, decay_rate=0.5, staircase=True)
    >>> float(rate()), float(rate())
    (1.0, 1.0)
    """

    def step(self) -> float:
        return self.learning_rate * math.exp(-self.decay_rate * self.periods)


class InverseTimeDecay(_Periodic):
    """``learning_rate / (1 + decay_rate * step / decay_steps)``.

    Args:
        learning_rate: the first rate.
        decay_steps, decay_rate: how fast it falls.
        staircase: let the rate change only every ``decay_steps`` steps.
        begin, step, dtype: as of :class:`LearningRateDecay`.

    >>> rate = fluid.dygraph.InverseTimeDecay(1.0, decay_steps=1, decay_rate=1.0)
    >>> float(rate()), float(rate())
    (1.0, 0.5)
    """

    def step(self) -> float:
        return self.learning_rate / (1 + self.decay_rate * self.periods)


class PolynomialDecay(LearningRateDecay):
    """``(learning_rate - end) * (1 - step / decay_steps)^power + end``, and then ``end``.

    Args:
        learning_rate: the first rate.
        decay_steps: how many steps it takes.
        end_learning_rate: the last rate, ``end``.
        power: of the polynomial.
        cycle: when the end is reached, go on with ``decay_steps`` twice, three times, ... as many.
        begin, step, dtype: as of :class:`LearningRateDecay`.

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
        self.learning_rate = _finite(self, "learning_rate", learning_rate)
        self.decay_steps = _positive(self, "decay_steps", decay_steps)
        self.end_learning_rate = _finite(self, "end_learning_rate", end_learning_rate)
        self.power = _finite(self, "power", power)
        self.cycle = cycle

    def step(self) -> float:
        n, steps = self.step_num, self.decay_steps
        if self.cycle:
            steps *= max(math.ceil(n / steps), 1)
        else:
            n = min(n, steps)
        end = self.end_learning_rate
        return float((self.learning_rate - end) * (1 - n / steps) ** self.power + end)


class CosineDecay(LearningRateDecay):
    """``learning_rate * 0.5 * (cos(epoch * pi / epochs) + 1)``.

    Args:
        learning_rate: the first rate.
        step_each_epoch: how many steps there are in an epoch.
        epochs: how many epochs it takes.
        begin, step, dtype: as of :class:`LearningRateDecay`.

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
        self.learning_rate = _finite(self, "learning_rate", learning_rate)
        self.step_each_epoch = _positive(self, "step_each_epoch", step_each_epoch)
        self.epochs = _positive(self, "epochs", epochs)

    def step(self) -> float:
        epoch = math.floor(self.step_num / self.step_each_epoch)
        return self.learning_rate * 0.5 * (math.cos(epoch * math.pi / self.epochs) + 1)


class LinearLrWarmup(LearningRateDecay):
    """A rate that goes from ``start_lr`` to ``end_lr`` in equal steps, and then is
    ``learning_rate``.

    Args:
        learning_rate: the rate after ``warmup_steps`` steps: a number, or another decay, which
            counts all steps.
        warmup_steps: how many steps it takes.
        start_lr, end_lr: where it begins and where it leads.
        begin, step, dtype: as of :class:`LearningRateDecay`.

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
            later = _finite(self, "learning_rate", later)
        self.learning_rate = later
        self.warmup_steps = _positive(self, "warmup_steps", warmup_steps)
        self.start_lr = _finite(self, "start_lr", start_lr)
        self.end_lr = _finite(self, "end_lr", end_lr)
        if self.end_lr <= self.start_lr:
            raise ArgumentError(
                f"LinearLrWarmup: expected start_lr below end_lr, got {start_lr} and {end_lr}"
            )

    def __call__(self) -> Any:
        if isinstance(self.learning_rate, LearningRateDecay):
            self.learning_rate()
        return super().__call__()

    def step(self) -> float:
        if self.step_num < self.warmup_steps:
            passed = self.step_num / self.warmup_steps
            return self.start_lr + (self.end_lr - self.start_lr) * passed
        later = self.learning_rate
        return later.current() if isinstance(later, LearningRateDecay) else later

    def state_dict(self) -> dict[str, Any]:
        later = self.learning_rate
        kept = {"learning_rate": later.state_dict()} if isinstance(later, LearningRateDecay) else {}
        return {"step_num": self.step_num, **kept}

    def restore(self, kept: Mapping[str, Any]) -> None:
        super().restore(kept)
        if isinstance(self.learning_rate, LearningRateDecay):
            self.learning_rate.set_dict(kept["learning_rate"])


class EpochDecay(LearningRateDecay):
    """The base of rates that change from epoch to epoch, whenever ``epoch()`` is called.

    Args:
        learning_rate: the first rate.
        dtype: element type of the rate.
    """

    counts_steps: ClassVar[bool] = False

    def __init__(self, learning_rate: float, dtype: Any = "float32") -> None:
        super().__init__(dtype=dtype)
        self.base_lr = _finite(self, "learning_rate", learning_rate)
        self.epoch_num = 0
        self.learning_rate = self.base_lr

    def get_lr(self) -> float:
        """The rate of the epoch ``self.epoch_num``."""
        raise NotImplementedError(f"{type(self).__name__} needs a method get_lr(self)")

    def epoch(self, epoch: int | None = None) -> None:
        """Begin the next epoch.

        Args:
            epoch: its number; one more than that of the last one when None.
        """
        self.epoch_num = self.epoch_num + 1 if epoch is None else epoch
        self.learning_rate = self.number(self.get_lr())

    def step(self) -> float:
        return self.learning_rate

    def current(self) -> float:
        return self.learning_rate

    def state_dict(self) -> dict[str, Any]:
        return {"epoch_num": self.epoch_num, "learning_rate": self.learning_rate}

    def restore(self, kept: Mapping[str, Any]) -> None:
        self.epoch_num = int(kept["epoch_num"])
        self.learning_rate = self.number(kept["learning_rate"])


class StepDecay(EpochDecay):
    """``learning_rate * decay_rate^floor(epoch / step_size)``.

    Args:
        learning_rate: the first rate.
        step_size: how many epochs it stays.
        decay_rate: what it is multiplied by then.

    >>> rate = fluid.dygraph.StepDecay(1.0, step_size=1, decay_rate=0.5)
    >>> rate.epoch()
    >>> float(rate())
    0.5
    """

    def __init__(self, learning_rate: float, step_size: int, decay_rate: float = 0.1) -> None:
        super().__init__(learning_rate)
        self.step_size = int(_positive(self, "step_size", step_size))
        self.decay_rate = _finite(self, "decay_rate", decay_rate)

    def get_lr(self) -> float:
        return float(self.base_lr * self.decay_rate ** (self.epoch_num // self.step_size))


class MultiStepDecay(EpochDecay):
    """A rate that is multiplied by ``decay_rate`` at some epochs.

    Args:
        learning_rate: the first rate.
        milestones: the epochs, in order.
        decay_rate: what it is multiplied by.

    >>> rate = fluid.dygraph.MultiStepDecay(1.0, milestones=[1, 2], decay_rate=0.5)
    >>> rate.epoch(2)
    >>> float(rate())
    0.25
    """

    def __init__(
        self, learning_rate: float, milestones: Sequence[int], decay_rate: float = 0.1
    ) -> None:
        super().__init__(learning_rate)
        self.milestones = [int(_finite(self, "a milestone", m)) for m in milestones]
        if sorted(set(self.milestones)) != self.milestones:
            raise ArgumentError(
                f"MultiStepDecay: expected milestones that grow, got {milestones!r:.60}"
            )
        self.decay_rate = _finite(self, "decay_rate", decay_rate)

    def get_lr(self) -> float:
        passed = sum(self.epoch_num >= milestone for milestone in self.milestones)
        return float(self.base_lr * self.decay_rate**passed)


class LambdaDecay(EpochDecay):
    """``learning_rate * lr_lambda(epoch)``.

    Args:
        learning_rate: multiplies what the function gives.
        lr_lambda: a function of the number of the epoch.

    >>> rate = fluid.dygraph.LambdaDecay(1.0, lambda epoch: 0.5**epoch)
    >>> rate.epoch()
    >>> float(rate())
    0.5
    """

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float]) -> None:
        super().__init__(learning_rate)
        if not callable(lr_lambda):
            raise ArgumentError(
                f"LambdaDecay: expected a function of the epoch, got {lr_lambda!r:.60}"
            )
        self.lr_lambda = lr_lambda

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.epoch_num)


class ReduceLROnPlateau(LearningRateDecay):
    """A rate that is multiplied by ``decay_rate`` when a loss, given to ``step``, gets no better.

    Args:
        learning_rate: the first rate.
        mode: whether smaller losses ("min") or larger ones ("max") are better.
        decay_rate: what the rate is multiplied by.
        patience: how many losses in a row may be no better.
        verbose: print when the rate changes.
        threshold: how much better a loss must be than the best one.
        threshold_mode: whether that is a share of the best one ("rel"), or a difference ("abs").
        cooldown: how many losses are not counted after a change.
        min_lr: the least rate.
        eps: changes that are not larger are not made.
        dtype: element type of the rate.

    >>> rate = fluid.dygraph.ReduceLROnPlateau(1.0, decay_rate=0.5, patience=0)
    >>> rate.step(3.0)
    >>> rate.step(4.0)
    >>> float(rate())
    0.5
    """

    _KEPT = ("cooldown_counter", "best_loss", "num_bad_epochs", "epoch_num", "learning_rate")

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        decay_rate: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        threshold: float = 0.0001,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        eps: float = 1e-08,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        for what, value, known in (
            ("mode", mode, ("min", "max")),
            ("threshold_mode", threshold_mode, ("rel", "abs")),
        ):
            if value not in known:
                raise ArgumentError(f"expected {what} '{known[0]}' or '{known[1]}', got {value!r}")
        if not 0 <= _finite(self, "decay_rate", decay_rate) < 1:
            raise ArgumentError(f"expected decay_rate in [0, 1), got {decay_rate}")
        self.mode, self.threshold_mode = mode, threshold_mode
        self.decay_rate = float(decay_rate)
        self.patience, self.cooldown, self.verbose = patience, cooldown, verbose
        self.threshold = _finite(self, "threshold", threshold)
        self.min_lr = _finite(self, "min_lr", min_lr)
        self.eps = _finite(self, "eps", eps)
        self.learning_rate = _finite(self, "learning_rate", learning_rate)
        self.best_loss: float | None = None
        self.cooldown_counter = self.num_bad_epochs = self.epoch_num = 0

    def __call__(self) -> Any:
        return self.as_tensor(self.learning_rate)

    def current(self) -> float:
        return self.learning_rate

    def step(self, loss: Any = None) -> None:
        """Look whether a loss is better than the best one.

        Args:
            loss: a number, or a tensor of one element.

        Raises:
            ArgumentError: it is something else.
        """
        value = self.number(loss)
        self.epoch_num += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best_loss is None or self._is_better(value, self.best_loss):
            self.best_loss = value
            self.num_bad_epochs = 0
            return
        self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
            rate = max(self.learning_rate * self.decay_rate, self.min_lr)
            if self.learning_rate - rate > self.eps:
                self.learning_rate = rate
                if self.verbose:
                    print(f"epoch {self.epoch_num}: the learning rate is {rate} from now on")

    def _is_better(self, loss: float, best: float) -> bool:
        much = abs(best) * self.threshold if self.threshold_mode == "rel" else self.threshold
        return loss < best - much if self.mode == "min" else loss > best + much

    def state_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._KEPT}

    def restore(self, kept: Mapping[str, Any]) -> None:
        for name in self._KEPT:
            setattr(self, name, kept[name])
