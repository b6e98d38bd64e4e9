"""How a model runs a batch: its layers at once, or a program of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...eager.mode import no_grad
from ...eager.recording import TensorRecord
from ...errors import ArgumentError, StateDictError
from ...functions.composed import add_n
from ...functions.creation import to_tensor
from ...ir.program import Program, program_guard
from ...optimizer.optimizer import Optimizer
from ...runtime.executor import Executor
from ...scope import Scope
from ..metric import Metric
from ..static.data import data


class Trained(NamedTuple):
    """What a model is trained with."""

    network: Any
    loss: Callable[..., Any] | None
    optimizer: Any
    metrics: Sequence[Metric]

    def losses(self, outputs: Sequence[Any], labels: Sequence[Any]) -> list[Any]:
        """The losses of outputs; none where there is no loss."""
        return [] if self.loss is None else listed(self.loss(*outputs, *labels))

    def counted(self, outputs: Sequence[Any], labels: Sequence[Any]) -> list[list[Any]]:
        """What each metric counts of outputs."""
        return [listed(metric.compute(*outputs, *labels)) for metric in self.metrics]


class BatchResult(NamedTuple):
    """What a batch gave."""

    losses: list[Any]  #: arrays
    counted: list[list[Any]]  #: of each metric: arrays
    outputs: list[Any]  #: arrays


class DynamicWay:
    """Runs layers at once.

    Args:
        trained: the network, its loss, optimizer and metrics.
    """

    def __init__(self, trained: Trained) -> None:
        self._trained = trained

    def train(self, inputs: Sequence[Any], labels: Sequence[Any], update: bool) -> BatchResult:
        """Find gradients, and make a step with them where ``update`` says so."""
        trained = self._trained
        trained.network.train()
        outputs, known = self._outputs(inputs), [*map(_tensor, labels)]
        losses = trained.losses(outputs, known)
        total = losses[0] if len(losses) == 1 else add_n(losses)
        total.backward()
        if update:
            trained.optimizer.step()
            trained.optimizer.clear_grad()
        with no_grad():
            return self._found(losses, outputs, known)

    def test(self, inputs: Sequence[Any], labels: Sequence[Any]) -> BatchResult:
        """Losses, metrics and outputs of a batch."""
        self._trained.network.eval()
        with no_grad():
            outputs, known = self._outputs(inputs), [*map(_tensor, labels)]
            return self._found(self._trained.losses(outputs, known), outputs, known)

    def predict(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of a batch."""
        self._trained.network.eval()
        with no_grad():
            return [each.numpy() for each in self._outputs(inputs)]

    def optimizer_state(self) -> dict[str, Any]:
        """What the optimizer keeps."""
        return dict(self._trained.optimizer.state_dict())

    def load_optimizer(self, state: dict[str, Any]) -> None:
        """Go on from what the optimizer kept; of a network whose parameters have other names, by
        the order of these.
        """
        optimizer = self._trained.optimizer
        try:
            optimizer.set_state_dict(state)
        except StateDictError:
            optimizer.set_state_dict(state, by_position=True)

    def _outputs(self, inputs: Sequence[Any]) -> list[Any]:
        return listed(self._trained.network(*map(_tensor, inputs)))

    def _found(
        self, losses: Sequence[Any], outputs: Sequence[Any], labels: Sequence[Any]
    ) -> BatchResult:
        counted = self._trained.counted(outputs, labels)
        return BatchResult(
            [each.numpy() for each in losses],
            [[*map(_array, each)] for each in counted],
            [each.numpy() for each in outputs],
        )


