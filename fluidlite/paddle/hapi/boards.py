"""Callbacks that hand loss and metrics to programs that draw them."""

from __future__ import annotations

import os
from typing import Any

from ...errors import FluidError
from ...model.callbacks import Callback


class MissingPackageError(FluidError, ImportError):
    """A package that a callback needs is not installed."""


def _missing(name: str, what: str) -> MissingPackageError:
    return MissingPackageError(
        f"{what} writes with the package {name}, which is not installed: pip install {name}; "
        f"fluidlite.model.callbacks.TensorBoard writes files for TensorBoard"
    )


class _Board(Callback):
    """Hands on the numbers of every batch of training, and of every evaluation."""

    def __init__(self) -> None:
        self.epoch = 0
        self._step = 0
        self._trains = False

    def _write(self, mode: str, numbers: dict[str, float], step: int) -> None:
        """Write numbers by name.

        Args:
            mode: "train" or "eval".
            numbers: losses and metrics.
            step: the batch; of an evaluation the epoch.
        """
        raise NotImplementedError

    def _end(self) -> None:
        """Close what was opened."""
        raise NotImplementedError

    def _numbers(self, logs: dict[str, Any] | None) -> dict[str, float]:
        values = [(name, (logs or {}).get(name)) for name in self.params.get("metrics", ())]
        return {
            name: float(value[0] if isinstance(value, (list, tuple)) else value)
            for name, value in values
            if value is not None
        }

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begin anew."""
        self._trains, self._step = True, 0

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Note which epoch it is."""
        self.epoch = epoch or 0

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Pass on the numbers of a batch."""
        self._step += 1
        self._write("train", self._numbers(logs), self._step)

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Pass on the numbers of an evaluation."""
        self._write("eval", self._numbers(logs), self.epoch)
        if not self._trains:
            self._end()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Close what was opened."""
        self._trains = False
        self._end()


class VisualDL(_Board):
    """Writes loss and metrics for VisualDL, with the package ``visualdl``.

    Args:
        log_dir: the folder.
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self._writer: Any = None

    def _open(self) -> None:
        """Open the file.

        Raises:
            MissingPackageError: the package is not installed.
        """
        if self._writer is None:
            try:
                from visualdl import LogWriter
            except ImportError:
                raise _missing("visualdl", "VisualDL") from None
            self._writer = LogWriter(os.fspath(self.log_dir))

    def _write(self, mode: str, numbers: dict[str, float], step: int) -> None:
        self._open()
        for name, value in numbers.items():
            self._writer.add_scalar(tag=f"{mode}/{name}", step=step, value=value)

    def _end(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Open the file.

        Raises:
            MissingPackageError: the package is not installed.
        """
        super().on_train_begin(logs)
        self._open()


class WandbCallback(_Board):
    """Sends loss and metrics to Weights & Biases, with the package ``wandb``.

    Args:
        project, entity, name, dir, mode, job_type: as ``wandb.init`` takes them.
        kwargs: further arguments of ``wandb.init``.

    Raises:
        MissingPackageError: the package is not installed.
    """

    def __init__(
        self,
        project: str | None = None,
        entity: str | None = None,
        name: str | None = None,
        dir: str | None = None,
        mode: str | None = None,
        job_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        try:
            import wandb
        except ImportError:
            raise _missing("wandb", "WandbCallback") from None
        self.wandb: Any = wandb
        self.wandb_args: dict[str, Any] = {
            "project": project, "name": name, "entity": entity, "dir": dir, "mode": mode,
            "job_type": job_type, **kwargs,
        }  # fmt: skip
        self._run: Any = None

    @property
    def run(self) -> Any:
        """The run; begun at its first use."""
        if self._run is None:
            self._run = self.wandb.run or self.wandb.init(**self.wandb_args)
        return self._run

    def _write(self, mode: str, numbers: dict[str, float], step: int) -> None:
        counter = "train/step" if mode == "train" else "epoch"
        self.run.log({counter: step, **{f"{mode}/{name}": each for name, each in numbers.items()}})

    def _end(self) -> None:
        if self._run is not None:
            self._run.finish()
            self._run = None

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begin a run."""
        super().on_train_begin(logs)
        for counter, names in (("train/step", "train/*"), ("epoch", "eval/*")):
            self.run.define_metric(counter)
            self.run.define_metric(names, step_metric=counter)


__all__ = ["MissingPackageError", "VisualDL", "WandbCallback"]
