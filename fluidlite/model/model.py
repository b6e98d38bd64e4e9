"""A network with its loss, optimizer and metrics, and the loops that train and test it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..ground.files import Path, usable_path
from ..inspect.layers import summary
from .at_once import AtOnce, runs_at_once
from .batches import Batch, Data, DataBatches
from .callbacks import Callback, Callbacks, ModelCheckpoint, ProgBarLogger
from .history import FitHistory
from .in_program import InProgram
from .metric import Metric
from .specification import InputSpec

if TYPE_CHECKING:
    from ..functions.arguments import ArrayLike, DTypeLike
    from ..inspect.layers import LayerSummary, Shapes
    from ..inspect.summary import Summary
    from ..ir.program import Program
    from ..optimizer.optimizer import Optimizer


class Model:
    """A network that can be trained, tested and asked.

    A layer with parameters of its own, as those of ``fluid.nn``, runs at once.  A function that
    makes variables of variables, or a layer of programs, is built into static programs, which have
    a scope of their own.

    Args:
        network: the layer or function.
        inputs: what each input looks like: ``InputSpec`` or pairs of a shape and an element type;
            needed for programs.
        labels: the same for labels.

    Raises:
        ArgumentError: an argument is of another kind, or the inputs of programs are missing.

    >>> x = np.random.RandomState(0).rand(64, 2).astype("float32")
    >>> y = x.sum(1, keepdims=True)
    >>> model = fluid.Model(fluid.nn.Linear(2, 1))
    >>> adam = fluid.optimizer.Adam(0.1, parameters=model.parameters())
    >>> model.prepare(adam, fluid.nn.MSELoss())
    >>> history = model.fit((x, y), batch_size=16, epochs=60, verbose=0)
    >>> history["loss"][-1] < 0.01, model.predict_batch(x[:3])[0].shape
    (True, (3, 1))

    >>> model = fluid.Model(
    ...     lambda x: fluid.layers.fc(x, 1), [([None, 2], "float32")], [([None, 1], "float32")]
    ... )
    >>> model.prepare(fluid.optimizer.Adam(0.1), fluid.nn.MSELoss())
    >>> model.fit((x, y), batch_size=16, epochs=60, verbose=0)["loss"][-1] < 0.01
    True
    """

    def __init__(
        self,
        network: Callable[..., Any],
        inputs: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> None:
        if not callable(network):
            raise ArgumentError(f"expected a layer or a function, got {network!r:.60}")
        self.network: Any = network
        self._inputs, self._labels = _specs("inputs", inputs), _specs("labels", labels)
        self._at_once = runs_at_once(network)
        if not self._at_once and self._inputs is None:
            raise ArgumentError(
                "expected inputs of a model of programs: Model(network, [InputSpec([None, 4])])"
            )
        self._way: AtOnce | InProgram | None = None
        self._optimizer: Any = None
        self._has_loss = False
        self._metrics: list[Metric] = []
        #: set by callbacks to end training behind this epoch
        self.stop_training: bool = False

    def prepare(
        self,
        optimizer: Optimizer | None = None,
        loss: Callable[..., Any] | None = None,
        metrics: Metric | Sequence[Metric] | None = None,
    ) -> None:
        """Say how the network is trained.

        Args:
            optimizer: with the layer's parameters where it runs at once.
            loss: a function or layer of outputs and labels.
            metrics: what else is measured.

        Raises:
            ArgumentError: an argument is of another kind.
        """
        listed = [] if metrics is None else metrics if isinstance(metrics, Sequence) else [metrics]
        for each in listed:
            if not isinstance(each, Metric):
                raise ArgumentError(f"expected metrics of fluid.metric, got {each!r:.60}")
        if loss is not None and not callable(loss):
            raise ArgumentError(f"expected a function or a layer as the loss, got {loss!r:.60}")
        self._metrics, self._optimizer, self._has_loss = list(listed), optimizer, loss is not None
        if self._at_once:
            self._way = AtOnce(self.network, loss, optimizer)
            return
        if loss is not None and self._labels is None:
            raise ArgumentError("expected labels of a model of programs that has a loss")
        assert self._inputs is not None
        self._way = InProgram(self.network, self._inputs, self._labels or [], loss, optimizer)

    @property
    def program(self) -> Program | None:
        """The program that is trained; None where layers run at once."""
        return None if self._way is None else self._way.program

    @property
    def _prepared(self) -> AtOnce | InProgram:
        if self._way is None:
            self.prepare()
        assert self._way is not None
        return self._way

    # -- single batches ----------------------------------------------------------------------------

    def train_batch(
        self, inputs: ArrayLike, labels: ArrayLike | None = None, update: bool = True
    ) -> dict[str, Any]:
        """Make a step with a batch.

        Args:
            inputs, labels: an array or several.
            update: False: layers that run at once add gradients up only.

        Returns:
            the loss and the metrics of the batch.
        """
        return self._run(Batch(_listed(inputs), _listed(labels), train=True, step=update))

    def eval_batch(self, inputs: ArrayLike, labels: ArrayLike | None = None) -> dict[str, Any]:
        """The loss and the metrics of a batch."""
        return self._run(Batch(_listed(inputs), _listed(labels)))

    def predict_batch(self, inputs: ArrayLike) -> list[Any]:
        """The outputs of a batch, as arrays."""
        return self._prepared.run(Batch(_listed(inputs)))[1]

    def _run(self, batch: Batch) -> dict[str, Any]:
        way = self._prepared
        if batch.train and (self._optimizer is None or not self._has_loss):
            raise ArgumentError("expected an optimizer and a loss: model.prepare(optimizer, loss)")
        loss, outputs = way.run(batch)
        logs: dict[str, Any] = {} if loss is None else {"loss": loss}
        for metric in self._metrics:
            metric.update(*outputs, *(batch.labels or ()))
            logs.update(_named(metric))
        return logs

    # -- loops -------------------------------------------------------------------------------------

    def fit(
        self,
        train_data: Data,
        eval_data: Data | None = None,
        batch_size: int = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: Path | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Callback | Iterable[Callback] | None = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> FitHistory:
        """Train.

        Args:
            train_data: a tuple of arrays, a data set, a reader of samples, or an iterable of
                batches; inputs first, then labels.
            eval_data: the same, to be tested on.
            batch_size: samples in a batch.
            epochs: how often to go through the data.
            eval_freq: epochs between two evaluations.
            log_freq: batches between two looks at the numbers beside the bar.
            save_dir: write the model there.
            save_freq: epochs between two files.
            verbose: 0: nothing; 1: a bar of tqdm for each epoch; 2: a line for each epoch.
            drop_last: leave out a last batch that is smaller.
            shuffle: go through the samples in another order in every epoch.
            num_workers: accepted; batches are made in the calling thread.
            callbacks: what else is called.
            accumulate_grad_batches: batches whose mean gradient makes a step, where layers run at
                once.
            num_iters: end behind so many batches.

        Returns:
            the history: numbers by name, one for each epoch.

        Raises:
            ArgumentError: an argument is of another kind, or nothing is prepared.
        """
        if self._optimizer is None or not self._has_loss:
            raise ArgumentError("expected an optimizer and a loss: model.prepare(optimizer, loss)")
        parts = int(accumulate_grad_batches)
        if parts < 1 or (parts > 1 and not self._at_once):
            raise ArgumentError(
                f"expected accumulate_grad_batches=1 for programs, where GradientMergeOptimizer "
                f"does it; or a positive number, got {accumulate_grad_batches}"
            )
        data = DataBatches(train_data, batch_size, shuffle, drop_last)
        tests = None if eval_data is None else DataBatches(eval_data, batch_size)
        folder = None if save_dir is None else os.fspath(save_dir)
        listed = [ProgBarLogger(log_freq, verbose), *_callbacks(callbacks)]
        if folder is not None and not any(isinstance(c, ModelCheckpoint) for c in listed):
            listed.append(ModelCheckpoint(save_freq))
        params = {
            "epochs": epochs,
            "steps": data.count,
            "verbose": verbose,
            "save_dir": folder,
            "evaluates": tests is not None,
        }
        told, history = Callbacks(listed, self, params), FitHistory()
        self.stop_training, left = False, float("inf") if num_iters is None else num_iters
        told.call("on_train_begin")
        logs: dict[str, Any] = {}
        try:
            for epoch in range(epochs):
                told.call("on_epoch_begin", epoch)
                logs, count = self._epoch(data, told, parts, left)
                left -= count
                if tests is not None and (epoch + 1) % eval_freq == 0:
                    found = self._evaluate(tests, told, None)
                    logs.update({f"eval_{name}": value for name, value in found.items()})
                history.add(epoch, logs)
                told.call("on_epoch_end", epoch, logs)
                if self.stop_training or left <= 0:
                    break
        finally:
            told.call("on_train_end", logs)
        return history

    def _epoch(
        self, data: DataBatches, told: Callbacks, parts: int, most: float
    ) -> tuple[dict[str, Any], int]:
        """Train for an epoch, or ``most`` batches; its numbers, and how many batches there were."""
        for metric in self._metrics:
            metric.reset()
        logs: dict[str, Any] = {}
        total, samples, count, last = 0.0, 0, 0, data.count
        for number, batch in enumerate(data):
            told.call("on_train_batch_begin", number)
            inputs, labels = self._parted(batch)
            count += 1
            ends = count % parts == 0 or count == last or count >= most
            logs = self._run(Batch(inputs, labels, train=True, step=ends, parts=parts))
            total, samples = total + logs["loss"] * len(batch[0]), samples + len(batch[0])
            logs["lr"] = self._prepared.rate()
            told.call("on_train_batch_end", number, logs)
            if count >= most:
                break
        if not count:
            raise ArgumentError("expected data to train with, got none")
        logs["loss"] = total / samples
        return logs, count

    def evaluate(
        self,
        eval_data: Data,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Callback | Iterable[Callback] | None = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """The loss and the metrics of data.

        Args:
            eval_data: as of :meth:`fit`.
            batch_size: samples in a batch.
            log_freq, num_workers: accepted; there is one line, and batches are made in the calling
                thread.
            verbose: 0: say nothing; else print them.
            callbacks: what else is called.
            num_iters: end behind so many batches.
        """
        data = DataBatches(eval_data, batch_size)
        params = {"steps": data.count, "verbose": verbose}
        found = self._evaluate(data, Callbacks(_callbacks(callbacks), self, params), num_iters)
        if verbose:
            print("evaluation: " + ", ".join(f"{k} {v:.4g}" for k, v in found.items()))
        return found

    def _evaluate(self, data: DataBatches, told: Callbacks, most: int | None) -> dict[str, Any]:
        for metric in self._metrics:
            metric.reset()
        told.call("on_eval_begin")
        total, samples, logs = 0.0, 0, {}
        for number, batch in enumerate(data):
            if most is not None and number >= most:
                break
            told.call("on_eval_batch_begin", number)
            logs = self._run(Batch(*self._parted(batch)))
            total, samples = total + logs.get("loss", 0.0) * len(batch[0]), samples + len(batch[0])
            told.call("on_eval_batch_end", number, logs)
        if "loss" in logs:
            logs["loss"] = total / samples
        told.call("on_eval_end", logs)
        return logs

    def predict(
        self,
        test_data: Data,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Callback | Iterable[Callback] | None = None,
    ) -> list[Any]:
        """The outputs for data; labels in it are passed over.

        Args:
            test_data: as of :meth:`fit`.
            batch_size: samples in a batch.
            num_workers: accepted; batches are made in the calling thread.
            stack_outputs: one array for each output; False: a list of those of the batches.
            verbose: 0: say nothing; else how many batches there were.
            callbacks: what is called.
        """
        data = DataBatches(test_data, batch_size)
        told = Callbacks(_callbacks(callbacks), self, {"steps": data.count})
        told.call("on_predict_begin")
        outputs: list[list[Any]] = []
        for number, batch in enumerate(data):
            told.call("on_predict_batch_begin", number)
            outputs.append(self.predict_batch(batch[: self._input_count(len(batch))]))
            told.call("on_predict_batch_end", number)
        told.call("on_predict_end")
        if verbose:
            print(f"predictions of {len(outputs)} batches")
        columns = [list(column) for column in zip(*outputs)]
        return [np.concatenate(column) for column in columns] if stack_outputs else columns

    def _input_count(self, given: int) -> int:
        """How many fields of a batch are inputs."""
        if self._inputs is not None:
            return len(self._inputs)
        forward = getattr(self.network, "forward", self.network)
        kinds = inspect.signature(forward).parameters.values()
        if any(p.kind is p.VAR_POSITIONAL for p in kinds):
            return max(given - 1, 1)
        places = [p for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return min(len(places), max(given - 1, 1))

    def _parted(self, batch: list[Any]) -> tuple[list[Any], list[Any]]:
        count = self._input_count(len(batch))
        return batch[:count], batch[count:]

    # -- what it consists of -----------------------------------------------------------------------

    def parameters(self) -> list[Any]:
        """The parameters: tensors, or those of the program."""
        if self._at_once:
            return list(self.network.parameters())
        return self._prepared.parameters()

    def state_dict(self) -> dict[str, Any]:
        """The values of parameters, as arrays by name."""
        return self._prepared.state()

    def summary(
        self, input_size: Shapes | None = None, dtype: DTypeLike | Sequence[DTypeLike] = None
    ) -> LayerSummary | Summary | None:
        """A table of layers and their parameters, to be printed.

        Args:
            input_size: the shape of the input, or shapes; those of ``inputs`` when None.
            dtype: element types; float32 when None.
        """
        if not self._at_once:
            return self.program.summary() if self.program is not None else None
        if input_size is None and self._inputs is not None:
            input_size = [tuple(1 if n < 0 else n for n in spec.shape) for spec in self._inputs]
            dtype = dtype or [spec.dtype for spec in self._inputs]
        return summary(self.network, input_size, dtype)

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: Path, training: bool = True) -> None:
        """Write the model.

        Args:
            path: of files that differ in their ending; for predictions, a folder.
            training: with what the optimizer keeps; False: of a model of programs, what serves
                predictions.
        """
        self._prepared.save(usable_path("write", path), training)

    def load(self, path: Path, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Go on from what :meth:`save` wrote for training.

        Args:
            path: as it was saved.
            skip_mismatch: pass over values of other shapes.
            reset_optimizer: let the optimizer begin anew.
        """
        self._prepared.load(os.fspath(path), skip_mismatch, reset_optimizer)

    def __repr__(self) -> str:
        way = "at once" if self._at_once else "in programs"
        name = getattr(self.network, "__name__", type(self.network).__name__)
        return f"<Model of {name}, {way}>"


def _specs(what: str, given: Any) -> list[InputSpec] | None:
    """What inputs or labels look like.

    Raises:
        ArgumentError: something else is given.
    """
    if given is None:
        return None
    listed = [given] if isinstance(given, InputSpec) else given
    specs = []
    for spec in listed:
        if isinstance(spec, InputSpec):
            specs.append(spec)
        elif isinstance(spec, (tuple, list)) and len(spec) == 2 and not isinstance(spec[0], int):
            specs.append(InputSpec(*spec))
        else:
            raise ArgumentError(
                f"expected {what} to be a list as [InputSpec([None, 4])], got {given!r:.60}"
            )
    return specs


def _named(metric: Metric) -> dict[str, Any]:
    names, values = metric.name(), metric.accumulate()
    if isinstance(names, str):
        return {names: values}
    return dict(zip(names, values))


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return [np.asarray(v) for v in (value if isinstance(value, (list, tuple)) else [value])]


def _callbacks(given: Any) -> list[Callback]:
    return [] if given is None else [given] if isinstance(given, Callback) else list(given)
