"""What ``paddle.Model`` calls while it trains and tests, and what it prints."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from ...model import callbacks
from ...model.callbacks import Callback, Callbacks
from ...optimizer import lr
from .boards import VisualDL, WandbCallback
from .plateaus import EarlyStopping, ReduceLROnPlateau
from .progressbar import ProgressBar

__all__ = [
    "Callback", "EarlyStopping", "LRScheduler", "ModelCheckpoint", "ProgBarLogger",
    "ReduceLROnPlateau", "VisualDL", "WandbCallback", "config_callbacks",
]  # fmt: skip

#: a number of steps between two lines where nobody says it
_LOG_FREQ = 2


class _Costs:
    """How long the batches of a line took to be read, and to be computed."""

    def __init__(self) -> None:
        self._mark = time.perf_counter()
        self.reset()

    def reset(self) -> None:
        self.reading, self.computing, self.samples, self.batches = 0.0, 0.0, 0, 0

    def begin(self) -> None:
        now = time.perf_counter()
        self.reading, self._mark = self.reading + now - self._mark, now

    def end(self, samples: int) -> None:
        now = time.perf_counter()
        self.computing, self._mark = self.computing + now - self._mark, now
        self.samples, self.batches = self.samples + samples, self.batches + 1

    def told(self) -> list[tuple[str, Any]]:
        """Names and values for a line."""
        count, whole = max(self.batches, 1), self.reading + self.computing
        rate = self.samples / whole if whole else 0.0
        told = [
            ("avg_reader_cost", f"{self.reading / count:.5f} sec"),
            ("avg_batch_cost", f"{self.computing / count:.5f} sec"),
            ("ips", f"{rate:.5f} samples/sec"),
        ]
        self.reset()
        return told


class _Phase:
    """A pass over data that is printed: an epoch, an evaluation, predictions."""

    def __init__(self, steps: int | None, metrics: Sequence[str], verbose: int) -> None:
        self.steps, self._metrics, self._verbose = steps, metrics, verbose
        self._bar = ProgressBar(steps, verbose=verbose)
        self.costs = _Costs()
        self.step = self.samples = 0

    def count(self, logs: dict[str, Any]) -> None:
        """Count a batch."""
        self.step += 1
        self.samples += logs.get("batch_size", 0)
        self.costs.end(logs.get("batch_size", 0))

    def write(self, logs: dict[str, Any]) -> None:
        """Write where it is."""
        told = [(name, logs[name]) for name in self._metrics if name in logs]
        if self._verbose == 3:
            told += self.costs.told()
        self._bar.update(self.step, told)

    def is_due(self, frequency: int) -> bool:
        """Whether it is time for a line that is not the last one."""
        if self.step % frequency:
            return False
        return self.steps is None or self.step < self.steps


def _batches_of(phase: str) -> tuple[Any, Any]:
    """The methods that are called before and behind each batch of a phase."""

    def begin(self: Any, step: int, logs: dict[str, Any] | None = None) -> None:
        """Note the time."""
        getattr(self, f"_{phase}").costs.begin()

    def end(self: Any, step: int, logs: dict[str, Any] | None = None) -> None:
        """Print where it is time."""
        numbers: _Phase = getattr(self, f"_{phase}")
        numbers.count(logs or {})
        if numbers.is_due(self.log_freq):
            numbers.write(logs or {})

    begin.__name__, end.__name__ = f"on_{phase}_batch_begin", f"on_{phase}_batch_end"
    return begin, end


class ProgBarLogger(Callback):
    """Prints the loss and the metrics.

    Args:
        log_freq: batches between two lines.
        verbose: 0: nothing; 1: a bar; 2: lines; 3: lines with times.
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        self.log_freq, self.verbose = log_freq, verbose
        self._train = self._eval = self._predict = _Phase(None, (), 0)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Print what the numbers mean."""
        if self.verbose and self.params.get("epochs"):
            print(
                "The loss value printed in the log is the current step, and the metric is the "
                "average value of previous steps."
            )

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Print which epoch it is."""
        epochs = self.params.get("epochs")
        if self.verbose and epochs and epoch is not None:
            print(f"Epoch {epoch + 1}/{epochs}")
        self._train = _Phase(self.params.get("steps"), self.params["metrics"], self.verbose)

    on_train_batch_begin, on_train_batch_end = _batches_of("train")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Print the last numbers."""
        if self._train.steps is not None or self._train.step % self.log_freq:
            self._train.write(logs or {})

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Print that it begins."""
        told = logs or {}
        self._eval = _Phase(told.get("steps"), told.get("metrics", ()), self.verbose)
        if self.verbose:
            print("Eval begin...")

    on_eval_batch_begin, on_eval_batch_end = _batches_of("eval")

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Print the last numbers, and how many samples there were, where their number was known."""
        if self.verbose and self._eval.steps is not None:
            self._eval.write(logs or {})
            print(f"Eval samples: {self._eval.samples}")

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Print that it begins."""
        self._predict = _Phase((logs or {}).get("steps"), (), self.verbose)
        if self.verbose:
            print("Predict begin...")

    on_predict_batch_begin, on_predict_batch_end = _batches_of("predict")

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """Print the last step, and how many samples there were."""
        if self.verbose:
            if self._predict.step % self.log_freq or self.verbose == 1:
                self._predict.write(logs or {})
            print(f"Predict samples: {self._predict.samples}")


