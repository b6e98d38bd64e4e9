"""What is called while a model is trained and tested."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ground.callsite import warn
from ..ground.docstrings import Family
from ..ground.fields import from_fields
from ..ground.public_names import list_public_names
from ..ground.reprs import Described
from .board import Board

__all__ = [
    "Callback", "EarlyStopping", "LRLogger", "ModelCheckpoint", "ProgBarLogger", "TensorBoard",
]  # fmt: skip


class Callback(Described):
    """The base of callbacks: a subclass overrides what it wants to be called for.

    ``self.model`` is the model, ``self.params`` says ``epochs``, ``steps`` (None where that is not
    known), ``verbose`` and ``evaluates``.  ``logs`` holds the loss, metrics and learning rate.

    >>> class Printer(fluid.model.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print("epoch", epoch)
    """

    model: Any = None
    params: dict[str, Any] = {}  # noqa: RUF012 (replaced, never changed)

    def set_model(self, model: Any) -> None:
        """Be told the model."""
        self.model = model

    def set_params(self, params: dict[str, Any]) -> None:
        """Be told how it is trained."""
        self.params = params

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Behind the last epoch."""

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Behind an epoch, and its evaluation."""

    def on_train_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch."""

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Behind a batch."""

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before an evaluation."""

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Behind an evaluation."""

    def on_eval_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch of an evaluation."""

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Behind a batch of an evaluation."""

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before predictions."""

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """Behind predictions."""

    def on_predict_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch of predictions."""

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Behind a batch of predictions."""


class Callbacks:
    """Several callbacks as one; ``call`` calls a method of each."""

    def __init__(self, given: Iterable[Callback], model: Any, params: dict[str, Any]) -> None:
        self._listed = list(given)
        for callback in self._listed:
            if not isinstance(callback, Callback):
                raise ArgumentError(f"expected callbacks, got {callback!r:.60} among them")
            callback.set_model(model)
            callback.set_params(params)

    def call(self, method: str, *arguments: Any) -> None:
        """Call a method of each."""
        for each in self._listed:
            getattr(each, method)(*arguments)


class ProgBarLogger(Callback):
    """A bar of tqdm for each epoch, with the loss and the metrics.

    Args:
        log_freq: batches between two looks at the numbers.
        verbose: 0: nothing; 1: a bar, or lines if tqdm is not installed; 2: a line for each epoch.

    >>> logger = fluid.model.callbacks.ProgBarLogger(log_freq=10)
    """

    _shown = "log_freq=_every"

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        self._every, self._verbose = max(int(log_freq), 1), verbose
        self._bar: Any = None

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Begin a bar."""
        if self._verbose == 1:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._verbose = 2
                return
            head = f"epoch {epoch + 1}/{self.params['epochs']}"
            self._bar = tqdm(total=self.params["steps"], desc=head)

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.update()
            if (step + 1) % self._every == 0:
                self._bar.set_postfix(_shown(logs), refresh=False)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """End the bar, or print a line."""
        if self._bar is not None:
            self._bar.set_postfix(_shown(logs))
            self._bar.close()
            self._bar = None
        elif self._verbose == 2:
            told = ", ".join(f"{name} {value}" for name, value in _shown(logs).items())
            print(f"epoch {epoch + 1}/{self.params['epochs']}: {told}")

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Close a bar that an error left open."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _shown(logs: dict[str, Any] | None) -> dict[str, str]:
    return {name: f"{value:.4g}" for name, value in (logs or {}).items()}


class _Watching(Callback):
    """Looks whether a number of the evaluation has become better; of training without one."""

    def __init__(self, monitor: str, mode: str, min_delta: float, baseline: float | None) -> None:
        if mode not in ("auto", "min", "max"):
            raise ArgumentError(f"expected mode 'auto', 'min' or 'max', got {mode!r}")
        rises = mode == "max" or (mode == "auto" and "acc" in monitor)
        self._monitor, self._sign = monitor, 1.0 if rises else -1.0
        self._delta, self._baseline = abs(min_delta), baseline
        self.best: float | None = baseline
        self._has_warned = False

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begin anew."""
        self.best, self._has_warned = self._baseline, False

    def is_better(self, logs: dict[str, Any] | None) -> bool | None:
        """Whether the number is the best one so far; None if there is none.

        Args:
            logs: of an epoch.
        """
        metrics = logs or {}
        keys = [f"eval_{self._monitor}"] if self.params.get("evaluates") else []
        value = next((metrics[k] for k in [*keys, self._monitor] if k in metrics), None)
        if self.params.get("evaluates") and keys[0] not in metrics and self._monitor in metrics:
            return None  # an epoch without an evaluation
        if value is None:
            if not self._has_warned:
                known = ", ".join(metrics)
                text = f"{type(self).__name__}: there is no {self._monitor!r}; there is {known}"
                warn(text, None)
            self._has_warned = True
            return None
        better = self.best is None or self._sign * (value - self.best) > self._delta
        if better:
            self.best = float(value)
        return better


#: what makes training end early
STOPS = Family(
    {
        "monitor": "which: ``loss``, or a metric; of the evaluation, if there is one.",
        "mode": '"min": smaller is better; "max": larger; "auto": larger for accuracies.',
        "patience": "epochs to wait.",
        "verbose": "1: say so.",
        "min_delta": "by how much a better number differs.",
        "baseline": "what has to be surpassed.",
        "save_best_model": "write the best model to ``best_model`` in the ``save_dir`` of ``fit``.",
    }
)


@from_fields
class Patience:
    """What callbacks that end training early take."""

    monitor: str = "loss"
    mode: str = "auto"
    patience: int = 0
    verbose: int = 1
    min_delta: float = 0
    baseline: float | None = None
    save_best_model: bool = True


@STOPS
@from_fields
class EarlyStopping(Patience, _Watching):
    """Ends training when a number does not become better any more.

    >>> stop = fluid.model.callbacks.EarlyStopping(monitor="loss", patience=2)
    """

    _shown = "min_delta=_delta save_best_model=_saves"

    def begin(self, given: dict[str, Any]) -> None:
        watched = (given[name] for name in ("monitor", "mode", "min_delta", "baseline"))
        _Watching.__init__(self, *watched)
        self._patience, self._verbose = given["patience"], given["verbose"]
        self._saves = given["save_best_model"]
        self._waited = 0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begin anew."""
        super().on_train_begin(logs)
        self._waited = 0

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Look whether it has become better."""
        better = self.is_better(logs)
        if better is None:
            return
        self._waited = 0 if better else self._waited + 1
        folder = self.params.get("save_dir")
        if better and self._saves and folder:
            self.model.save(os.path.join(folder, "best_model"))
        if self._waited > self._patience:
            self.model.stop_training = True
            if self._verbose:
                print(f"epoch {epoch + 1}: {self._monitor} was best at {self.best:.4g}, stopped")


class ModelCheckpoint(_Watching):
    """Writes the model: every few epochs, and at the end; or the best one alone.

    Args:
        save_freq: epochs between two files, called by the epoch's number, beginning with 0.
        save_dir: the folder; that of ``fit`` when None.
        monitor: keep ``best``, the one where this number was best, in place of all others.
        mode: as of :class:`EarlyStopping`.

    >>> saver = fluid.model.callbacks.ModelCheckpoint(save_freq=1, save_dir="checkpoints")
    """

    _shown = "save_freq=_every save_dir=_folder monitor=_kept_by"

    def __init__(
        self,
        save_freq: int = 1,
        save_dir: str | None = None,
        monitor: str | None = None,
        mode: str = "auto",
    ) -> None:
        super().__init__(monitor or "loss", mode, 0.0, None)
        self._kept_by, self._every, self._folder = monitor, save_freq, save_dir
        self._by_value = monitor is not None

    def _path(self, name: str) -> str | None:
        folder = self._folder or self.params.get("save_dir")
        return None if folder is None else os.path.join(folder, name)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Write it where it is time."""
        path = self._path("best" if self._by_value else str(epoch))
        if path is not None and (
            self.is_better(logs) if self._by_value else epoch % self._every == 0
        ):
            self.model.save(path)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Write the last one."""
        path = self._path("final")
        if path is not None and not self._by_value:
            self.model.save(path)


class LRLogger(Callback):
    """Notes the learning rate of every step, in ``rates``.

    >>> logger = fluid.model.callbacks.LRLogger()
    """

    def __init__(self) -> None:
        self.rates: list[float] = []

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Note it."""
        self.rates.append(float((logs or {})["lr"]))


class TensorBoard(Callback):
    """Writes loss, metrics, learning rate, and histograms of parameters for TensorBoard, through
    tensorboardX (extra ``tensorboard``).

    Args:
        log_dir: the folder.
        histograms: epochs between two histograms of the parameters; 0 for none.
        write_graph: also write the program's operators, of a model of programs.

    >>> logger = fluid.model.callbacks.TensorBoard("logs")
    """

    _shown = "log_dir=_folder write_graph=_graph"

    def __init__(self, log_dir: str, histograms: int = 1, write_graph: bool = True) -> None:
        self._folder, self._histograms, self._graph = log_dir, histograms, write_graph
        self._writer: Any = None
        self._step = 0

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Open the file."""
        self._writer = Board(self._folder)
        if self._graph and self.model.program is not None:
            self._writer.graph(self.model.program)

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Write numbers of a batch."""
        self._step += 1
        for name, value in (logs or {}).items():
            self._writer.scalar(f"batch/{name}", value, self._step)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Write numbers of an epoch."""
        for name, value in (logs or {}).items():
            self._writer.scalar(f"epoch/{name}", value, epoch)
        if self._histograms and epoch % self._histograms == 0:
            for name, array in self.model.state_dict().items():
                self._writer.histogram(name, np.asarray(array), epoch)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Close the file."""
        self._writer.close()


list_public_names(globals())
