"""The text form of graphs: printed for readers, and parsed back.

    %0: float32[32, 784] = input "x"
    %1: float32[784, 10] = input "w"
    %2: float32[32, 10] = mul(X=%0, Y=%1) {x_num_col_dims=1}  # train.py:12
    return "scores"=%2

Constants print as type, shape and digest; values that a kernel library lays out say so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import FluidError
from ..ground.dtypes import DType, Kind, as_dtype
from ..ground.quoting import python_comment
from ..ir.literal import string_text, unescaped
from ..opdef.definition import lookup
from ..opdef.spec import Spec
from ..runtime.graph import Graph, Instruction, verify
from ..runtime.lower import Lowering
from ..runtime.passes.kernel_selection import Reorder
from ..runtime.value import GraphError, RuntimeSize, Value

_INDENT = "  "


class ParsedLayout(NamedTuple):
    """Stands for a layout in a text, which says no more than that there is one."""

    shape: tuple[int, ...]


def printed(graph: Graph) -> str:
    """A graph as text."""
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    for name, value in graph.inputs.items():
        yield f"{_typed(value)} = input {string_text(name)}"
    known: set[int] = set()
    for instruction in graph:
        for value in instruction.inputs:
            if value.constant is not None and value.number not in known:
                known.add(value.number)
                yield f"{_typed(value)} = constant {value.digest}"
        yield from _instruction(instruction)
    for value in graph.outputs.values():
        if value.constant is not None and value.number not in known:
            known.add(value.number)
            yield f"{_typed(value)} = constant {value.digest}"
    given = ", ".join(
        f"{string_text(name)}=%{value.number}" for name, value in graph.outputs.items()
    )
    yield f"return {given}".rstrip()


def _instruction(instruction: Instruction) -> Iterator[str]:
    results = []
    single = len(instruction.op.outputs) == 1 if hasattr(instruction.op, "outputs") else True
    for slot, value in instruction.outs.items():
        text = f"[{', '.join(map(_typed, value))}]" if isinstance(value, list) else _typed(value)
        results.append(text if single and len(instruction.outs) == 1 else f"{slot}={text}")
    operands = ", ".join(
        f"{slot}={_operand(operand)}"
        for slot, operand in zip(instruction.slots, instruction.operands, strict=True)
        if operand is not None
    )
    phase = f".{instruction.phase}" if instruction.phase else ""
    line = f"{', '.join(results)} = {instruction.op.type}{phase}({operands})"
    attributes = {
        name: value
        for name, value in getattr(instruction.op, "attr_values", dict)().items()
        if not hasattr(value, "ops")  # a block: its body follows
    }
    if attributes:
        listed = ", ".join(f"{name}={_attribute(value)}" for name, value in attributes.items())
        line += f" {{{listed}}}"
    if instruction.variant:
        line += f" as {instruction.op.type}{instruction.variant}"
    if instruction.library:
        line += f" on {instruction.library}"
    callsite = None if instruction.origin is None else instruction.origin.op.callsite
    if callsite is not None:
        line += f"  # {python_comment(str(callsite).rpartition('/')[2])}"
    yield line
    for body in instruction.bodies:
        yield "{"
        yield from (_INDENT + inner for inner in _lines(body))
        yield "}"


def _typed(value: Value) -> str:
    sizes = ", ".join(repr(size) for size in value.shape)
    rows = "rows " if value.kind is Kind.SELECTED_ROWS else ""
    layout = "" if value.layout is None else " laid out"
    return f"%{value.number}: {rows}{value.spec.dtype}[{sizes}]{layout}"


def _operand(operand: Any) -> str:
    if isinstance(operand, list):
        return f"[{', '.join(_operand(each) for each in operand)}]"
    return "None" if operand is None else f"%{operand.number}"


def _attribute(value: Any) -> str:
    return repr(str(value)) if isinstance(value, DType) else repr(value)


# -- parsing ---------------------------------------------------------------------------------------

_TYPED = re.compile(r"%(\d+): (rows )?(\w+)\[([^\]]*)\]( laid out)?")
_GIVEN = re.compile(r"([^\s=,(]+)=(\[[^\]]*\]|%\d+|None)")
_RETURNED = re.compile(r'"((?:[^"\\]|\\.)*)"=%(\d+)')
_MADE = re.compile(r"(?:([^\s=,\[]+)=)?(\[)?(%\d+: (?:rows )?\w+\[[^\]]*\](?: laid out)?)(\])?")
_LINE = re.compile(
    r"(?P<made>.*?)\s*= (?P<type>[\w]+)(?P<phase>\.(start|wait))?\((?P<given>.*?)\)"
    r"( \{(?P<attributes>.*)\})?( as (?P<variant>.*?))?( on (?P<library>\w+))?(  # .*)?$"
)


def parsed(text: str, constants: Mapping[str, Any] = {}, backend: Any = None) -> Graph:
    """The graph of a text.

    Args:
        text: as :func:`printed` gives it.
        constants: by digest, the arrays of its constants.
        backend: evaluates what depends on constants alone, for passes that fold.

    Raises:
        GraphError: a line is not of the form; says which.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    graph, rest = _parsed(lines, 0, None, {}, constants, backend)
    if rest != len(lines):
        raise GraphError(f"line {rest + 1}: expected the end, got {lines[rest]!r}")
    verify(graph)
    return graph


