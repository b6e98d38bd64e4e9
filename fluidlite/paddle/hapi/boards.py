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
    """Hands on the numbers of every epoch, and of every evaluation."""

    def __init__(self) -> None:
        self.epoch = 0
        self._steps = {"train": 0, "eval": 0}

    def _write(self, name: str, value: float, step: int) -> None:
        raise NotImplementedError

    def _hand_on(self, logs: dict[str, Any] | None, mode: str) -> None:
        for name in self.params.get("metrics", ()):
            value = (logs or {}).get(name)
            if value is not None:
                number = value[0] if isinstance(value, (list, tuple)) else value
                self._write(f"{mode}/{name}", float(number), self._steps[mode])

    def on_epoch_begin(self, epoch: int | None = None, logs: dict[str, Any] | None = None) -> None:
        """Note which epoch it is."""
        self.epoch = epoch or 0

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Hand on the numbers of a batch."""
        self._steps["train"] += 1
        self._hand_on(logs, "train")

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Hand on the numbers of an evaluation."""
        self._steps["eval"] += 1
        self._hand_on(logs, "eval")


class VisualDL(_Board):
    """Writes loss and metrics for VisualDL, with the package ``visualdl``.

    Args:
        log_dir: the folder.
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self._writer: Any = None

    def _write(self, name: str, value: float, step: int) -> None:
        if self._writer is not None:
            self._writer.add_scalar(tag=name, step=step, value=value)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Open the file.

        Raises:
            MissingPackageError: the package is not installed.
        """
        try:
            from visualdl import LogWriter
        except ImportError:
            raise _missing("visualdl", "VisualDL") from None
        self._writer = LogWriter(os.fspath(self.log_dir))

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


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
        options = {
            "project": project, "entity": entity, "name": name, "dir": dir, "mode": mode,
            "job_type": job_type,
        }  # fmt: skip
        self.wandb_args = {key: value for key, value in options.items() if value is not None}
        self.wandb_args.update(kwargs)
        self._run: Any = None

    @property
    def run(self) -> Any:
        """The run; begun when it is first asked for."""
        if self._run is None:
            self._run = self.wandb.run or self.wandb.init(**self.wandb_args)
        return self._run

    def _write(self, name: str, value: float, step: int) -> None:
        self.run.log({name: value, "epoch": self.epoch})

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Begin a run."""
        self.run.config.update({"batch_size": self.params.get("batch_size")})

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """End the run."""
        self.run.finish()
        self._run = None


__all__ = ["MissingPackageError", "VisualDL", "WandbCallback"]
