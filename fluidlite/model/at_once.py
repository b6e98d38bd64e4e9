"""Batches of a model whose layers run at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dygraph import Layer, load_dygraph, save_dygraph
from ..eager.mode import no_grad
from ..eager.recording import TensorRecord
from ..errors import ArgumentError, StateDictError
from ..functions.creation import to_tensor
from ..functions.reduction import mean
from ..ir.program import Program
from .batches import Batch, loss_of


class AtOnce:
    """Trains and tests a layer with parameters of its own.

    Args:
        network: the layer.
        loss: of outputs and labels; None where it is not trained.
        optimizer: with the layer's parameters; None where it is not trained.
    """

    program: Program | None = None

    def __init__(self, network: Layer, loss: Callable[..., Any] | None, optimizer: Any) -> None:
        self.network = network
        self._loss = loss
        self._optimizer = optimizer

    def run(self, batch: Batch) -> tuple[float | None, list[Any]]:
        """The loss, None without labels, and the outputs of a batch."""
        (self.network.train if batch.train else self.network.eval)()
        if batch.train:
            return self._run(batch)
        with no_grad():
            return self._run(batch)

    def _run(self, batch: Batch) -> tuple[float | None, list[Any]]:
        found = self.network(*map(to_tensor, batch.inputs))
        outputs = list(found) if isinstance(found, (list, tuple)) else [found]
        value = None
        if batch.labels is not None and self._loss is not None:
            loss: Any = loss_of(self._loss, outputs, [*map(to_tensor, batch.labels)])
            loss = mean(loss) if loss.array.size != 1 else loss
            value = float(loss)
            if batch.train:
                (loss if batch.parts == 1 else loss / float(batch.parts)).backward()
                if batch.step:
                    self._optimizer.step()
                    self._optimizer.clear_grad(False)
        return value, [each.numpy() for each in outputs]

    def rate(self) -> float:
        """The learning rate of the last step."""
        return float(self._optimizer.current_step_lr())

    def parameters(self) -> list[Any]:
        """The parameters."""
        return list(self.network.parameters())

    def state(self) -> dict[str, Any]:
        """Values of parameters and buffers by name."""
        return {name: value.numpy() for name, value in self.network.state_dict().items()}

    def save(self, path: str, training: bool) -> None:
        """Write parameters, and what the optimizer keeps."""
        if not training:
            raise ArgumentError(
                "expected a model of programs to save what serves predictions: make it with a "
                "function and inputs; or save fluid.trace(network, ...)"
            )
        save_dygraph(self.network.state_dict(), path)
        if self._optimizer is not None:
            save_dygraph(self._optimizer.state_dict() or {"step": to_tensor(0)}, path)

    def load(self, path: str, skip_mismatch: bool, reset_optimizer: bool) -> None:
        """Read what :meth:`save` wrote."""
        parameters, states = load_dygraph(path)
        own = self.network.state_dict()
        if skip_mismatch:
            for name, value in own.items():
                given = parameters.get(name)
                if given is None or np.shape(given) != tuple(value.shape):
                    parameters[name] = value
        self.network.set_dict(parameters)
        if states and self._optimizer is not None and not reset_optimizer:
            moments = {name: value for name, value in states.items() if name != "step"}
            try:
                self._optimizer.set_dict(moments)
            except StateDictError:  # of a network whose parameters have other names
                self._optimizer.set_dict(moments, by_position=True)


def runs_at_once(network: Any) -> bool:
    """Whether a network is a layer whose parameters are tensors."""
    return isinstance(network, Layer) and all(
        isinstance(p, TensorRecord) for p in network.parameters()
    )
