"""Learning rates that change from epoch to epoch, or when a loss gets no better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from .. import schedules
from ..errors import ArgumentError
from .decay import DECAYS, LearningRateDecay, finite, positive


@DECAYS
class EpochDecay(LearningRateDecay):
    """The base of rates that change from epoch to epoch, whenever ``epoch()`` is called."""

    _shown = "step_num=step_num"

    counts_steps: ClassVar[bool] = False
    kept: ClassVar[Mapping[str, str]] = {
        "epoch_num": "epoch_num",
        "learning_rate": "learning_rate",
    }

    def __init__(self, learning_rate: float, dtype: Any = "float32") -> None:
        super().__init__(dtype=dtype)
        self.base_lr = finite(self, "learning_rate", learning_rate)
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


@DECAYS
class StepDecay(EpochDecay):
    """``learning_rate * decay_rate^floor(epoch / step_size)``.

    Args:
        step_size: how many epochs it stays.
        decay_rate: what it is multiplied by then.

    >>> rate = fluid.dygraph.StepDecay(1.0, step_size=1, decay_rate=0.5)
    >>> rate.epoch()
    >>> float(rate())
    0.5
    """

    def __init__(self, learning_rate: float, step_size: int, decay_rate: float = 0.1) -> None:
        super().__init__(learning_rate)
        self.step_size = int(positive(self, "step_size", step_size))
        self.decay_rate = finite(self, "decay_rate", decay_rate)

    def get_lr(self) -> float:
        return schedules.stairs(self.base_lr, self.epoch_num, self.step_size, self.decay_rate)


@DECAYS
class MultiStepDecay(EpochDecay):
    """A rate that is multiplied by ``decay_rate`` at some epochs.

    Args:
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
        self.milestones = [int(finite(self, "a milestone", m)) for m in milestones]
        if sorted(set(self.milestones)) != self.milestones:
            raise ArgumentError(
                f"MultiStepDecay: expected milestones that grow, got {milestones!r:.60}"
            )
        self.decay_rate = finite(self, "decay_rate", decay_rate)

    def get_lr(self) -> float:
        steps = (self.epoch_num, self.milestones)
        return schedules.at_milestones(self.base_lr, *steps, self.decay_rate)


@DECAYS
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
        return schedules.by_function(self.base_lr, self.epoch_num, self.lr_lambda)


@DECAYS
class ReduceLROnPlateau(LearningRateDecay):
    """A rate that is multiplied by ``decay_rate`` when a loss, given to ``step``, gets no better.

    Args:
        mode: whether smaller losses ("min") or larger ones ("max") are better.
        decay_rate: what the rate is multiplied by.
        patience: how many losses in a row may be no better.
        verbose: print when the rate changes.
        threshold: how much better a loss must be than the best one.
        threshold_mode: whether that is a share of the best one ("rel"), or a difference ("abs").
        cooldown: how many losses are not counted after a change.
        min_lr: the least rate.
        eps: changes that are not larger are not made.

    >>> rate = fluid.dygraph.ReduceLROnPlateau(1.0, decay_rate=0.5, patience=0)
    >>> rate.step(3.0)
    >>> rate.step(4.0)
    >>> float(rate())
    0.5
    """

    _shown = "step_num=step_num"

    kept: ClassVar[Mapping[str, str]] = {
        name: name
        for name in (
            *("cooldown_counter", "best_loss", "num_bad_epochs", "epoch_num", "learning_rate"),
        )
    }

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
        if not 0 <= finite(self, "decay_rate", decay_rate) < 1:
            raise ArgumentError(f"expected decay_rate in [0, 1), got {decay_rate}")
        self.mode, self.threshold_mode = mode, threshold_mode
        self.decay_rate = float(decay_rate)
        self.patience, self.cooldown, self.verbose = patience, cooldown, verbose
        self.threshold = finite(self, "threshold", threshold)
        self.min_lr = finite(self, "min_lr", min_lr)
        self.eps = finite(self, "eps", eps)
        self.learning_rate = finite(self, "learning_rate", learning_rate)
        self.best_loss: float | None = None
        self.cooldown_counter = self.num_bad_epochs = self.epoch_num = 0

    def __call__(self) -> Any:
        self._last = self.learning_rate
        return self.create_lr_var(self._last)

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