class ModelCheckpoint(callbacks.Callback):
    """Writes the model every few epochs, and at the end.

    Args:
        save_freq: epochs between two files, called by the epoch's number, beginning with 0.
        save_dir: the folder; nothing is written when None.
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        self.save_freq, self.save_dir = save_freq, save_dir

    def _save(self, name: str) -> None:
        path = os.path.join(os.path.abspath(str(self.save_dir)), name)
        print(f"save checkpoint at {path}")
        self.model.save(path)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Write it where it is time."""
        if self.save_dir and self.model and epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Write the last one."""
        if self.save_dir and self.model:
            self._save("final")


class LRScheduler(Callback):
    """Goes on with the optimizer's schedule of learning rates.

    Args:
        by_step: behind each batch.
        by_epoch: behind each epoch.

    Raises:
        ArgumentError: both.
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        if by_step and by_epoch:
            raise ArgumentError("LRScheduler: expected by_step or by_epoch, got both")
        self.by_step, self.by_epoch = by_step, by_epoch

    def _go_on(self) -> None:
        schedule = self.model.schedule
        if isinstance(schedule, lr.LRScheduler):
            schedule.step()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Go on where epochs count."""
        if self.by_epoch:
            self._go_on()

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Go on where batches count."""
        if self.by_step:
            self._go_on()


def config_callbacks(
    callbacks: Callback | Iterable[Callback] | None = None,
    model: Any = None,
    batch_size: int | None = None,
    epochs: int | None = None,
    steps: int | None = None,
    log_freq: int = _LOG_FREQ,
    verbose: int = 2,
    save_freq: int = 1,
    save_dir: str | None = None,
    metrics: Sequence[str] | None = None,
    mode: str = "train",
) -> Callbacks:
    """The callbacks of a loop: those of the user, and those that print, write, and go on with
    learning rates, where the user gives none of their kind.

    Args:
        callbacks: the user's.
        model: the one that runs them.
        batch_size, epochs, steps, metrics: what they can read.
        log_freq, verbose: of what prints.
        save_freq, save_dir: of what writes.
        mode: "train", "eval" or "predict".
    """
    given = [] if callbacks is None else callbacks
    listed: list[Any] = [given] if isinstance(given, Callback) else list(given)
    if verbose and not any(isinstance(each, ProgBarLogger) for each in listed):
        listed.insert(0, ProgBarLogger(log_freq, verbose))
    if mode == "train" and not any(isinstance(each, ModelCheckpoint) for each in listed):
        listed.append(ModelCheckpoint(save_freq, save_dir))
    if mode == "train" and not any(isinstance(each, LRScheduler) for each in listed):
        listed.append(LRScheduler())
    for each in listed:
        if isinstance(each, EarlyStopping):
            each.save_dir = save_dir
    params = {
        "batch_size": batch_size,
        "epochs": epochs,
        "steps": steps,
        "verbose": verbose,
        "metrics": list(metrics or ()),
    }
    return Callbacks(listed, model, params)


list_public_names(globals())
