"""Models that are loaded to be run: a program, its parameters, and what runs it.

All that run a model share these; each has a prepared run of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, DTypeError, ModelNameError, suggestion
from ..ground.docstrings import Family
from ..ground.dtypes import Kind
from ..ground.files import Path, read_bytes
from ..ground.spellings import parameters_of
from ..ground.values import LoDTensor, LoDTensorArray
from ..io.inference import MODEL, load_inference_model
from ..ir.program import Program
from ..ir.variable import Variable
from ..kernels.threads import BlasThreads
from ..runtime.executor import Executor
from ..runtime.session import Observer
from ..runtime.step import Environment, Step
from ..scope import Scope, scope_guard
from .handles import Handle

Hook = Callable[[str, str, Any], None]
#: what makes predictors
MODELS = Family(
    {"config": "says which model."},
    raises="""ArgumentError: it is no configuration, or names no model.
FileError: a file cannot be read; says which, and why.
FileFormatError: a file is not what it should be; says where.""",
)


class Served:
    """A model in memory.

    Args:
        folder, program, parameters: where it lies; as of ``load_inference_model``.
    """

    #: those of the BLAS, where operators run one after the other; more than 1 means all of them
    threads: int = 1

    def __init__(
        self, folder: Path | None, program: str | bytes | None, parameters: str | bytes | None
    ) -> None:
        self.executor: Executor = Executor()
        self.scope: Scope = Scope()
        with scope_guard(self.scope):
            loaded = load_inference_model(folder, self.executor, program, parameters)
        self.program: Program = loaded[0]
        self.feeds: list[Variable] = [self.program.global_block().var(n) for n in loaded[1]]
        self.fetches: list[Variable] = loaded[2]
        for variable in self.feeds:
            variable.need_check_feed = False  # predictors take what operators can compute with
        #: whether values may have sequences, or be arrays of tensors
        self.is_ragged: bool = any(
            each.lod_level or each.kind is not Kind.LOD_TENSOR
            for each in (*self.feeds, *self.fetches)
        )

    @classmethod
    def of_folder(cls, folder: Path) -> Served:
        """The model whose program is ``__model__``, with a file for each parameter."""
        read_bytes(os.path.join(folder, MODEL))  # says which file is missing
        return cls(folder, None, None)

    @classmethod
    def of_files(cls, program: Path, parameters: Path) -> Served:
        """The model of two files.

        Args:
            program: the file of the program.
            parameters: the one of all parameters; empty where each has its own beside the program.
        """
        folder, name = os.path.split(os.fspath(program))
        read_bytes(program)
        beside, params = os.path.split(os.fspath(parameters))
        if not params or beside == folder:
            return cls(folder or ".", name, params or None)
        return cls(None, read_bytes(program), read_bytes(parameters))


class Serving:
    """One user of a model: its inputs and outputs, and a prepared run.

    Args:
        served: the model.
        handle: makes an input or an output of a name.
    """

    def __init__(self, served: Served, handle: Callable[[str], Handle]) -> None:
        self.served = served
        self.inputs: dict[str, Handle] = {v.name: handle(v.name) for v in served.feeds}
        self.outputs: dict[str, Handle] = {v.name: handle(v.name) for v in served.fetches}
        self._fetches = served.fetches
        self._step = served.executor.prepare(
            served.program, list(self.inputs), self._fetches, served.scope
        )
        self.hooks: list[Hook] = []

    def handle(self, name: str, first: Mapping[str, Handle]) -> Handle:
        """An input or an output.

        Args:
            name: of the variable.
            first: where it is looked for first.

        Raises:
            ModelNameError: the model has neither.
        """
        for handles in (first, self.inputs, self.outputs):
            if name in handles:
                return handles[name]
        raise ModelNameError(
            f"the model has no input or output {name!r}{suggestion(str(name), first)}; its inputs "
            f"are {_listed(self.inputs)}, its outputs {_listed(self.outputs)}"
        )

    def run(self) -> None:
        """Compute the outputs from what the inputs hold.

        Raises:
            NotInitializedError: an input holds nothing.
            DTypeError: an input has an element type that the model does not take.
            FluidError: an operator failed; says which.
        """
        feed = {name: handle.fed() for name, handle in self.inputs.items()}
        for handle, value in zip(self.outputs.values(), self.compute(feed)):
            if isinstance(value, LoDTensor):
                handle.hold(value.data, value.offsets)
            else:
                handle.hold(np.asarray(value), ())

    def compute(self, feed: Mapping[str, Any]) -> list[Any]:
        """What the model gives for a feed: arrays, or tensors with sequences.

        Args:
            feed: name of an input -> an array, or a tensor with sequences.
        """
        served = self.served
        for variable in served.feeds:
            _check_type(variable, feed[variable.name])
        if self.hooks:
            observer = _CallsHooks(self.hooks)
            served.executor.observe(observer, served.program, feed, served.scope)
        if not served.is_ragged and not any(isinstance(each, LoDTensor) for each in feed.values()):
            return self._step(feed)
        values = BlasThreads().within(served.threads, self._interpret, feed)
        return [_joined(each) for each in values]

    def _interpret(self, feed: Mapping[str, Any]) -> list[Any]:
        served = self.served
        return served.executor.run(
            served.program, feed, self._fetches, scope=served.scope, return_numpy=False
        )


class NamedInputs:
    """What predictors say of their inputs and outputs."""

    _serving: Serving

    def get_input_names(self) -> list[str]:
        """The names of the inputs, in their order."""
        return list(self._serving.inputs)

    def get_output_names(self) -> list[str]:
        """The names of the outputs, in their order."""
        return list(self._serving.outputs)


def input_of(predictor: NamedInputs, name: str) -> Handle:
    """An input.

    Args:
        name: its name.

    Raises:
        ModelNameError: there is none of that name.
    """
    return predictor._serving.handle(name, predictor._serving.inputs)


@parameters_of(input_of)
def output_of(predictor: NamedInputs, name: str) -> Handle:
    """An output.

    Raises:
        ModelNameError: there is none of that name.
    """
    return predictor._serving.handle(name, predictor._serving.outputs)


def fed_in_order(serving: Serving, values: Sequence[Any]) -> dict[str, Any]:
    """Values by the names of the inputs.

    Args:
        serving: whose inputs.
        values: one for each, in their order.

    Raises:
        ArgumentError: there are more or fewer.
    """
    if len(values) != len(serving.inputs):
        raise ArgumentError(
            f"expected {len(serving.inputs)} values, for {_listed(serving.inputs)}, got "
            f"{len(values)}"
        )
    return dict(zip(serving.inputs, values))


def _joined(value: Any) -> Any:
    """An array of tensors as one tensor, which handles hold."""
    if not isinstance(value, LoDTensorArray):
        return value
    return np.concatenate([np.asarray(each) for each in value]) if len(value) else np.zeros([0])


def _check_type(variable: Variable, value: Any) -> None:
    """Refuse an element type that is not the declared one: predictors convert nothing."""
    data = value.data if isinstance(value, LoDTensor) else value
    declared = variable.dtype.dtype if variable.has_dtype else data.dtype
    whole = declared.kind in "iu" and data.dtype.kind in "iu"
    if not whole and data.dtype != declared:
        raise DTypeError(
            f"input {variable.name!r}: expected {declared}, as the model declares it, got "
            f"{data.dtype}; convert it with astype({str(declared)!r})"
        )


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, names)) or "none"


class _CallsHooks(Observer):
    """Calls functions with what each operator computes."""

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self._hooks = hooks

    def after(self, step: Step, env: Environment) -> None:
        for name in step.writes:
            for hook in self._hooks if name in env else ():
                hook(step.op.type, name, env[name])
