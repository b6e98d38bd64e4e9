"""Rates that rise and fall."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import ClassVar

from ...errors import ArgumentError
from ...layers.decay import finite, positive
from .scheduler import SCHEDULERS, LRScheduler, a_function, count, within


def _cosine(start: float, end: float, share: float) -> float:
    """Half a wave from one number to another."""
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


def _line(start: float, end: float, share: float) -> float:
    return start + (end - start) * share


_WAYS = {"cos": _cosine, "linear": _line}


@SCHEDULERS
class CosineAnnealingDecay(LRScheduler):
    """A rate that falls and rises again as a cosine.

    Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, ICLR 2017.

    Args:
        T_max: after how many epochs it is ``eta_min``.

    >>> rate = fluid.optimizer.lr.CosineAnnealingDecay(1.0, T_max=2)
    >>> rate.step()
    >>> rate()
    0.5
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_max = count(self, "T_max", T_max)
        self.eta_min = finite(self, "eta_min", eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return _cosine(self.base_lr, self.eta_min, self.last_epoch / self.T_max)


@SCHEDULERS
class CosineAnnealingWarmRestarts(LRScheduler):
    """A rate that falls as a cosine and begins again.

    Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, ICLR 2017.

    Args:
        T_0: how many epochs the first fall takes.
        T_mult: how many times as many each fall takes as the one before; a whole number.
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_0, self.T_mult = count(self, "T_0", T_0), count(self, "T_mult", T_mult)
        self.eta_min = finite(self, "eta_min", eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, fall = self.last_epoch, self.T_0
        if self.T_mult == 1:
            epoch %= fall
        while epoch >= fall:
            epoch, fall = epoch - fall, fall * self.T_mult
        return _cosine(self.base_lr, self.eta_min, epoch / fall)


@SCHEDULERS
class OneCycleLR(LRScheduler):
    """A rate that rises to ``max_learning_rate`` and falls far below where it began.

    Smith and Topin, Super-convergence, 2017.

    Args:
        total_steps: how many epochs there are.
        divide_factor: the first rate is the largest one divided by this.
        end_learning_rate: the last rate.
        phase_pct: the share of the epochs in which the rate rises.
        anneal_strategy: cos or linear.
        three_phase: fall to the first rate in as many epochs as it rises, then to the last one.

    Raises:
        ArgumentError: an argument is out of range, or ``step`` is called after the last epoch.
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.max_learning_rate = finite(self, "max_learning_rate", max_learning_rate)
        self.total_steps = count(self, "total_steps", total_steps)
        self.divide_factor = positive(self, "divide_factor", divide_factor)
        self.end_learning_rate = finite(self, "end_learning_rate", end_learning_rate)
        self.phase_pct = within(self, "phase_pct", phase_pct, 0.5 if three_phase else 1.0)
        if anneal_strategy not in _WAYS:
            raise ArgumentError(
                f"OneCycleLR: expected anneal_strategy cos or linear, got {anneal_strategy!r:.60}"
            )
        self.anneal_strategy, self.three_phase = anneal_strategy, bool(three_phase)
        super().__init__(self.max_learning_rate / self.divide_factor, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, total, first = self.last_epoch, self.total_steps, self.base_lr
        if epoch > total:
            raise ArgumentError(
                f"OneCycleLR: expected at most total_steps={total} steps, this is number {epoch}"
            )
        rises = self.phase_pct * total
        turns: Sequence[tuple[float, float]] = [(0.0, first), (rises - 1, self.max_learning_rate)]
        if self.three_phase:
            turns = [*turns, (2 * rises - 2, first)]
        turns = [*turns, (total - 1, self.end_learning_rate)]
        for (begin, start), (stop, end) in pairwise(turns):
            if epoch <= stop or stop == total - 1:
                share = (epoch - begin) / (stop - begin)
                return _WAYS[self.anneal_strategy](start, end, share)
        return self.end_learning_rate


@SCHEDULERS
class CyclicLR(LRScheduler):
    """A rate that goes up and down on lines.

    Smith, Cyclical learning rates for training neural networks, WACV 2017.

    Args:
        base_learning_rate: the least rate.
        step_size_up: how many epochs it rises.
        step_size_down: how many epochs it falls; as many when None.
        mode: how high it rises: triangular: always as high; triangular2: half as high in each
            cycle as in that before; exp_range: as high as ``exp_gamma`` to the number of the epoch.
        exp_gamma: of exp_range.
        scale_fn: a function that gives how high, in the place of ``mode``.
        scale_mode: what it is given: the number of the cycle, from 1 on ("cycle"), or that of the
            epoch ("iterations").
    """

    _shown = "base_learning_rate=base_lr last_epoch=last_epoch"

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[int], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.max_learning_rate = finite(self, "max_learning_rate", max_learning_rate)
        self.step_size_up = count(self, "step_size_up", step_size_up)
        down = step_size_up if step_size_down is None else step_size_down
        self.step_size_down = count(self, "step_size_down", down)
        self.exp_gamma = finite(self, "exp_gamma", exp_gamma)
        for what, given, known in (
            ("mode", mode, tuple(self._modes)),
            ("scale_mode", scale_mode, ("cycle", "iterations")),
        ):
            if given not in known:
                raise ArgumentError(
                    f"CyclicLR: expected {what} one of {', '.join(known)}, got {given!r:.60}"
                )
        self.mode, self.scale_mode = mode, scale_mode if scale_fn else self._modes[mode]
        self.scale_fn = None if scale_fn is None else a_function(self, "scale_fn", scale_fn)
        super().__init__(base_learning_rate, last_epoch, verbose)

    #: what the height depends on
    _modes: ClassVar[dict[str, str]] = {
        "triangular": "cycle",
        "triangular2": "cycle",
        "exp_range": "iterations",
    }

    def _height(self, number: int) -> float:
        if self.scale_fn is not None:
            return self.scale_fn(number)
        if self.mode == "exp_range":
            return float(self.exp_gamma**number)
        return float(0.5 ** (number - 1)) if self.mode == "triangular2" else 1.0

    def get_lr(self) -> float:
        up, down = self.step_size_up, self.step_size_down
        cycles, at = divmod(self.last_epoch, up + down)
        share = at / up if at <= up else (up + down - at) / down
        height = self._height(cycles + 1 if self.scale_mode == "cycle" else self.last_epoch)
        return self.base_lr + (self.max_learning_rate - self.base_lr) * share * height
