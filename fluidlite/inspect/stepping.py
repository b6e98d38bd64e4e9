"""Every value of one run of a program, by name and by operator."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError, UnknownVariableError, suggestion
from ..ground.quoting import escaping
from ..ground.values import LoDTensor, LoDTensorArray, SelectedRows, arrays_in
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..runtime.executor import Executor
from ..runtime.session import Observer
from ..runtime.step import Environment, Step
from ..scope import Scope
from .value_summary import digest_of

_ROWS = 60  # of a trace that is printed


@dataclass(frozen=True)
class Record:
    """One operator that was run."""

    number: int  #: how many were run before it
    op: Operator
    inputs: dict[str, Any]  #: by name
    outputs: dict[str, Any]
    seconds: float

    @escaping
    def __str__(self) -> str:
        lines = [f"{self.number}: {self.op}{place(self.op)}"]
        for title, values in (("reads", self.inputs), ("writes", self.outputs)):
            lines += [f"  {title} {name}: {digest_of(v)}" for name, v in values.items()]
        return "\n".join(lines)


class Trace:
    """Every value of one run of a program.

    Args:
        program: what was run.

    >>> y = fluid.layers.scale(fluid.data("x", [2]), 2.0)
    >>> feed = {"x": np.ones(2, "float32")}
    >>> run = fluid.inspect.trace(fluid.Executor(), fluid.default_main_program(), feed)
    >>> run[y].tolist(), len(run.records)
    ([2.0, 2.0], 1)
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.records: list[Record] = []
        self._values: dict[tuple[int, str], Any] = {}  # the last ones, by block and name

    def add(self, record: Record) -> None:
        """Take another operator in."""
        self.records.append(record)
        for values in (record.inputs, record.outputs):
            for name, value in values.items():
                self._values[_key(record.op.block, name)] = value

    def __getitem__(self, what: Variable | str) -> Any:
        """The last value of a variable, or of a name in block 0.

        Raises:
            UnknownVariableError: the run did not come to it.
        """
        block = what.block if isinstance(what, Variable) else self.program.global_block()
        name = what.name if isinstance(what, Variable) else what
        key = _key(block, name)
        if key in self._values:
            return self._values[key]
        for other, value in self._values.items():
            if isinstance(what, str) and other[1] == name:
                return value
        known = {each for _, each in self._values}
        raise UnknownVariableError(f"the run has no value of {name!r}{suggestion(name, known)}")

    def __contains__(self, what: Variable | str) -> bool:
        try:
            self[what]
        except UnknownVariableError:
            return False
        return True

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def of(self, op: Operator) -> list[Record]:
        """The times that an operator was run: several inside a loop."""
        return [record for record in self.records if record.op is op]

    def history(self, name: str) -> list[Any]:
        """The values that were written under a name, in turn."""
        return [r.outputs[name] for r in self.records if name in r.outputs]

    def value_at(self, name: str, number: int) -> Any:
        """The value of a name when so many operators had been run; None where there was none.

        Args:
            name: as operators write it.
            number: of operators, from the first one on.
        """
        for record in reversed(self.records[:number]):
            if name in record.outputs:
                return record.outputs[name]
        for record in self.records:  # it came from outside
            if name in record.inputs:
                return record.inputs[name]
            if name in record.outputs:
                return None
        return None

    def maker_at(self, name: str, number: int) -> Record | None:
        """The operator that wrote the value that a name had when so many had been run; None where
        it was fed or lay in the scope.

        Args:
            name, number: as of :meth:`value_at`.
        """
        for record in reversed(self.records[:number]):
            if name in record.outputs:
                return record
        return None

    def first(self, is_wanted: Callable[[Any], bool]) -> Record | None:
        """The first operator that wrote a value of some kind.

        Args:
            is_wanted: a function of a value, such as :func:`is_nan`.
        """
        for record in self.records:
            if any(is_wanted(value) for value in record.outputs.values()):
                return record
        return None

    @escaping
    def __str__(self) -> str:
        rows = [
            [str(r.number), r.op.type, name, str(digest_of(value))]
            for r in self.records
            for name, value in r.outputs.items()
        ]
        shown = rows if len(rows) <= _ROWS else rows[: _ROWS - 1]
        lines = table([["", "operator", "writes", "value"], *shown])
        if len(shown) < len(rows):
            lines.append(f"... and {len(rows) - len(shown)} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        seconds = sum(record.seconds for record in self.records)
        return f"<Trace: {len(self.records)} operators, {1e3 * seconds:.1f} ms>"


def table(rows: list[list[str]]) -> list[str]:
    """Rows of texts as aligned lines."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(f"{text:<{w}}" for text, w in zip(row, widths)).rstrip() for row in rows]


class Recorder(Observer):
    """Writes a run into a trace.

    Args:
        trace: takes what was run.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._waiting: list[tuple[float, dict[str, Any]]] = []  # operators that drive others, too

    def before(self, step: Step, env: Environment) -> None:
        """Remember what the step reads."""
        names = [n for names in step.op.inputs.values() for n in names if n != EMPTY]
        found = {name: kept(value) for name in names if (value := env.get(name)) is not None}
        self._waiting.append((time.perf_counter(), found))

    def after(self, step: Step, env: Environment) -> None:
        """Add the step with what it wrote."""
        start, inputs = self._waiting.pop()
        seconds = time.perf_counter() - start
        names = [n for names in step.op.outputs.values() for n in names if n != EMPTY]
        outputs = {name: kept(value) for name in names if (value := env.get(name)) is not None}
        self.trace.add(Record(len(self.trace), step.op, inputs, outputs, seconds))


def trace(
    executor: Executor,
    program: Program,
    feed: Mapping[str, Any] | None = None,
    scope: Scope | None = None,
) -> Trace:
    """Every value that the next run of a program would compute; nothing is kept in the scope.

    Args:
        executor: whose next run it is: random operators draw the same numbers.
        program: what to run.
        feed, scope: as of ``Executor.run``.

    Returns:
        the operators that were run, those of driven blocks included, with what they read and wrote.

    Raises:
        FluidError: an operator failed; the error's attribute ``trace`` holds what came before.

    >>> y = fluid.layers.exp(fluid.layers.scale(fluid.data("x", [2]), 0.0))
    >>> feed = {"x": np.ones(2, "float32")}
    >>> run = fluid.inspect.trace(fluid.Executor(), fluid.default_main_program(), feed)
    >>> [record.op.type for record in run.records], run[y].tolist()
    (['scale', 'exp'], [1.0, 1.0])
    """
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a Program to run, got {program!r:.60} of type {type(program).__name__}"
        )
    record = Trace(program)
    try:
        executor.observe(Recorder(record), program, feed, scope)
    except Exception as error:
        error.trace = record  # type: ignore[attr-defined]
        raise
    return record


