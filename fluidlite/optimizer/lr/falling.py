"""Rates that fall from epoch to epoch, and a warm-up before them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import ArgumentError
from ...layers.decay import finite, positive
from .scheduler import SCHEDULERS, LRScheduler, a_function, count, rising, within


@SCHEDULERS
class NoamDecay(LRScheduler):
    """A rate that grows for ``warmup_steps`` epochs and then falls with the root of their number.

    Vaswani et al., Attention is all you need, NIPS 2017.

    Args:
        d_model: elements of a position; the rate falls with its root.
        warmup_steps: how many epochs it grows.
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.d_model = count(self, "d_model", d_model)
        self.warmup_steps = count(self, "warmup_steps", warmup_steps)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        falls = max(self.last_epoch, 1) ** -0.5
        least = min(falls, self.last_epoch * self.warmup_steps**-1.5)
        return self.base_lr * self.d_model**-0.5 * float(least)


@SCHEDULERS
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

    def __init__(
        self,
        boundaries: Sequence[int],
        values: Sequence[float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.boundaries = rising(self, "boundaries", boundaries)
        self.values = [finite(self, "one of values", value) for value in values]
        if len(self.values) != len(self.boundaries) + 1:
            raise ArgumentError(
                f"PiecewiseDecay: expected {len(self.boundaries) + 1} values, one more than "
                f"boundaries, got {len(self.values)}"
            )
        super().__init__(self.values[0], last_epoch, verbose)

    def get_lr(self) -> float:
        return self.values[bisect_right(self.boundaries, self.last_epoch)]


class _ByGamma(LRScheduler):
    """A rate that a number and that of the epoch give."""

    def __init__(
        self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.gamma = self._checked(gamma)
        super().__init__(learning_rate, last_epoch, verbose)

    def _checked(self, gamma: float) -> float:
        return finite(self, "gamma", gamma)


@SCHEDULERS
class NaturalExpDecay(_ByGamma):
    """``learning_rate * e^(-gamma epoch)``."""

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


@SCHEDULERS
class InverseTimeDecay(_ByGamma):
    """``learning_rate / (1 + gamma epoch)``."""

    def get_lr(self) -> float:
        return self.base_lr / (1 + self.gamma * self.last_epoch)


@SCHEDULERS
class ExponentialDecay(_ByGamma):
    """``learning_rate * gamma^epoch``."""

    def _checked(self, gamma: float) -> float:
        return within(self, "gamma", gamma)

    def get_lr(self) -> float:
        return float(self.base_lr * self.gamma**self.last_epoch)


@SCHEDULERS
class PolynomialDecay(LRScheduler):
    """A rate that falls from ``learning_rate`` to ``end_lr``, by a power of what is left of
    ``decay_steps`` epochs.

    Args:
        decay_steps: how many epochs it falls.
        end_lr: the last rate.
        power: 1 for a line.
        cycle: begin again, with as many more epochs, whenever they are over.
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.decay_steps = count(self, "decay_steps", decay_steps)
        self.end_lr = finite(self, "end_lr", end_lr)
        self.power = positive(self, "power", power)
        self.cycle = bool(cycle)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps *= max(math.ceil(epoch / steps), 1)
        left = 1 - min(epoch, steps) / steps
        return float((self.base_lr - self.end_lr) * left**self.power + self.end_lr)


@SCHEDULERS
class MultiStepDecay(LRScheduler):
    """A rate that is multiplied by ``gamma`` at some epochs.

    Args:
        milestones: the epochs, in order.
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.milestones = rising(self, "milestones", milestones)
        self.gamma = within(self, "gamma", gamma)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return float(self.base_lr * self.gamma ** bisect_right(self.milestones, self.last_epoch))


@SCHEDULERS
class StepDecay(LRScheduler):
    """A rate that is multiplied by ``gamma`` every ``step_size`` epochs.

    Args:
        step_size: how many epochs it stays.

    >>> rate = fluid.optimizer.lr.StepDecay(1.0, step_size=1, gamma=0.5)
    >>> rate.step()
    >>> rate()
    0.5
    """

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self._every = count(self, "step_size", step_size)
        self.gamma = within(self, "gamma", gamma)
        super().__init__(learning_rate, last_epoch, verbose)
        self.step_size = self._every

    def get_lr(self) -> float:
        return float(self.base_lr * self.gamma ** (self.last_epoch // self._every))


class _ByFunction(LRScheduler):
    """A rate that a function of the epoch's number gives."""

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.lr_lambda = a_function(self, "lr_lambda", lr_lambda)
        super().__init__(learning_rate, last_epoch, verbose)


@SCHEDULERS
class LambdaDecay(_ByFunction):
    """``learning_rate * lr_lambda(epoch)``.

    Args:
        lr_lambda: a function of the number of the epoch.
    """

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


@SCHEDULERS
class MultiplicativeDecay(_ByFunction):
    """``learning_rate * lr_lambda(1) * ... * lr_lambda(epoch)``.

    Args:
        lr_lambda: a function of the number of an epoch.
    """

    def get_lr(self) -> float:
        return self.base_lr * math.prod(map(self.lr_lambda, range(1, self.last_epoch + 1)))


@SCHEDULERS
class LinearLR(LRScheduler):
    """A rate whose factor moves on a line from ``start_factor`` to ``end_factor``.

    Args:
        total_steps: how many epochs it moves.
        start_factor: of the first epoch.
        end_factor: of what follows the last one.
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.total_steps = count(self, "total_steps", total_steps)
        self.start_factor = within(self, "start_factor", start_factor)
        self.end_factor = finite(self, "end_factor", end_factor)
        if not 0 <= self.end_factor <= 1:
            raise ArgumentError(f"LinearLR: expected end_factor in [0, 1], got {end_factor}")
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        share = min(self.last_epoch, self.total_steps) / self.total_steps
        return self.base_lr * (self.start_factor + (self.end_factor - self.start_factor) * share)


@SCHEDULERS
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

    _shown = "learning_rate=_after last_epoch=last_epoch"

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self._after = learning_rate
        self.warmup_steps = count(self, "warmup_steps", warmup_steps)
        self.start_lr = finite(self, "start_lr", start_lr)
        self.end_lr = finite(self, "end_lr", end_lr)
        if self.end_lr <= self.start_lr:
            raise ArgumentError(f"LinearWarmup: expected end_lr above {start_lr}, got {end_lr}")
        super().__init__(self.start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, after = self.last_epoch, self._after
        if epoch < self.warmup_steps:
            return self.start_lr + (self.end_lr - self.start_lr) * epoch / self.warmup_steps
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
