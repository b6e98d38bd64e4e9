"""Learning rates that follow what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import schedules
from ...eager.engine import located
from ...errors import ArgumentError
from ...ground.fields import from_fields
from .optimizer import Optimizer
from .rates import SetsRates


@schedules.PLATEAU
@from_fields
class ReduceLROnPlateau(SetsRates):
    """The rate times a factor when a value has not become better for some steps.

    >>> w = fluid.flow.zeros(1, requires_grad=True)
    >>> sgd = fluid.flow.optim.SGD([w], lr=1.0)
    >>> rates = fluid.flow.optim.lr_scheduler.ReduceLROnPlateau(sgd, patience=0)
    >>> for loss in (3.0, 4.0):
    ...     rates.step(loss)
    >>> rates.get_last_lr()
    [0.1]
    """

    optimizer: Optimizer
    mode: str = "min"
    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    threshold_mode: str = "rel"
    cooldown: int = 0
    min_lr: float | Sequence[float] = 0
    eps: float = 1e-8
    verbose: bool = False

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the arguments."""
        mode, threshold_mode, factor = given["mode"], given["threshold_mode"], given["factor"]
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise located(
                ArgumentError,
                f"expected mode 'min' or 'max' and threshold_mode 'rel' or 'abs', got "
                f"{mode!r:.60} and {threshold_mode!r:.60}",
            )
        if factor >= 1.0:
            raise located(ArgumentError, f"expected a factor below 1, got {factor!r:.60}")
        least, groups = given.pop("min_lr"), len(given["optimizer"].param_groups)
        vars(self).update(given)
        self.min_lrs: list[Any] = (
            list(least) if isinstance(least, (list, tuple)) else [least] * groups
        )
        self.last_step: int = 0
        self.mode_worse: float = math.inf if mode == "min" else -math.inf
        self.best: float = self.mode_worse
        self.num_bad_steps: int = 0
        self.cooldown_counter: int = 0
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def step(self, metrics: Any) -> None:
        """Look at a value, and perhaps lower the rates."""
        value = float(metrics)
        self.last_step += 1
        better = self.is_better(value, self.best)
        self.best = value if better else self.best
        self.num_bad_steps = 0 if better else self.num_bad_steps + 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_steps = 0
        if self.num_bad_steps > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_steps = self.cooldown, 0
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _reduce(self) -> None:
        for k, (group, least) in enumerate(zip(self.optimizer.param_groups, self.min_lrs)):
            rate = max(group["lr"] * self.factor, least)
            if group["lr"] - rate > self.eps:
                group["lr"] = rate
                if self.verbose:
                    print(f"step {self.last_step}: learning rate of group {k} is {rate:.6g}")

    def is_better(self, a: float, best: float) -> bool:
        """Whether a value is better than the best one before."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * a > sign * best + self.threshold
        return sign * a > sign * best * (1 + sign * self.threshold)

    def in_cooldown(self) -> bool:
        """Whether steps are not counted now."""
        return self.cooldown_counter > 0