def kept(value: Any) -> Any:
    """A value that later runs do not change: parameters are updated where they lie."""
    if isinstance(value, LoDTensorArray):
        return LoDTensorArray([kept(item) for item in value.items])
    if isinstance(value, SelectedRows):
        return value.copy()
    if isinstance(value, LoDTensor):
        return LoDTensor(np.array(value.data), value.offsets)
    return np.array(value) if isinstance(value, np.ndarray) else value


def is_nan(value: Any) -> bool:
    """Whether an element is NaN.

    >>> fluid.inspect.is_nan(np.array([1.0, np.nan]))
    True
    """
    return any(a.dtype.kind == "f" and bool(np.isnan(a).any()) for a in arrays_in(value))


def is_infinite(value: Any) -> bool:
    """Whether an element is infinite.

    >>> fluid.inspect.is_infinite(np.array([1.0, np.inf]))
    True
    """
    return any(a.dtype.kind == "f" and bool(np.isinf(a).any()) for a in arrays_in(value))


def place(op: Operator) -> str:
    """Where an operator was built, to stand behind its text."""
    return "" if op.callsite is None else f"  # {op.callsite}"


def _key(block: Block, name: str) -> tuple[int, str]:
    variable = block.find_var_recursive(name)
    return (block.idx if variable is None else variable.block.idx), name
