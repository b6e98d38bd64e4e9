"""Rates that fall from epoch to epoch, and a warm-up before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ... import schedules
from ...errors import ArgumentError
from ...ground.fields import from_fields
from ...layers.decay import finite, positive
from .scheduler import SCHEDULERS, LRScheduler, a_function, numbers, rising, within


@SCHEDULERS
@from_fields
class NoamDecay(LRScheduler):
    """A rate that grows for ``warmup_steps`` epochs and then falls with the root of their number.

    Vaswani et al., Attention is all you need, NIPS 2017.

    Args:
        d_model: elements of a position; the rate falls with its root.
        warmup_steps: how many epochs it grows.
    """

    d_model: int
    warmup_steps: int
    learning_rate: float = 1.0
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.noam)

    def get_lr(self) -> float:
        return super().get_lr() if self.last_epoch else 0.0


@SCHEDULERS
@from_fields
class PiecewiseDecay(LRScheduler):
    """A rate that is constant between some epochs.

    Args:
        boundaries: the epochs from which on the next value counts.
        values: the rates, one more.

    >>> rate = fluid.optimizer.lr.PiecewiseDecay([1, 2], [0.3, 0.2, 0.1])
    >>> rate.step()
    >>> rate()
    0.2
    """

    boundaries: Sequence[int]
    values: Sequence[float]
    last_epoch: int = -1
    verbose: bool = False
    checks: ClassVar = {"boundaries": rising, "values": numbers}

    def start(self) -> None:
        if len(self.values) != len(self.boundaries) + 1:
            raise ArgumentError(
                f"PiecewiseDecay: expected {len(self.boundaries) + 1} values, one more than "
                f"boundaries, got {len(self.values)}"
            )
        self.learning_rate = self.values[0]
        super().start()

    def get_lr(self) -> float:
        return schedules.pieces(self.last_epoch, self.boundaries, self.values)


@SCHEDULERS
@from_fields
class NaturalExpDecay(LRScheduler):
    """``learning_rate * e^(-gamma epoch)``."""

    learning_rate: float
    gamma: float
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.natural_exponential)


@SCHEDULERS
@from_fields
class InverseTimeDecay(LRScheduler):
    """``learning_rate / (1 + gamma epoch)``."""

    learning_rate: float
    gamma: float
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.inverse_time)


@SCHEDULERS
@from_fields
class ExponentialDecay(LRScheduler):
    """``learning_rate * gamma^epoch``."""

    learning_rate: float
    gamma: float
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.exponential)
    checks: ClassVar = {"gamma": within}


@SCHEDULERS
@from_fields
class PolynomialDecay(LRScheduler):
    """A rate that falls from ``learning_rate`` to ``end_lr``, by a power of what is left of
    ``decay_steps`` epochs.

    Args:
        decay_steps: how many epochs it falls.
        end_lr: the last rate.
        power: 1 for a line.
        cycle: begin again, with as many more epochs, whenever they are over.
    """

    learning_rate: float
    decay_steps: int
    end_lr: float = 0.0001
    power: float = 1.0
    cycle: bool = False
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.polynomial)
    checks: ClassVar = {"power": positive}


@SCHEDULERS
@from_fields
class MultiStepDecay(LRScheduler):
    """A rate that is multiplied by ``gamma`` at some epochs.

    Args:
        milestones: the epochs, in order.
    """

    learning_rate: float
    milestones: Sequence[int]
    gamma: float = 0.1
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.at_milestones)
    checks: ClassVar = {"milestones": rising, "gamma": within}


@SCHEDULERS
@from_fields
class StepDecay(LRScheduler):
    """A rate that is multiplied by ``gamma`` every ``step_size`` epochs.

    Args:
        step_size: how many epochs it stays.

    >>> rate = fluid.optimizer.lr.StepDecay(1.0, step_size=1, gamma=0.5)
    >>> rate.step()
    >>> rate()
    0.5
    """

    learning_rate: float
    step_size: int
    gamma: float = 0.1
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.stairs)
    checks: ClassVar = {"gamma": within}


@SCHEDULERS
@from_fields
class LambdaDecay(LRScheduler):
    """``learning_rate * lr_lambda(epoch)``.

    Args:
        lr_lambda: a function of the number of the epoch.
    """

    learning_rate: float
    lr_lambda: Callable[[int], float]
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.by_function)
    checks: ClassVar = {"lr_lambda": a_function}


@SCHEDULERS
@from_fields
class MultiplicativeDecay(LRScheduler):
    """``learning_rate * lr_lambda(1) * ... * lr_lambda(epoch)``.

    Args:
        lr_lambda: a function of the number of an epoch.
    """

    learning_rate: float
    lr_lambda: Callable[[int], float]
    last_epoch: int = -1
    verbose: bool = False
    formula = staticmethod(schedules.by_functions)
    checks: ClassVar = {"lr_lambda": a_function}


@SCHEDULERS
@from_fields
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
    checks: ClassVar = {"start_factor": within}

    def start(self) -> None:
        if not 0 <= self.end_factor <= 1:
            raise ArgumentError(f"LinearLR: expected end_factor in [0, 1], got {self.end_factor}")
        super().start()

    def get_lr(self) -> float:
        factors = (self.start_factor, self.end_factor)
        return schedules.along_line(self.base_lr, self.last_epoch, *factors, self.total_steps)


@SCHEDULERS
@from_fields
class LinearWarmup(LRScheduler):
    """A rate that grows on a line from ``start_lr`` to ``end_lr``, and then is another one.

    Args:
        learning_rate: what follows: a number, or a scheduler, whose epochs begin then.
        warmup_steps: how many epochs it grows.
        start_lr, end_lr: the first rate, and that after these epochs.

    >>> after = fluid.optimizer.lr.StepDecay(0.4, 10)
    >>> rate = fluid.optimizer.lr.LinearWarmup(after, warmup_steps=4, start_lr=0.0, end_lr=0.4)
    >>> rate.step()
    >>> rate()
    0.1
    """

    learning_rate: float | LRScheduler
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
        self._after, self.learning_rate = self.learning_rate, self.start_lr
        super().start()

    def get_lr(self) -> float:
        epoch, after = self.last_epoch, self._after
        if epoch < self.warmup_steps:
            return float(schedules.line(self.start_lr, self.end_lr, epoch / self.warmup_steps))
        if isinstance(after, LRScheduler):
            after.step(epoch - self.warmup_steps)
            return after()
        return finite(self, "learning_rate", after)

    def state_dict(self) -> dict[str, Any]:
        after = self._after
        more = {_AFTER: after.state_dict()} if isinstance(after, LRScheduler) else {}
        return {**super().state_dict(), **more}

    def restore(self, kept: Mapping[str, Any]) -> None:
        super().restore(kept)
        if isinstance(self._after, LRScheduler) and _AFTER in kept:
            self._after.set_state_dict(kept[_AFTER])


_AFTER = "LinearWarmup_LR"  # the key of what follows, as in paddle 2's states
