"""A program in a table: layers, output shapes, parameters, multiply-adds, memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..errors import ArgumentError
from ..ground.quoting import escaping, markup
from ..ir.analysis import parameters_of
from ..ir.costs import as_bytes, as_count, bytes_of, elements_of, multiply_adds
from ..ir.effects import unknown_types
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.definition import unknown_text
from .folding import Folding, Group, Item
from .graph import ROLES, ProgramGraph
from .stepping import table


@dataclass(frozen=True)
class SummaryRow:
    """One layer."""

    name: str
    operators: tuple[str, ...]  #: their types
    depth: int  #: of name scopes around it
    output: str  #: name of what it gives
    shape: tuple[int, ...]
    parameters: int  #: elements that it is the first to use
    multiply_adds: int


@dataclass(frozen=True)
class Summary:
    """What a program consists of, and what it costs.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    >>> summary = fluid.inspect.summary(fluid.default_main_program())
    >>> summary.rows[0].operators
    ('mul', 'elementwise_add')
    """

    rows: tuple[SummaryRow, ...]
    batch_size: int
    parameters: int  #: elements of parameters
    trainable: int  #: of which are trained
    operators: tuple[tuple[str, int], ...]  #: role -> how many
    multiply_adds: tuple[tuple[str, int], ...]  #: role -> in one run
    parameter_bytes: int
    state_bytes: int  #: of other variables that stay between runs: moments, counters
    value_bytes: int  #: of all values of forward operators
    unknown: tuple[str, ...] = ()  #: types of operators that are missing

    def to_dict(self) -> dict[str, Any]:
        """For scripts."""
        found = asdict(self)
        found["operators"] = dict(self.operators)
        found["multiply_adds"] = dict(self.multiply_adds)
        return found

    def _cells(self) -> list[list[str]]:
        rows = [["layer", "operators", "output", "parameters", "multiply-adds"]]
        for row in self.rows:
            shape = f"[{', '.join(map(str, row.shape))}]"
            costs = [f"{row.parameters:,}" if row.parameters else "", as_count(row.multiply_adds)]
            costs[1] = costs[1] if row.multiply_adds else ""
            name = "  " * row.depth + row.name
            rows.append([name, ", ".join(row.operators), shape, *costs])
        return rows

    def _totals(self) -> list[str]:
        fixed = self.parameters - self.trainable
        by_role = ", ".join(f"{count:,} {role}" for role, count in self.operators)
        lines = [
            f"parameters: {self.parameters:,}" + (f", {fixed:,} of them fixed" if fixed else ""),
            f"operators: {by_role or 'none'}",
        ]
        if self.unknown:
            lines.append(unknown_text(self.unknown))
        if self.multiply_adds:
            costs = ", ".join(f"{as_count(n)} {role}" for role, n in self.multiply_adds)
            lines.append(f"multiply-adds at batch size {self.batch_size}: {costs}")
        lines.append(
            f"memory at batch size {self.batch_size}: parameters "
            f"{as_bytes(self.parameter_bytes)}, states {as_bytes(self.state_bytes)}, "
            f"forward values {as_bytes(self.value_bytes)}"
        )
        return lines

    @escaping
    def __str__(self) -> str:
        lines = table(self._cells())
        rule = "-" * max(map(len, lines))
        return "\n".join([lines[0], rule, *lines[1:], rule, *self._totals()])

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        cells = "".join(f"<th>{markup(text)}</th>" for text in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{_spaces(text)}</td>" for text in row) + "</tr>" for row in rows
        )
        totals = "".join(f"<div>{markup(line)}</div>" for line in self._totals())
        return f"<table><tr>{cells}</tr>{body}</table>{totals}"


def summary(program: Program, batch_size: int = 1) -> Summary:
    """Layers, output shapes, parameters, multiply-adds and memory of a program, from what is
    declared.

    Multiply-adds are those of matrix products and convolutions, of which every other cost is a
    small part.  A loop counts as one pass.

    Args:
        program: what to summarise.
        batch_size: what sizes of -1 are taken for.

    Raises:
        ArgumentError: the batch size is not positive.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    >>> print(fluid.inspect.summary(fluid.default_main_program()))
    layer  operators             output   parameters  multiply-adds
    ---------------------------------------------------------------
    fc_0   mul, elementwise_add  [-1, 2]  8           6
    ---------------------------------------------------------------
    parameters: 8
    operators: 2 forward
    multiply-adds at batch size 1: 6 forward
    memory at batch size 1: parameters 32 B, states 0 B, forward values 16 B
    """
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a Program, got {program!r:.60} of type {type(program).__name__}"
        )
    if batch_size < 1:
        raise ArgumentError(f"expected a positive batch size, got {batch_size}")
    graph = ProgramGraph(program)
    parameters = parameters_of(program)
    rows = _Rows(graph, batch_size, {id(p) for p in parameters})
    written = {
        id(v): v
        for op, role in zip(graph.ops, graph.roles)
        if role == ROLES[0]
        for name in op.output_arg_names
        if (v := op.find_var(name)) is not None and not v.persistable
    }
    counted = {v.name for v in parameters}
    persistables = [v for v in program.list_vars() if v.persistable and v.name not in counted]
    counts = {role: graph.roles.count(role) for role in ROLES}
    costs = dict.fromkeys(ROLES, 0)
    for op, role in zip(graph.ops, graph.roles):
        costs[role] += multiply_adds(op, batch_size)
    return Summary(
        rows=tuple(rows.rows),
        batch_size=batch_size,
        parameters=sum(elements_of(p, 1) for p in parameters),
        trainable=sum(elements_of(p, 1) for p in parameters if getattr(p, "trainable", True)),
        operators=tuple((role, n) for role, n in counts.items() if n),
        multiply_adds=tuple((role, n) for role, n in costs.items() if n),
        parameter_bytes=sum(bytes_of(p, 1) for p in parameters),
        state_bytes=sum(bytes_of(v, 1) for v in persistables),
        value_bytes=sum(bytes_of(v, batch_size) for v in written.values()),
        unknown=tuple(unknown_types(program)),
    )


class _Rows:
    """The layers of a program: what the folding finds among its forward operators."""

    def __init__(self, graph: ProgramGraph, batch_size: int, parameters: set[int]) -> None:
        self.graph = graph
        self.batch_size = batch_size
        self.rows: list[SummaryRow] = []
        self._uncounted = parameters  # which layers may share
        stack: list[tuple[Item, int]] = [(Folding(graph).root, 0)]
        while stack:
            item, depth = stack.pop()
            if not isinstance(item, Group):
                self._add(graph.ops[item].type, [item], depth)
            elif item.kind == "layer":
                self._add(item.label, list(item.ops()), depth)
            elif item.kind == "program" or item.role == ROLES[0]:
                inner = depth
                if item.is_box:
                    self.rows.append(SummaryRow(item.label, (), depth, "", (), 0, 0))
                    inner += 1
                stack += [(child, inner) for child in reversed(item.children)]
        self.rows = [row for k, row in enumerate(self.rows) if self._says_something(k)]

    def _says_something(self, k: int) -> bool:
        return bool(self.rows[k].operators) or (
            k + 1 < len(self.rows) and self.rows[k + 1].depth > self.rows[k].depth
        )

    def _add(self, label: str, numbers: list[int], depth: int) -> None:
        graph = self.graph
        if graph.roles[numbers[0]] != ROLES[0]:
            return
        ops = [graph.ops[number] for number in numbers]
        result = _result(ops[-1])
        parameters = 0
        for op in ops:
            for name in op.input_arg_names:
                variable = op.find_var(name)
                if variable is not None and id(variable) in self._uncounted:
                    self._uncounted.discard(id(variable))
                    parameters += elements_of(variable, 1)
        self.rows.append(
            SummaryRow(
                name=label,
                operators=tuple(op.type for op in ops),
                depth=depth,
                output="" if result is None else result.name,
                shape=() if result is None else result.shape,
                parameters=parameters,
                multiply_adds=sum(multiply_adds(op, self.batch_size) for op in ops),
            )
        )


def _result(op: Operator) -> Variable | None:
    """What an operator is there for: the first output that has a definite shape."""
    found = [op.find_var(name) for name in op.output_arg_names]
    return next((v for v in found if v is not None), None)


def _spaces(text: str) -> str:
    stripped = text.lstrip(" ")
    return "&nbsp;" * (len(text) - len(stripped)) + markup(stripped)
