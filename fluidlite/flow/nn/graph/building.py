"""A program of what a graph builds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import numpy as np

from ....backward import append_backward, gradients
from ....eager.engine import located
from ....eager.recording import TensorRecord
from ....errors import BuildError, UnsupportedError
from ....ground import state
from ....ir.program import Program, program_guard
from ....ir.variable import Variable
from ....runtime.executor import Executor
from ....scope import Scope
from ....symbolic import appending
from ...kinds import dtype_of
from ...losses import collecting_losses
from ...tensor import Tensor

Array = np.ndarray[Any, Any]


def mapped(value: Any, change: Callable[[Any], Any], what: str) -> Any:
    """Lists, tuples and dictionaries with something else in place of their tensors.

    Args:
        value: a tensor, None, or what holds them.
        change: takes a tensor.
        what: for the message: "input" or "output".

    Raises:
        UnsupportedError: something else is among them.
    """
    if value is None:
        return None
    if isinstance(value, (TensorRecord, Variable)):
        return change(value)
    if isinstance(value, Mapping):
        return {name: mapped(each, change, what) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [mapped(each, change, what) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    raise located(
        UnsupportedError,
        f"expected tensors, None, or lists and dictionaries of them as {what} of a graph, got "
        f"{value!r:.60}",
    )


class GraphProgram:
    """The program of a graph for inputs of certain shapes.

    Args:
        build: makes the outputs of the inputs.
        inputs: positional and named ones, with tensors.
        parts: of each tensor's first dimension so many are computed one after the other.
        names: tensors of modules by the names that the program gives them.
        trained: the parameters whose gradients are computed.
    """

    def __init__(
        self,
        build: Callable[..., Any],
        inputs: tuple[tuple[Any, ...], dict[str, Any]],
        parts: int,
        names: Mapping[str, Any],
        trained: Sequence[Any],
    ) -> None:
        self.program: Program = Program()
        self.parts = parts
        self.forms: list[tuple[Any, ...]] = []
        self._feeds: list[str] = []
        self._executor = Executor()
        self._scope = Scope()
        building = program_guard(self.program, Program())
        # a condition on a variable is no choice: under this guard it is an error
        strictly = state.strictness.guard(True)
        worded = state.reader.guard(attrgetter("graph"))
        with building, strictly, worded, _named(names), collecting_losses() as losses:
            args, kwargs = mapped(inputs, self._fed, "input")
            with appending(Tensor, *args, kwargs):
                self.outputs: Any = build(*args, **kwargs)
            self._read(names)
            self.has_loss: bool = bool(losses)
            self._differentiate(losses, trained)
        self._scalars = _scalars(self.program)
        self._fetched: list[Variable] = []
        mapped(self.outputs, self._fetch, "output")

    def _fetch(self, output: Any) -> None:
        """Note an output that the program computes; a tensor is the same after each run."""
        if isinstance(output, Variable):
            self._fetched.append(output)

    def _fed(self, tensor: TensorRecord) -> Variable:
        """The variable that is fed with an input."""
        array = tensor.array
        shape = list(array.shape)
        if self.parts > 1:
            if not shape or shape[0] % self.parts:
                raise located(
                    BuildError, f"expected a batch of {self.parts} equal parts, got shape {shape}"
                )
            shape[0] //= self.parts
        name = f"input_{len(self._feeds)}"
        self.forms.append((tuple(array.shape), array.dtype))
        self._feeds.append(name)
        variable: Variable = self.program.global_block().create_var(
            name=name,
            shape=shape or [1],
            dtype=array.dtype,
            is_data=True,
            need_check_feed=True,
            stop_gradient=True,
        )
        return variable

    def _read(self, names: Mapping[str, Any]) -> None:
        """Find the tensors that the program reads, and those that it writes."""
        block = self.program.global_block()
        self._tensors = {name: names[name] for name in block.vars if name in names}
        written = {name for op in block.ops for name in op.output_arg_names}
        self._written: list[str] = sorted(written & self._tensors.keys())

    def _differentiate(self, losses: list[Variable], trained: Sequence[Any]) -> None:
        """Append what computes the gradients of losses."""
        self._trained: list[Any] = []
        self._gradients: list[Variable] = []
        if not losses:
            return
        names = {id(tensor): name for name, tensor in self._tensors.items()}
        wanted = [each for each in trained if id(each) in names and not each.stop]
        block = self.program.global_block()
        inputs = [block.var(names[id(each)]) for each in wanted]
        if len(losses) == 1:  # of one element: as a program of the other spellings
            slopes = dict(append_backward(losses[0], inputs)) if inputs else {}
            flows = [slopes.get(variable) for variable in inputs]
        else:
            flows = gradients(losses, inputs) if inputs else []
        for tensor, flow in zip(wanted, flows):
            if flow is not None:
                self._trained.append(tensor)
                self._gradients.append(flow)

    def run(self, tensors: Sequence[Any]) -> tuple[Any, list[tuple[Any, Array]]]:
        """Run the program once for each part of the inputs.

        Args:
            tensors: the inputs, in order.

        Returns:
            the outputs, and pairs of a parameter and its gradient, the mean of those of the parts.
        """
        for name, tensor in self._tensors.items():
            self._scope.var(name).get_tensor().set(np.atleast_1d(np.array(tensor.array)))
        fetched = [*self._fetched, *self._gradients]
        runs = []
        for part in range(self.parts):
            feed = {
                name: np.atleast_1d(_part(tensor.array, part, self.parts))
                for name, tensor in zip(self._feeds, tensors)
            }
            runs.append(self._executor.run(self.program, feed, fetched, scope=self._scope))
        for name in self._written:
            tensor = self._tensors[name]
            array = np.array(self._scope.var(name).get_tensor())
            tensor.set_value(array.reshape(tensor.array.shape))
        count = len(self._fetched)
        results = iter([self._joined(k, [each[k] for each in runs]) for k in range(count)])
        sums = [sum(each[count + k] for each in runs) for k in range(len(self._gradients))]
        slopes = [np.asarray(total / self.parts, total.dtype) for total in sums]
        outputs = mapped(
            self.outputs,
            lambda each: next(results) if isinstance(each, Variable) else each.clone(),
            "output",
        )
        shaped = [g.reshape(p.array.shape) for p, g in zip(self._trained, slopes)]
        return outputs, list(zip(self._trained, shaped))

    def _joined(self, k: int, parts: Sequence[Any]) -> Tensor:
        """One output, of those of the parts."""
        arrays = [np.asarray(part) for part in parts]
        if len(arrays) > 1:
            return Tensor.results(np.concatenate([np.atleast_1d(array) for array in arrays]))
        is_scalar = self._fetched[k].name in self._scalars
        return Tensor.results(arrays[0].reshape(()) if is_scalar else arrays[0])

    def check(self, tensors: Sequence[Any]) -> None:
        """Refuse inputs that are unlike those that the program was built for.

        Raises:
            BuildError: there are others.
        """
        forms = [(tuple(tensor.array.shape), tensor.array.dtype) for tensor in tensors]
        if forms != self.forms:
            said, came = (
                ", ".join(f"{dtype}{list(shape)}" for shape, dtype in each)
                for each in (self.forms, forms)
            )
            raise located(
                BuildError,
                f"expected inputs as in the first call of the graph, {said}, got {came}; make "
                f"another graph for others",
            )

    def describe(self) -> list[str]:
        """The program in words."""
        inputs = [
            f"(INPUT:{name}:tensor(..., size={shape}, dtype={dtype_of(np.empty(0, dtype))}))"
            for name, (shape, dtype) in zip(self._feeds, self.forms)
        ]
        return [*inputs, *[f"(OPERATOR: {op})" for op in self.program.global_block().ops]]


def _part(array: Array, part: int, parts: int) -> Array:
    if parts == 1:
        return array
    size = len(array) // parts
    return array[part * size : (part + 1) * size]


@contextmanager
def _named(names: Mapping[str, Any]) -> Iterator[None]:
    """A guard under which tensors have the names that a graph gives them."""
    before = [(tensor, tensor.given_name) for tensor in names.values()]
    for name, tensor in names.items():
        tensor.given_name = name
    try:
        yield
    finally:
        for tensor, name in before:
            tensor.given_name = name


def _scalars(program: Program) -> set[str]:
    """The variables of a program that tensors without dimensions would stand for.

    A program has none: their variables have one dimension of size 1.
    """
    names: set[str] = set()
    for op in program.global_block().ops:
        inputs = [n for n in op.input_arg_names if n in program.global_block().vars]
        shapes = [tuple(program.global_block().var(n).shape) for n in inputs]
        if _gives_scalar(op, inputs, shapes, names):
            names.update(op.output_arg_names)
    return names


def _gives_scalar(
    op: Any, inputs: list[str], shapes: list[tuple[int, ...]], names: set[str]
) -> bool:
    if op.type == "mean":
        return True
    if op.type.startswith("reduce_") or op.type in ("amax", "amin", "frobenius_norm", "p_norm"):
        dims = op.attr("dim") if op.has_attr("dim") else ()
        whole = op.has_attr("reduce_all") and op.attr("reduce_all")
        kept = op.has_attr("keep_dim") and op.attr("keep_dim")
        return not kept and bool(whole or len(dims or ()) == len(shapes[0]))
    if op.type == "slice":
        return len(op.attr("decrease_axis") or ()) == len(shapes[0])
    if not inputs or op.type in ("concat", "stack", "expand", "tile"):
        return False
    return all(shape == (1,) for shape in shapes) and any(name in names for name in inputs)
