"""``paddle.Model``: a network with its loss, optimizer and metrics, and the loops over data."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...eager.recording import TensorRecord
from ...errors import ArgumentError, NotInitializedError
from ...ground.callsite import warn
from ...ground.files import Path
from ...ground.public_names import list_public_names
from ...ground.reprs import shown
from ...model import InputSpec
from ...model import InputSpec as Input
from ...model.callbacks import Callback, Callbacks
from ...nn.layer import Layer
from .. import jit
from ..files import load, save
from ..io import DataLoader, Dataset, DistributedBatchSampler
from ..metric import Metric
from ..modes import in_dynamic_mode
from .callbacks import EarlyStopping, config_callbacks
from .model_summary import Shape, summary
from .ways import BatchResult, DynamicWay, StaticWay, Trained, listed

if TYPE_CHECKING:
    from ...functions.arguments import ArrayLike, DTypeLike
    from ...optimizer.optimizer import Optimizer

__all__ = ["Input", "InputSpec", "Model"]

_AMP_LEVELS = ("O0", "O1", "O2")
#: what else automatic mixed precision may be told; on a CPU without effect
_AMP_OPTIONS = {
    "custom_black_list", "custom_white_list", "decr_every_n_nan_or_inf", "decr_ratio",
    "incr_every_n_steps", "incr_ratio", "init_loss_scaling", "use_dynamic_loss_scaling",
    "use_fp16_guard", "level",
}  # fmt: skip


class Model:
    """A network that can be trained, tested and asked.

    In static mode its layers are built into a program, which needs ``inputs`` and ``labels``.

    Args:
        network: the layer.
        inputs: what each input looks like; those of the network's ``forward`` when None.
        labels: the same for labels; what stands behind the inputs in a batch when None.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> paddle = fluid.paddle
    >>> rows = paddle.io.TensorDataset([paddle.ones([8, 2]), paddle.ones([8, 1])])
    >>> model = paddle.Model(paddle.nn.Linear(2, 1))
    >>> sgd = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    >>> model.prepare(sgd, paddle.nn.MSELoss())
    >>> model.fit(rows, batch_size=4, epochs=30, verbose=0)
    >>> model.evaluate(rows, batch_size=8, verbose=0)["loss"][0] < 0.01
    True
    """

    def __init__(self, network: Layer, inputs: Any = None, labels: Any = None) -> None:
        if not isinstance(network, Layer):
            raise ArgumentError(f"Model: expected a paddle.nn.Layer, got {network!r:.60}")
        self.network = network
        self.mode: str = "train"  #: what the last batch was for: "train", "eval" or "test"
        self._inputs, self._labels = _specs("inputs", inputs), _specs("labels", labels)
        if not in_dynamic_mode() and self._inputs is None:
            raise ArgumentError("Model: expected inputs in static mode, as [InputSpec([None, 4])]")
        self.optimizer: Any = None
        self._loss: Callable[..., Any] | None = None
        self._metrics: list[Metric] = []
        self._way: DynamicWay | StaticWay | None = None
        self._is_prepared = False
        self._shapes: list[list[int]] | None = None  # of the last inputs
        #: set by callbacks to end training behind this epoch
        self.stop_training: bool = False
        self._left: int | None = None  # batches until training ends

    def prepare(
        self,
        optimizer: Optimizer | None = None,
        loss: Callable[..., Any] | None = None,
        metrics: Metric | Sequence[Metric] | None = None,
        amp_configs: str | dict[str, Any] | None = None,
    ) -> None:
        """Say how the network is trained.

        Args:
            optimizer: with the network's parameters.
            loss: a function or layer of outputs and labels.
            metrics: what else is measured.
            amp_configs: a level of mixed precision, or a dictionary with ``level`` and options;
                without effect, since there is none on a CPU.

        Raises:
            ArgumentError: an argument is of another kind.
        """
        if loss is not None and not callable(loss):
            raise ArgumentError(f"expected a function or a layer as the loss, got {loss!r:.60}")
        metrics = listed(metrics)
        for each in metrics:
            if not isinstance(each, Metric):
                raise ArgumentError(f"expected metrics of paddle.metric, got {each!r:.60}")
        _check_amp(amp_configs)
        self.optimizer, self._loss, self._metrics = optimizer, loss, metrics
        self._is_prepared, self._way = True, None

    @property
    def _optimizer(self) -> Any:
        """What scripts for paddle 2 call the optimizer."""
        return self.optimizer

    @property
    def schedule(self) -> Any:
        """The optimizer's learning rate: a number or a scheduler; None without an optimizer."""
        return getattr(self.optimizer, "_learning_rate", None)

    def _prepared(self) -> DynamicWay | StaticWay:
        if self._way is None:
            trained = Trained(self.network, self._loss, self.optimizer, self._metrics)
            if in_dynamic_mode():
                self._way = DynamicWay(trained)
            else:
                self._way = StaticWay(trained, self._inputs or [], self._labels or [])
        return self._way

    # -- single batches ----------------------------------------------------------------------------

    def train_batch(
        self,
        inputs: ArrayLike | Sequence[ArrayLike],
        labels: ArrayLike | Sequence[ArrayLike] | None = None,
        update: bool = True,
    ) -> Any:
        """Make a step with a batch.

        Args:
            inputs, labels: an array or tensor, or several.
            update: False: add gradients up only.

        Returns:
            a list of losses, and where there are metrics a pair of it and of a list of their
            numbers.

        Raises:
            ArgumentError: nothing is prepared.
        """
        if not self._is_prepared or self.optimizer is None or self._loss is None:
            raise ArgumentError("expected an optimizer and a loss: model.prepare(optimizer, loss)")
        given = self._noted(inputs, "train")
        found = self._prepared().train(given, listed(labels), update)
        return self._told(found)

    def eval_batch(
        self,
        inputs: ArrayLike | Sequence[ArrayLike],
        labels: ArrayLike | Sequence[ArrayLike] | None = None,
    ) -> Any:
        """The losses and metrics of a batch, as of :meth:`train_batch`; without a loss those of
        metrics alone.

        Args:
            inputs, labels: an array or tensor, or several.
        """
        return self._told(self._prepared().test(self._noted(inputs, "eval"), listed(labels)))

    def predict_batch(self, inputs: ArrayLike | Sequence[ArrayLike]) -> list[Any]:
        """The outputs of a batch, as arrays.

        Args:
            inputs: an array or tensor, or several.
        """
        return self._prepared().predict(self._noted(inputs, "test"))

    def _noted(self, inputs: Any, mode: str) -> list[Any]:
        """Inputs as a list, whose shapes are known from now on, as is what is done with them."""
        self.mode = mode
        given = listed(inputs)
        self._shapes = [_sizes(each) for each in given]
        return given

    def _told(self, found: BatchResult) -> Any:
        pairs = zip(self._metrics, found.counted)
        numbers = [metric.update(*arrays) for metric, arrays in pairs]
        if not self._metrics:
            return found.losses
        return (found.losses, numbers) if found.losses else numbers

    # -- loops -------------------------------------------------------------------------------------

    def fit(
        self,
        train_data: Dataset | DataLoader | None = None,
        eval_data: Dataset | DataLoader | None = None,
        batch_size: int = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Callback | Iterable[Callback] | None = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Train.

        Args:
            train_data: a data set, a loader, or another iterable of batches.
            eval_data: the same, to be tested on.
            batch_size: samples in a batch of a data set.
            epochs: how often to go through the data.
            eval_freq: epochs between two evaluations.
            log_freq: batches between two lines.
            save_dir: write the model there.
            save_freq: epochs between two files.
            verbose: 0: nothing; 1: a bar; 2: lines; 3: lines with times.
            drop_last: leave out a last batch that is smaller.
            shuffle: go through a data set in another order in every epoch.
            num_workers: processes that read a data set.
            callbacks: what else is called.
            accumulate_grad_batches: batches whose gradients make a step.
            num_iters: end behind so many batches, of training and of the evaluations between; it
                decides about ``epochs``.

        Raises:
            ArgumentError: an argument is of another kind, or nothing is prepared.
        """
        if train_data is None:
            raise ArgumentError("fit: expected train_data, got None")
        if accumulate_grad_batches < 1:
            raise ArgumentError(
                f"fit: expected accumulate_grad_batches from 1 on, got {accumulate_grad_batches}"
            )
        if accumulate_grad_batches > 1 and not in_dynamic_mode():
            raise ArgumentError("fit: expected accumulate_grad_batches=1 in static mode")
        train = _loader(train_data, batch_size, shuffle, drop_last, num_workers)
        tests = None
        if eval_data is not None:
            tests = _loader(eval_data, batch_size, False, False, num_workers)
        steps = _length(train)
        self._left = num_iters
        if num_iters is not None and steps is not None:
            epochs, steps = num_iters // steps + 1, min(num_iters, steps)
        told = config_callbacks(
            callbacks, self, None, epochs, steps, log_freq, verbose, save_freq, save_dir,
            self._names(), "train",
        )  # fmt: skip
        if tests is None and any(isinstance(each, EarlyStopping) for each in listed(callbacks)):
            warn("EarlyStopping looks at evaluations: expected eval_data, got None", None)
        self.stop_training = False
        told.call("on_train_begin", None)
        logs: dict[str, Any] = {}
        for epoch in range(epochs):
            told.call("on_epoch_begin", epoch, None)
            logs = self._epoch(train, told, "train", accumulate_grad_batches)
            told.call("on_epoch_end", epoch, logs)
            if tests is not None and epoch % eval_freq == 0:
                self._evaluate(tests, told, _length(tests))
            if self.stop_training or (self._left is not None and self._left <= 0):
                break
        told.call("on_train_end", logs)
        self._left = None

    def evaluate(
        self,
        eval_data: Dataset | DataLoader,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Callback | Iterable[Callback] | None = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """The loss of the last batch, and the metrics.

        Args:
            eval_data, batch_size, log_freq, verbose, num_workers: as of :meth:`fit`.
            callbacks: what else is called.
            num_iters: end behind so many batches.
        """
        loader = _loader(eval_data, batch_size, False, False, num_workers)
        told = config_callbacks(
            callbacks, self, None, None, None, log_freq, verbose, metrics=self._names(), mode="eval"
        )
        self._left, steps = num_iters, _length(loader)
        if num_iters is not None and steps is not None:
            steps = min(num_iters, steps)
        logs = self._evaluate(loader, told, steps)
        self._left = None
        return {name: logs[name] for name in self._names() if name in logs}

    def predict(
        self,
        test_data: Dataset | DataLoader,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Callback | Iterable[Callback] | None = None,
    ) -> list[Any]:
        """The outputs for data; labels in it are passed over.

        Args:
            test_data, batch_size, num_workers, verbose: as of :meth:`fit`.
            stack_outputs: one array for each output; False: a list of those of the batches.
            callbacks: what else is called.
        """
        loader = _loader(test_data, batch_size, False, False, num_workers)
        told = config_callbacks(callbacks, self, verbose=verbose, metrics=[], mode="predict")
        outputs: list[list[Any]] = []
        told.call("on_predict_begin", {"steps": _length(loader)})
        logs: dict[str, Any] = {}
        for step, batch in enumerate(loader):
            told.call("on_predict_batch_begin", step, logs)
            fields = listed(batch)
            inputs = fields[: self._input_count(len(fields))]
            outputs.append(self.predict_batch(inputs))
            logs.update(step=step, batch_size=_rows(inputs))
            told.call("on_predict_batch_end", step, logs)
        told.call("on_predict_end", logs)
        columns = [list(column) for column in zip(*outputs)]
        return [np.concatenate(column) for column in columns] if stack_outputs else columns

    def _evaluate(self, loader: Any, told: Callbacks, steps: int | None) -> dict[str, Any]:
        """Test on data; callbacks get ``steps``."""
        told.call("on_eval_begin", {"steps": steps, "metrics": self._names()})
        logs = self._epoch(loader, told, "eval", 1)
        told.call("on_eval_end", logs)
        return logs

    def _epoch(self, loader: Any, told: Callbacks, mode: str, parts: int) -> dict[str, Any]:
        """Go through data once; the numbers of its last batch."""
        if not self._is_prepared:
            raise ArgumentError("expected a loss or metrics: model.prepare(optimizer, loss)")
        logs: dict[str, Any] = {}
        steps = _length(loader)
        for step, batch in enumerate(loader):
            told.call(f"on_{mode}_batch_begin", step, logs)
            fields = listed(batch)
            count = self._input_count(len(fields))
            inputs, labels = fields[:count], fields[count:]
            if mode == "train":
                ends = (step + 1) % parts == 0 or step + 1 == steps
                found = self.train_batch(inputs, labels, ends)
            else:
                found = self.eval_batch(inputs, labels)
            logs.update(self._logs(found), step=step, batch_size=_rows(inputs))
            told.call(f"on_{mode}_batch_end", step, logs)
            if self._left is not None:
                self._left -= 1
                if self._left == 0:
                    break
        for metric in self._metrics:
            metric.reset()
        return logs

    def _logs(self, found: Any) -> dict[str, Any]:
        """Numbers by name: the losses of a batch, and the metrics so far."""
        logs: dict[str, Any] = {}
        if self._loss is not None:
            losses = found[0] if self._metrics else found
            logs["loss"] = [float(np.reshape(each, -1)[0]) for each in losses]
        for metric in self._metrics:
            names, values = listed(metric.name()), listed(metric.accumulate())
            logs.update(zip(names, values))
        return logs

    def _names(self) -> list[str]:
        """What is measured, in its order."""
        names = [] if self._loss is None else ["loss"]
        return names + [name for metric in self._metrics for name in listed(metric.name())]

    def _input_count(self, fields: int) -> int:
        """How many fields of a batch are inputs; all but the last one where the network takes any
        number.
        """
        if self._inputs is not None:
            return len(self._inputs)
        parameters = inspect.signature(self.network.forward).parameters.values()
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return max(fields - 1, 1)
        return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)

    # -- what it consists of -----------------------------------------------------------------------

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network.

        Args:
            args, kwargs: as ``network.parameters`` takes them.
        """
        return list(self.network.parameters(*args, **kwargs))

    def summary(
        self, input_size: Shape | None = None, dtype: DTypeLike | Sequence[DTypeLike] = None
    ) -> dict[str, int]:
        """Print a table of layers and their parameters.

        Args:
            input_size: the shape of the input, or shapes; those of ``inputs`` when None.
            dtype: element types; float32 when None.

        Returns:
            the numbers of elements, ``total_params`` and ``trainable_params``.

        Raises:
            ArgumentError: no shape is known.
        """
        given: Any = self._inputs if input_size is None else input_size
        if given is None:
            raise ArgumentError("summary: expected input_size, or inputs of the Model, got None")
        return summary(self.network, given, dtype)

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: Path, training: bool = True) -> None:
        """Write the model.

        Args:
            path: of files that differ in their ending.
            training: parameters, and what the optimizer keeps; False: a program for predictions.
        """
        if not training:
            inputs: Any = self._inputs
            if inputs is None and self._shapes is not None:
                inputs = [InputSpec(shape) for shape in self._shapes]
                shapes = ", ".join(map(str, self._shapes))
                warn(
                    f"save: inputs of the Model are not given; those of the last batch: {shapes}",
                    None,
                )
            if inputs is None:
                raise NotInitializedError(
                    "save: expected inputs of the Model, as [InputSpec([None, 4])], or a batch "
                    "that it was given before"
                )
            self.network.eval()
            jit.save(self.network, path, inputs)
            return
        path = os.fspath(path)
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        save(self.network.state_dict(), path + ".pdparams")
        if self.optimizer is not None and (state := self._prepared().optimizer_state()):
            save(state, path + ".pdopt")

    def load(self, path: Path, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Go on from what :meth:`save` wrote for training.

        Args:
            path: as it was saved; the ending may stand there.
            skip_mismatch: pass over values that the network has not, or of other shapes.
            reset_optimizer: let the optimizer begin anew.

        Raises:
            ArgumentError: there is no such file, or it has other parameters.
        """
        path = os.fspath(path)
        path = path.removesuffix(".pdparams").removesuffix(".pdopt")
        if not os.path.isfile(path + ".pdparams"):
            raise ArgumentError(f"load: there is no file {path}.pdparams")
        values = load(path + ".pdparams", return_numpy=True)
        chosen = {}
        for name, tensor in self.network.state_dict().items():
            why = _misfit(name, tensor, values)
            if why is None:
                chosen[name] = values[name]
            elif not skip_mismatch:
                raise ArgumentError(f"load: {why}")
            else:
                warn(f"load passes over it: {why}", None)
                chosen[name] = tensor
        self.network.set_state_dict(chosen)
        if reset_optimizer or self.optimizer is None or not os.path.isfile(path + ".pdopt"):
            return
        self._prepared().load_optimizer(load(path + ".pdopt", return_numpy=True))

    def __repr__(self) -> str:
        return f"<Model of {type(self.network).__name__}>"


def _misfit(name: str, tensor: Any, given: Any) -> str | None:
    """Why a value does not fit a parameter; None where it does."""
    if name not in given:
        return f"expected {name}, it is not in the file"
    sizes, own = list(np.shape(given[name])), list(tensor.shape)
    return None if sizes == own else f"expected {name} of shape {own}, got {sizes}"


def _loader(data: Any, batch_size: int, shuffle: bool, drop_last: bool, num_workers: int) -> Any:
    """What gives batches."""
    if not isinstance(data, Dataset):
        if not hasattr(data, "__iter__"):
            raise ArgumentError(f"expected a data set, or an iterable of batches, got {data!r:.60}")
        return data
    sampler = DistributedBatchSampler(data, batch_size, shuffle=shuffle, drop_last=drop_last)
    return DataLoader(data, batch_sampler=sampler, num_workers=num_workers, return_list=True)


def _length(loader: Any) -> int | None:
    """How many batches there are; None where that is not known."""
    try:
        return len(loader)
    except (TypeError, ArgumentError):
        return None


def _rows(inputs: Sequence[Any]) -> int:
    first = _sizes(inputs[0]) if inputs else []
    return first[0] if first else 1


def _sizes(value: Any) -> list[int]:
    """The shape of a tensor, an array, or a value of static mode."""
    return list(value.shape) if isinstance(value, TensorRecord) else list(np.asarray(value).shape)  # type: ignore[attr-defined]


def _specs(what: str, given: Any) -> list[Any] | None:
    """What inputs or labels look like.

    Raises:
        ArgumentError: something else is given.
    """
    if given is None:
        return None
    specs = listed(given)
    for spec in specs:
        if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
            raise ArgumentError(
                f"Model: expected {what} to be a list as [InputSpec([None, 4])], got {shown(given)}"
            )
    return specs


def _check_amp(given: Any) -> None:
    """Refuse settings that mixed precision does not take.

    Raises:
        ArgumentError: it is an unknown level or option.
    """
    if given is None:
        return
    options = {"level": given} if isinstance(given, str) else given
    if not isinstance(options, dict):
        raise ArgumentError(
            f"expected amp_configs to be a level or a dictionary, got {given!r:.60}"
        )
    unknown = [name for name in options if name not in _AMP_OPTIONS]
    if unknown:
        known = ", ".join(sorted(_AMP_OPTIONS))
        raise ArgumentError(f"expected amp_configs with {known}, got {', '.join(unknown)}")
    if options.get("level", "O1") not in _AMP_LEVELS:
        raise ArgumentError(f"expected level O0, O1 or O2, got {options['level']!r}")


list_public_names(globals())
