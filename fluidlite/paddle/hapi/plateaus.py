"""Callbacks for what does not become better any more."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ground.callsite import warn
from ...ground.fields import from_fields
from ...model.callbacks import STOPS, Callback, Patience


class _Monitor(Callback):
    """Looks at a number of evaluations.

    Args:
        monitor: which: ``loss``, or a metric.
        mode: "min": smaller is better; "max": larger; "auto": larger for accuracies.
        min_delta: by how much a better number differs.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        if mode not in ("auto", "min", "max"):
            warn(f"{type(self).__name__}: mode {mode!r} is taken as 'auto'", None)
        self.monitor, self.mode = monitor, mode
        self._rises = mode == "max" or (mode != "min" and "acc" in monitor)
        self.min_delta = abs(min_delta)
        self.best_value: Any = None

    def _begin(self, best: float | None = None) -> None:
        """Begin anew; the best number so far is the worst there is when None."""
        self.best_value = best if best is not None else -np.inf if self._rises else np.inf

    def _value(self, logs: dict[str, Any] | None) -> float | None:
        """The number; None if there is none, which is said."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            known = ", ".join(map(str, logs or {}))
            warn(f"{type(self).__name__}: there is no {self.monitor!r}; there is {known}", None)
            return None
        return float(np.asarray(value).reshape(-1)[0])

    def _is_better(self, value: float) -> bool:
        if self._rises:
            return bool(value - self.min_delta > self.best_value)
        return bool(value + self.min_delta < self.best_value)


@STOPS
@from_fields
class EarlyStopping(Patience, _Monitor):
    """Ends training when a number of the evaluations does not become better any more.

    Args:
        monitor: which: ``loss``, or a metric.
        patience: evaluations to wait.
    """

    def begin(self, given: dict[str, Any]) -> None:
        _Monitor.__init__(self, *(given.pop(name) for name in ("monitor", "mode", "min_delta")))
        vars(self).update(given)
        self.save_dir: str | None = None  #: said by ``fit``
        self.wait_epoch = self.stopped_epoch = 0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begin anew."""
        self._begin(self.baseline)
        self.wait_epoch = self.stopped_epoch = 0

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Look whether it has become better."""
        value = self._value(logs)
        if value is None:
            return
        saves = self.save_best_model and self.save_dir is not None
        path = os.path.join(self.save_dir or "", "best_model")
        if self._is_better(value):
            self.best_value, self.wait_epoch = value, 0
            if saves:
                self.model.save(path)
        else:
            self.wait_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose > 0:
                print(f"Epoch {self.stopped_epoch + 1}: Early stopping.")
                if saves:
                    print(f"Best checkpoint has been saved at {os.path.abspath(path)}")
        self.stopped_epoch += 1


class ReduceLROnPlateau(_Monitor):
    """Makes the learning rate smaller when a number of the evaluations does not become better.

    Args:
        monitor: which: ``loss``, or a metric.
        factor: what the rate is multiplied with, below 1.
        patience: evaluations to wait.
        verbose: whether to say so.
        mode: "min": smaller is better; "max": larger; "auto": larger for accuracies.
        min_delta: by how much a better number differs.
        cooldown: evaluations behind a change that do not count.
        min_lr: the least rate.

    Raises:
        ArgumentError: the factor is 1 or more.
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        if factor >= 1.0:
            raise ArgumentError(f"ReduceLROnPlateau: expected a factor below 1, got {factor}")
        super().__init__(monitor, mode, min_delta)
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.cooldown_counter = self.wait = self.epoch = 0
        self._begin()

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begin anew."""
        self._begin()
        self.cooldown_counter = self.wait = 0

    def in_cooldown(self) -> bool:
        """Whether evaluations do not count now."""
        return self.cooldown_counter > 0

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Look whether it has become better."""
        value = self._value(logs)
        if value is not None and isinstance(self.model.schedule, (int, float)):
            self._look(value)
        elif value is not None:
            kind = type(self.model.schedule).__name__
            warn(f"ReduceLROnPlateau: expected a number as learning rate, got {kind}", None)
        self.epoch += 1

    def _look(self, value: float) -> None:
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_better(value):
            self.best_value, self.wait = value, 0
            return
        if self.in_cooldown():
            return
        self.wait += 1
        rate = float(self.model.optimizer.get_lr())
        if self.wait >= self.patience and rate > np.float32(self.min_lr):
            reduced = max(rate * self.factor, self.min_lr)
            self.model.optimizer.set_lr(reduced)
            if self.verbose > 0:
                print(
                    f"\nEpoch {self.epoch + 1}: ReduceLROnPlateau reducing learning rate to "
                    f"{reduced}."
                )
            self.cooldown_counter, self.wait = self.cooldown, 0


__all__ = ["EarlyStopping", "ReduceLROnPlateau"]
