"""What an operator of a program does, reads, writes and comes from."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import ArgumentError, FluidError
from ..ground.quoting import escaping, markup
from ..ir.operator import EMPTY, Operator
from ..opdef.attribute import REQUIRED
from ..opdef.definition import Op
from ..opdef.gradient import has_rule, is_constant, is_differentiable
from .graph import ProgramGraph, role_of
from .html import short_type, source_line
from .stepping import place

_NAMED = 6  # operators that read a variable


@dataclass(frozen=True)
class Told:
    """The description of an operator: a heading and lines, section by section."""

    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]

    @escaping
    def __str__(self) -> str:
        lines = [self.title]
        for heading, rows in self.sections:
            lines += [f"{heading}:", *(f"  {row}" for row in rows)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<b><code>{markup(self.title)}</code></b>"]
        for heading, rows in self.sections:
            inside = "".join(f"<div><code>{markup(row)}</code></div>" for row in rows)
            parts.append(
                f"<div>{markup(heading)}</div><div style='margin-left:1.5em'>{inside}</div>"
            )
        return "".join(parts)


def explain(op: Operator) -> Told:
    """What an operator does, where it was made, what it reads and writes and who made or reads
    that, its attributes with those at their default, and which operator is its gradient.

    Args:
        op: an operator of a program; nobody need have defined it.

    Raises:
        ArgumentError: it is no operator, or its program does not hold it any more.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.relu(x)
    >>> print(fluid.inspect.explain(y.op))
    relu_0.tmp_0 = relu(X=x)
    what it does:
      X where it is positive, else 0, for each element: ``max(X, 0)``.
    ...
    """
    if not isinstance(op, Operator):
        raise ArgumentError(f"expected an operator, got {op!r:.60} of type {type(op).__name__}")
    graph = ProgramGraph(op.block.program)
    number = next((n for n, each in enumerate(graph.ops) if each is op), None)
    if number is None:
        raise ArgumentError(f"the program does not hold the operator any more: {op}")
    sections = [
        ("what it does", _meaning(op)),
        ("built at", _origin(op)),
        ("reads", list(_reads(graph, number, op))),
        ("writes", list(_writes(graph, number, op))),
        ("attributes", list(_attributes(op))),
        ("gradient", list(_gradient(graph, number, op))),
    ]
    return Told(str(op), tuple((head, tuple(rows)) for head, rows in sections if rows))


def _meaning(op: Operator) -> list[str]:
    definition = op.definition
    if definition is None:
        return [f"nobody has defined operators of type {op.type!r}"]
    text = (inspect.getdoc(definition) or "").splitlines()
    return [line for line in text if line]


def _origin(op: Operator) -> list[str]:
    rows = [] if op.callsite is None else [str(op.callsite)]
    line = source_line(op)
    if line:
        rows.append(line)
    if op.namescope != "/":
        rows.append(f"part of {op.namescope}")
    if rows and role_of(op) != "forward":
        rows.append(f"role: {role_of(op)}")
    return rows


def _reads(graph: ProgramGraph, number: int, op: Operator) -> Iterator[str]:
    sources = {e.variable: e.source for e in graph.edges if e.target == number}
    for slot, name in graph.names(op, "inputs"):
        variable = graph.variable_number(op.block, name)
        if variable is None:
            yield f"{slot}: {name}, which is not declared"
            continue
        use = graph.variables[variable]
        if variable in sources:
            maker = graph.ops[sources[variable]]
            what = f"from {maker.type}{place(maker)}"
        elif use.is_parameter:
            what = "a parameter"
        elif use.variable.is_data:
            what = "fed"
        else:
            what = "kept between runs" if use.variable.persistable else "from outside"
        yield f"{slot}: {name} {short_type(use.variable)}, {what}"


def _writes(graph: ProgramGraph, number: int, op: Operator) -> Iterator[str]:
    readers: dict[int, list[int]] = {}
    for edge in graph.edges:
        if edge.source == number:
            readers.setdefault(edge.variable, []).append(edge.target)
    for slot, name in graph.names(op, "outputs"):
        variable = graph.variable_number(op.block, name)
        if variable is None:
            yield f"{slot}: {name}, which is not declared"
            continue
        found = [graph.ops[n].type for n in readers.get(variable, ())]
        some = ", ".join(found[:_NAMED]) + (", ..." if len(found) > _NAMED else "")
        what = f"read by {some}" if found else "which no operator reads"
        yield f"{slot}: {name} {short_type(graph.variables[variable].variable)}, {what}"


def _attributes(op: Operator) -> Iterator[str]:
    definition = op.definition
    for name, value in op.attrs.items():
        yield f"{name} = {value}"
    if definition is None:
        return
    for attribute in definition.attributes.values():
        if attribute.name not in op.attrs and not attribute.inert:
            default = attribute.default
            if default is not REQUIRED and not attribute.local:
                yield f"{attribute.name} = {default}, its default"


def _gradient(graph: ProgramGraph, number: int, op: Operator) -> Iterator[str]:
    forward = graph.forward_of.get(number)
    if forward is not None:
        begins = op.type == "fill_constant"
        what = "begins the gradient of what this makes" if begins else "it is the gradient of"
        yield f"{what}: {graph.ops[forward]}{place(graph.ops[forward])}"
    for each in graph.gradients_of().get(number, ()):
        yield f"in this program: {graph.ops[each]}"
    definition = op.definition
    if definition is None or EMPTY in op.type:
        return
    if number not in graph.forward_of.values():
        yield _prospect(definition)


def _prospect(definition: type[Op]) -> str:
    """Whether there can be a gradient operator."""
    if is_constant(definition):
        return "none: the operator has no gradient"
    try:
        differentiable = is_differentiable(definition)
    except FluidError:
        differentiable = False
    if not differentiable:
        return "none: nobody wrote a rule for it"
    how = "from its own rule" if has_rule(definition) else "from the operators it consists of"
    return f"{definition.grad_type}, derived {how}; append_backward or gradients puts it in"
