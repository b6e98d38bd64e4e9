"""Rates that fall from epoch to epoch, and a warm-up before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, ClassVar

from ... import schedules
from ...errors import ArgumentError
from ...ground.arguments import a_function, finite, numbers, positive, rising, within
from ...ground.callsite import warn
from ...schedules import FirstRate
from .scheduler import Epochs, LRScheduler, ReduceOnPlateau, scheduler


@scheduler
class NoamDecay(LRScheduler):
    d_model: float
    warmup_steps: int
    learning_rate: float = 1.0
    last_epoch: int = -1
    verbose: bool = False
    checks: ClassVar[Mapping[str, Any]] = {"d_model": positive}
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.noam)

    def get_lr(self) -> float:
        return super().get_lr() if self.last_epoch else 0.0


@scheduler
class PiecewiseDecay(Epochs, schedules.Piecewise):
    """
    >>> rate = fluid.optimizer.lr.PiecewiseDecay([1, 2], [0.3, 0.2, 0.1])
    >>> rate.step()
    >>> rate()
    0.2
    """

    checks: ClassVar[Mapping[str, Any]] = {"boundaries": numbers, "values": numbers}

    def start(self) -> None:
        if len(self.values) != len(self.boundaries) + 1:
            raise ArgumentError(
                f"PiecewiseDecay: expected {len(self.boundaries) + 1} values, one more than "
                f"boundaries, got {len(self.values)}"
            )
        if any(a >= b for a, b in pairwise(self.boundaries)):
            came = list(self.boundaries)
            warn(f"PiecewiseDecay: expected boundaries in ascending order, got {came}", None)
        self.learning_rate: Any = self.values[0]
        super().start()


@scheduler
class NaturalExpDecay(Epochs, schedules.Exponential, FirstRate):
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.natural_exponential)


@scheduler
class InverseTimeDecay(Epochs, schedules.Exponential, FirstRate):
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.inverse_time)


@scheduler
class ExponentialDecay(Epochs, schedules.Exponential, FirstRate):
    checks: ClassVar[Mapping[str, Any]] = {"gamma": within}


@scheduler
class PolynomialDecay(LRScheduler):
    learning_rate: float
    decay_steps: int
    end_lr: float = 0.0001
    power: float = 1.0
    cycle: bool = False
    last_epoch: int = -1
    verbose: bool = False
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.polynomial)
    checks: ClassVar[Mapping[str, Any]] = {"power": positive}


@scheduler
class MultiStepDecay(Epochs, schedules.Milestones, FirstRate):
    checks: ClassVar[Mapping[str, Any]] = {"milestones": rising, "gamma": within}


@scheduler
class StepDecay(Epochs, schedules.Stairs, FirstRate):
    """
    >>> rate = fluid.optimizer.lr.StepDecay(1.0, step_size=1, gamma=0.5)
    >>> rate.step()
    >>> rate()
    0.5
    """

    checks: ClassVar[Mapping[str, Any]] = {"gamma": within}


@scheduler
class LambdaDecay(Epochs, schedules.OfFunction, FirstRate):
    checks: ClassVar[Mapping[str, Any]] = {"lr_lambda": a_function}


@scheduler
class MultiplicativeDecay(LambdaDecay):
    formula: ClassVar[Callable[..., Any]] = staticmethod(schedules.by_functions)


@scheduler
class LinearLR(LRScheduler):
    """A rate whose factor moves on a line from ``start_factor`` to ``end_factor``.

    Args:
        total_steps: how many epochs it moves.
        start_factor: of the first epoch.
        end_factor: of what follows the last one.
    """

    learning_rate: float
    total_steps: int
    start_factor: float = 1.0 / 3
    end_factor: float = 1.0
    last_epoch: int = -1
    verbose: bool = False
    checks: ClassVar[Mapping[str, Any]] = {"start_factor": within}

    def start(self) -> None:
        if not 0 <= self.end_factor <= 1:
            raise ArgumentError(f"LinearLR: expected end_factor in [0, 1], got {self.end_factor}")
        super().start()

    def get_lr(self) -> float:
        epoch, steps, start = self.last_epoch, self.total_steps, self.start_factor
        if epoch == 0:
            return self.base_lr * start
        if epoch > steps:
            return self.last_lr
        way = self.end_factor - start
        return self.last_lr * (1.0 + way / (steps * start + (epoch - 1) * way))


@scheduler
class LinearWarmup(LRScheduler):
    """A rate that grows on a line from ``start_lr`` to ``end_lr``, and then is another one.

    Args:
        learning_rate: what follows: a number, or a scheduler, whose epochs begin then;
            ``ReduceOnPlateau`` is given their numbers.
        warmup_steps: how many epochs it grows.
        start_lr, end_lr: the first rate, and that after these epochs.

    >>> after = fluid.optimizer.lr.StepDecay(0.4, 10)
    >>> rate = fluid.optimizer.lr.LinearWarmup(after, warmup_steps=4, start_lr=0.0, end_lr=0.4)
    >>> rate.step()
    >>> rate()
    0.1
    """

    learning_rate: float | LRScheduler | ReduceOnPlateau
    warmup_steps: int
    start_lr: float
    end_lr: float
    last_epoch: int = -1
    verbose: bool = False
    _shown = "learning_rate=_after last_epoch=last_epoch"

    def start(self) -> None:
        if self.end_lr <= self.start_lr:
            raise ArgumentError(
                f"LinearWarmup: expected end_lr above {self.start_lr}, got {self.end_lr}"
            )
        if not isinstance(self.learning_rate, _SCHEDULERS):
            finite(self, "learning_rate", self.learning_rate)
        self._after, self.learning_rate = self.learning_rate, self.start_lr
        super().start()

    def get_lr(self) -> float:
        epoch, after = self.last_epoch, self._after
        if epoch < self.warmup_steps:
            return float(schedules.line(self.start_lr, self.end_lr, epoch / self.warmup_steps))
        if isinstance(after, _SCHEDULERS):
            after.step(epoch - self.warmup_steps)
            return after()
        return finite(self, "learning_rate", after)

    def state_dict(self) -> dict[str, Any]:
        after = self._after
        more = {_AFTER: after.state_dict()} if isinstance(after, _SCHEDULERS) else {}
        return {**super().state_dict(), **more}

    def restore(self, kept: Mapping[str, Any]) -> None:
        super().restore(kept)
        if isinstance(self._after, _SCHEDULERS) and _AFTER in kept:
            self._after.set_state_dict(kept[_AFTER])


_SCHEDULERS = LRScheduler, ReduceOnPlateau
_AFTER = "LinearWarmup_LR"  # the key of what follows, as in paddle 2's states
