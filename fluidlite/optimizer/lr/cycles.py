"""Rates that rise and fall."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

from ... import schedules
from ...errors import ArgumentError
from ...ground.aliases import Alias
from ...ground.arguments import a_function, count, integer, one_of, or_none, positive, within
from ...schedules import FirstRate
from .scheduler import Epochs, LRScheduler, scheduler

_WAYS: dict[str, Callable[[float, float, float], Any]] = {
    "cos": lambda start, end, share: schedules.annealed(start, share, 1, end),
    "linear": schedules.line,
}


@scheduler
class CosineAnnealingDecay(Epochs, schedules.Annealed, FirstRate):
    """
    >>> rate = fluid.optimizer.lr.CosineAnnealingDecay(1.0, T_max=2)
    >>> rate.step()
    >>> rate()
    0.5
    """

    def get_lr(self) -> float:
        epoch, least = self.last_epoch, self.eta_min
        if epoch == 0:
            return self.base_lr
        if (epoch - 1) % (2 * self.T_max) == self.T_max:  # it rises again from the least one
            height = self.base_lr - least
            return self.last_lr + float(schedules.cosine(height, self.T_max - 1, self.T_max))
        now, before = (1 + math.cos(math.pi * n / self.T_max) for n in (epoch, epoch - 1))
        return now / before * (self.last_lr - least) + least

    def rate_of_epoch(self) -> float:
        return super().get_lr()


@scheduler
class CosineAnnealingWarmRestarts(Epochs, schedules.Restarted, FirstRate):
    checks: ClassVar[Mapping[str, Any]] = {"T_0": integer, "T_mult": integer}

    @property
    def T_i(self) -> int:
        """How many epochs the fall takes that goes on."""
        return self._fall()[1]

    @property
    def T_cur(self) -> int:
        """How many of them have passed."""
        return self._fall()[0]

    def _fall(self) -> tuple[int, int]:
        passed, length = self.last_epoch, self.T_0
        while passed >= length:
            passed, length = passed - length, length * self.T_mult
        return passed, length


@scheduler
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

    max_learning_rate: float
    total_steps: int
    divide_factor: float = 25.0
    end_learning_rate: float = 0.0001
    phase_pct: float = 0.3
    anneal_strategy: str = "cos"
    three_phase: bool = False
    last_epoch: int = -1
    verbose: bool = False
    checks: ClassVar[Mapping[str, Any]] = {
        "divide_factor": positive,
        "anneal_strategy": one_of(*_WAYS),
        "phase_pct": within,
    }

    def start(self) -> None:
        within(self, "phase_pct", self.phase_pct, 0.5 if self.three_phase else 1.0)
        self.learning_rate: Any = self.max_learning_rate / self.divide_factor
        super().start()

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


@scheduler
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
        scale_fn: a function that gives how high, in place of ``mode``.
        scale_mode: what it is given: the number of the cycle, from 1 on ("cycle"), or that of the
            epoch ("iterations").
    """

    base_learning_rate: float
    max_learning_rate: float
    step_size_up: int
    step_size_down: int | None = None
    mode: str = "triangular"
    exp_gamma: float = 1.0
    scale_fn: Callable[[int], float] | None = None
    scale_mode: str = "cycle"
    last_epoch: int = -1
    verbose: bool = False
    #: what the height depends on
    _modes: ClassVar[dict[str, str]] = {
        "triangular": "cycle",
        "triangular2": "cycle",
        "exp_range": "iterations",
    }
    checks: ClassVar[Mapping[str, Any]] = {
        "step_size_down": or_none(count),
        "mode": one_of(*_modes),
        "scale_fn": or_none(a_function),
        "scale_mode": one_of("cycle", "iterations"),
    }

    def start(self) -> None:
        self.step_size_down = self.step_size_down or self.step_size_up
        if self.max_learning_rate < 0:
            raise ArgumentError(
                f"CyclicLR: expected max_learning_rate of at least 0, got {self.max_learning_rate}"
            )
        if self.scale_fn is None:
            self.scale_mode = self._modes[self.mode]
        self.learning_rate: Any = self.base_learning_rate
        super().start()

    max_lr: ClassVar[Alias[float]] = Alias("max_learning_rate", "The largest rate.", written=True)
    gamma: ClassVar[Alias[float]] = Alias("exp_gamma", "The base of exp_range.", written=True)

    @property
    def amplitude(self) -> float:
        """How much larger the largest rate is than the least one."""
        return self.max_learning_rate - self.base_lr

    @property
    def cycle_size(self) -> int:
        """How many epochs a cycle takes."""
        return self.step_size_up + (self.step_size_down or 0)

    @property
    def step_up_pct(self) -> float:
        """The share of a cycle in which the rate rises."""
        return self.step_size_up / self.cycle_size

    def _height(self, number: int) -> float:
        if self.scale_fn is not None:
            return self.scale_fn(number)
        if self.mode == "exp_range":
            return float(self.exp_gamma**number)
        return float(0.5 ** (number - 1)) if self.mode == "triangular2" else 1.0

    def get_lr(self) -> float:
        steps, rising = self.cycle_size, self.step_up_pct
        cycle = 1 + self.last_epoch // steps
        passed = 1.0 + self.last_epoch / steps - cycle
        share = passed / rising if passed <= rising else (1 - passed) / (1 - rising)
        height = self._height(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return self.base_lr + self.amplitude * share * height