def _parsed(
    lines: list[str],
    at: int,
    around: Graph | None,
    known: dict[int, Value],
    constants: Mapping[str, Any],
    backend: Any,
) -> tuple[Graph, int]:
    graph = Graph(around)
    Lowering(graph, backend)
    known = dict(known)
    last: Instruction | None = None
    while at < len(lines):
        line = lines[at].strip()
        at += 1
        try:
            if line.startswith("return"):
                for name, number in _RETURNED.findall(line):
                    graph.set_output(unescaped(name), known[int(number)])
                if at < len(lines) and lines[at].strip() == "}":
                    return graph, at
                if around is None:
                    return graph, at
            elif line == "{" and last is not None:
                body, at = _parsed(lines, at, graph, known, constants, backend)
                last.bodies = (*last.bodies, body)
                last.set_operands(last.operands)
                graph.count = body.count
                at += 1  # the brace
            else:
                last = _parse_line(line, graph, known, constants)
        except (GraphError, FluidError, KeyError, ValueError, SyntaxError, AttributeError) as error:
            raise GraphError(f"line {at}: {line!r}: {type(error).__name__}: {error}") from None
    return graph, at


def _parse_line(
    line: str, graph: Graph, known: dict[int, Value], constants: Mapping[str, Any]
) -> Instruction | None:
    source = re.fullmatch(r'(%.*) = (?:input "(?P<name>.*)"|constant (?P<digest>\w+))', line)
    if source is not None:
        value = _value(_TYPED.match(source[1]), graph, known)
        if source["name"] is not None:
            graph.inputs[unescaped(source["name"])] = value
        else:
            value.constant = constants[source["digest"]]
        return None
    match = _LINE.fullmatch(line)
    if match is None:
        raise GraphError("expected results = type(slots) {attributes}")
    operands = {slot: _values(text, known) for slot, text in _GIVEN.findall(match["given"])}
    attributes = {
        keyword.arg: ast.literal_eval(keyword.value)
        for keyword in _keywords(match["attributes"] or "")
    }
    op: Any = Reorder() if match["type"] == "reorder" else lookup(match["type"])(attributes)
    outs = _outs(match["made"], op, graph, known)
    builder = graph.builder
    variant = match["variant"]
    if isinstance(op, Reorder) or match["phase"] or variant:
        instruction = Instruction(op, tuple(operands), list(operands.values()), outs)
    else:
        calling = builder.typed_ops.calling(op)
        slots = calling.slots or tuple(operands)
        extra = tuple(slot for slot in operands if slot not in slots)
        slots = (*slots, *extra)
        instruction = Instruction(op, slots, [operands.get(slot) for slot in slots], outs)
        if calling.function is not None and not extra:
            instruction.typed = builder.typed_ops.of(op, operands, calling)
        elif calling.fuses:
            instruction.typed = builder.typed_ops.fused(op, operands, calling)
    instruction.phase = (match["phase"] or "")[1:]
    instruction.variant = (variant or "").removeprefix(op.type)
    instruction.library = match["library"] or ""
    return graph.insert(instruction)


def _keywords(text: str) -> list[Any]:
    call: Any = ast.parse(f"f({text})", mode="eval").body
    found: list[Any] = call.keywords
    return found


def _values(text: str, known: Mapping[int, Value]) -> Any:
    if text.startswith("["):
        return [_values(each, known) for each in text[1:-1].split(", ") if each]
    return None if text == "None" else known[int(text[1:])]


def _value(found: Any, graph: Graph, known: dict[int, Value]) -> Value:
    number, rows, dtype, sizes, layout = found.groups()
    shape = []
    for size in filter(None, sizes.split(", ")):
        name, _, bound = size.partition("<=")
        shape.append(RuntimeSize(name, int(bound)) if bound else int(size))
    kind = Kind.SELECTED_ROWS if rows else Kind.LOD_TENSOR
    value = Value(graph, Spec(tuple(shape), as_dtype(dtype), kind))
    value.number = int(number)
    value.layout = ParsedLayout(value.shape) if layout else None
    graph.count = max(graph.count, value.number + 1)
    known[value.number] = value
    return value


def _outs(text: str, op: Any, graph: Graph, known: dict[int, Value]) -> dict[str, Any]:
    outs: dict[str, Any] = {}
    only = op.outputs[0].name if getattr(op, "outputs", ()) else "Out"
    many: list[Value] | None = None
    for slot, opens, one, closes in _MADE.findall(text):
        value = _value(_TYPED.match(one), graph, known)
        if opens:
            many = outs[slot or only] = []
        if many is None:
            outs[slot or only] = value
        else:
            many.append(value)
        many = None if closes else many
    return outs
