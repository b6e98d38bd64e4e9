"""Batches of a model of static programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from .. import unique_name
from ..input import data
from ..io import load_program_state, save, save_inference_model, set_program_state
from ..ir.program import Program, default_startup_program, program_guard
from ..layers import mean
from ..runtime.executor import Executor
from ..scope import Scope, scope_guard
from .batches import Batch, loss_of
from .specification import InputSpec


class InProgram:
    """Trains and tests programs that a function builds, in a scope of their own.

    Args:
        network: makes variables of variables: a function, or a layer of programs.
        inputs, labels: what they look like.
        loss: of outputs and labels; None where it is not trained.
        optimizer: None where it is not trained.
    """

    def __init__(
        self,
        network: Callable[..., Any],
        inputs: Sequence[InputSpec],
        labels: Sequence[InputSpec],
        loss: Callable[..., Any] | None,
        optimizer: Any,
    ) -> None:
        parameters = network.parameters() if hasattr(network, "parameters") else []
        main = parameters[0].program if parameters else Program()
        startup = default_startup_program() if parameters else Program()
        # a function that is built again gets the same names, so that files fit
        names = nullcontext() if parameters else unique_name.guard()
        with names, program_guard(main, startup):
            ins = [_data(spec, f"input_{k}") for k, spec in enumerate(inputs)]
            found = network(*ins)
            outputs = list(found) if isinstance(found, (list, tuple)) else [found]
            self._predicting = main.clone(for_test=True)
            self._labels: list[Any] = []
            self._loss = None
            if loss is not None:
                self._labels = [_data(spec, f"label_{k}") for k, spec in enumerate(labels)]
                value = loss_of(loss, outputs, self._labels)
                self._loss = value if np.prod(value.shape) == 1 else mean(value)
            self._testing = main.clone(for_test=True)
            if optimizer is not None and self._loss is not None:
                optimizer.minimize(self._loss, startup)
        self._inputs, self._outputs, self._optimizer = ins, outputs, optimizer
        self.program: Program = main
        self.scope: Scope = Scope()
        self._executor = Executor()
        if startup.global_block().ops:
            self._executor.run(startup, scope=self.scope)

    def run(self, batch: Batch) -> tuple[float | None, list[Any]]:
        """The loss, None without labels, and the outputs of a batch."""
        judged = batch.labels is not None and self._loss is not None
        program = self.program if batch.train and batch.step else self._testing
        program = program if judged else self._predicting
        feeds = [*self._inputs, *(self._labels if judged else ())]
        given = [*batch.inputs, *((batch.labels or ()) if judged else ())]
        feed = {
            variable.name: np.asarray(value, variable.dtype.dtype)
            for variable, value in zip(feeds, given, strict=True)
        }
        wanted = [*([self._loss] if judged else ()), *self._outputs]
        found = self._executor.run(program, feed=feed, fetch_list=wanted, scope=self.scope)
        return (float(found[0].item()), found[1:]) if judged else (None, found)

    def rate(self) -> float:
        """The learning rate."""
        return float(self._optimizer.current_step_lr(self.scope))

    def parameters(self) -> list[Any]:
        """The parameters."""
        return list(self.program.all_parameters())

    def state(self) -> dict[str, Any]:
        """Values of parameters by name."""
        return {p.name: np.asarray(self.scope.value(p.name)) for p in self.parameters()}

    def save(self, path: str, training: bool) -> None:
        """Write the program with its parameters, and what the optimizer keeps; or what serves
        predictions.
        """
        with scope_guard(self.scope):
            if training:
                save(self.program, path)
                return
            names = [each.name for each in self._inputs]
            targets = [self._predicting.global_block().var(each.name) for each in self._outputs]
            save_inference_model(path, names, targets, self._executor, self._predicting)

    def load(self, path: str, skip_mismatch: bool, reset_optimizer: bool) -> None:
        """Read what :meth:`save` wrote for training."""
        state = load_program_state(path)
        parameters = {p.name: p for p in self.parameters()}
        if skip_mismatch:
            state = {
                name: value
                for name, value in state.items()
                if name not in parameters or tuple(parameters[name].shape) == np.shape(value)
            }
        if reset_optimizer:
            kept = {v.name for v in self._testing.list_vars()}
            state = {name: value for name, value in state.items() if name in kept}
        with scope_guard(self.scope):
            set_program_state(self.program, state)


def _data(spec: InputSpec, name: str) -> Any:
    return data(spec.name or name, list(spec.sizes), spec.dtype)