class StaticWay:
    """Runs programs of layers, in static mode.  The layers' tensors have the values of the scope
    behind each step, and the scope has theirs where they were given others.

    Args:
        trained: the network, its loss, optimizer and metrics.
        inputs, labels: what they look like.
    """

    def __init__(self, trained: Trained, inputs: Sequence[Any], labels: Sequence[Any]) -> None:
        self._trained = trained
        self.program: Program = Program()
        startup = Program()
        trained.network.train()
        with program_guard(self.program, startup):
            self._ins = [_variable(spec, f"input_{k}") for k, spec in enumerate(inputs)]
            self._outputs = listed(trained.network(*self._ins))
            self._predicting = self.program.clone(for_test=True)
            self._labels = [_variable(spec, f"label_{k}") for k, spec in enumerate(labels)]
            knows = bool(labels) or trained.loss is None
            self._losses = trained.losses(self._outputs, self._labels) if knows else []
            self._counted = trained.counted(self._outputs, self._labels) if knows else []
            self._testing = self.program.clone(for_test=True)
            if trained.optimizer is not None and self._losses:
                single = len(self._losses) == 1
                total = self._losses[0] if single else add_n(self._losses)
                trained.optimizer.minimize(total)
        self._scope = Scope()
        self._executor = Executor()
        self._executor.run(startup, scope=self._scope)
        self._known: dict[str, Any] = {}  # by name: the array that both sides have
        self._pull()

    def train(self, inputs: Sequence[Any], labels: Sequence[Any], update: bool) -> BatchResult:
        """Make a step.

        Raises:
            ArgumentError: it is to find gradients alone, which programs do not.
        """
        if not update:
            raise ArgumentError(
                "expected update=True, and accumulate_grad_batches=1, in static mode"
            )
        found = self._run(self.program, inputs, labels)
        self._pull()
        return found

    def test(self, inputs: Sequence[Any], labels: Sequence[Any]) -> BatchResult:
        """Losses, metrics and outputs of a batch."""
        return self._run(self._testing, inputs, labels)

    def predict(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of a batch."""
        self._push()
        return self._fetched(self._predicting, self._feed(self._ins, inputs), self._outputs)

    def optimizer_state(self) -> dict[str, Any]:
        """What the optimizer keeps."""
        return dict(Optimizer.state_dict(self._trained.optimizer, self._scope))

    def load_optimizer(self, state: dict[str, Any]) -> None:
        """Go on from what the optimizer kept."""
        Optimizer.set_dict(self._trained.optimizer, state, self._scope)

    def _run(self, program: Program, inputs: Sequence[Any], labels: Sequence[Any]) -> BatchResult:
        self._push()
        feed = self._feed([*self._ins, *self._labels], [*inputs, *labels])
        flat = [each for several in self._counted for each in several]
        wanted = [*self._losses, *flat, *self._outputs]
        arrays = iter(self._fetched(program, feed, wanted))
        losses = [np.array(next(arrays)).reshape(()) for _ in self._losses]
        counted = [[next(arrays) for _ in several] for several in self._counted]
        return BatchResult(losses, counted, list(arrays))

    def _fetched(self, program: Program, feed: Any, wanted: list[Any]) -> list[Any]:
        return list(self._executor.run(program, feed=feed, fetch_list=wanted, scope=self._scope))

    @staticmethod
    def _feed(variables: Sequence[Any], values: Sequence[Any]) -> dict[str, Any]:
        return {variable.name: _array(each) for variable, each in zip(variables, values)}

    def _tensors(self) -> list[Any]:
        state = self._trained.network.state_dict().values()
        return [each for each in state if self._scope.find_var(each.name) is not None]

    def _push(self) -> None:
        """Give the scope what tensors were given since."""
        for tensor in self._tensors():
            if self._known.get(tensor.name) is not tensor.array:
                self._scope.find_var(tensor.name).get_tensor().set(tensor.array)
        self._pull()

    def _pull(self) -> None:
        """Give the tensors the values of the scope."""
        for tensor in self._tensors():
            array = self._known[tensor.name] = np.asarray(self._scope.value(tensor.name))
            tensor.replace(array)


def listed(value: Any) -> list[Any]:
    """Several values, or one alone, as a list.

    Args:
        value: a list, a tuple, a dictionary, or one; None for none.
    """
    if value is None:
        return []
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _variable(spec: Any, name: str) -> Any:
    return data(spec.name or name, list(spec.sizes), spec.dtype)


def _tensor(value: Any) -> Any:
    return value if isinstance(value, TensorRecord) else to_tensor(value)


def _array(value: Any) -> Any:
    return value.numpy() if isinstance(value, TensorRecord) else np.asarray(value)  # type: ignore[attr-defined]


__all__ = ["BatchResult", "DynamicWay", "StaticWay", "Trained", "listed"]
