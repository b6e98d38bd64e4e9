"""Loops and branches as those of Python, and arrays of tensors as lists."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedError
from ..ir.analysis import writes_of
from ..ir.operator import EMPTY, Operator
from ..onnx.control import block_of, same_or_unknown
from ..onnx.tracing import Cell
from ..opdef.spec import Spec, spec
from ..runtime.driver import Frame
from . import library
from .literals import ATOM, call, joined, operand
from .passes import (
    CHOICE,
    SavedPasses,
    as_value,
    carried,
    drives,
    gradient_reads,
    is_array,
    item_of,
    kept_values,
    known_spec,
    saved_names,
    tuple_of,
    update,
)
from .statements import Compound, SourceGraph
from .writing import SourceWriter


def _written(writer: SourceWriter, op: Operator, env: Any) -> dict[str, Any]:
    """The outer values that a block writes, as they are before it; None if there are none."""
    before: dict[str, Any] = {}
    inside = block_of(op).vars
    for name in dict.fromkeys(n for each in block_of(op).ops for n in writes_of(each)):
        if name in inside:
            continue
        variable = op.block.find_var_recursive(name)
        known = env.get(name) is not None or (variable is not None and variable.persistable)
        before[name] = writer.value(op.block, name, env) if known else None
    return before


@drives("while")
def while_loop(writer: SourceWriter, op: Operator, env: Any) -> None:
    """``while condition:``."""
    graph: SourceGraph = writer.graph
    before = _written(writer, op, env)
    (condition,) = op.inputs["Condition"]
    if condition not in before:
        before[condition] = writer.value(op.block, condition, env)
    before = {
        n: v for n, v in before.items() if v is not None or is_array(op.block, n)
    }  # others are local to a pass
    names, keeps = list(before), saved_names(op)
    overwritten = sorted(gradient_reads(op).overwritten & before.keys())
    specs = {n: None if v is None else known_spec(as_value(graph, v, n)) for n, v in before.items()}
    for _ in range(3):  # until no size changes from pass to pass but those taken as unknown
        with graph.below() as body:
            phis = {name: carried(graph, specs[name], name) for name in names}
            saved = Cell("saved")
            frame = Frame(env, phis)
            writer.run_block(block_of(op), frame)
            writer.raise_failures()
            saved_values = {**{n: phis[n] for n in overwritten}, **kept_values(frame, keeps)}
            keeping = (
                update(graph, [(saved, tuple_of(saved_values.values()))], True)
                if saved_values
                else None
            )
            behind = {n: as_value(graph, frame[n], n) for n in names}
            update(graph, [(phis[n].cell, operand(behind[n])) for n in names])
        known = {n: _wider(specs[n], behind[n]) for n in names}
        if known == specs:
            break
        specs = known
    begins: list[Any] = [["[]"] if before[n] is None else operand(before[n]) for n in names]
    update(graph, [(phis[n].cell, begin) for n, begin in zip(names, begins)])
    bound = [value.cell for value in phis.values()]
    if saved_values:
        update(graph, [(saved, ["[]"])])
        bound.append(saved)
    header = ["while ", *operand(phis[condition], ATOM), ".item():"]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    env.update(phis)
    env[op.outputs["StepScopes"][0]] = SavedPasses(saved, saved_values, keeping)


def _wider(before: Spec | None, behind: Any) -> Spec | None:
    found = behind.spec
    if before is None or found is None:
        return found
    return same_or_unknown(before, known_spec(behind))


@drives("conditional_block", "conditional_block_infer")
def conditional_block(writer: SourceWriter, op: Operator, env: Any) -> None:
    """``if condition:``."""
    graph: SourceGraph = writer.graph
    conditions = [writer.value(op.block, n, env) for n in op.inputs["Cond"]]
    ending = ".item()" if op.attrs.get("is_scalar_condition") else ".size"
    tests = joined(([*operand(c, ATOM), ending] for c in conditions), " and ")
    before, keeps = _written(writer, op, env), saved_names(op)
    saved, keeping = Cell("saved"), None
    with graph.below() as body:
        frame = Frame(env)
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        names = [n for n in before if n in frame]
        saved_values = kept_values(frame, keeps)
        phis = {n: carried(graph, _either(before[n], frame[n]), n) for n in names}
        pairs = [(phis[n].cell, operand(as_value(graph, frame[n], n))) for n in names]
        if keeps:
            pairs.append((saved, tuple_of(saved_values.values())))
        keeping = update(graph, pairs)
    pairs = [(phis[n].cell, operand(before[n])) for n in names]
    bound = [value.cell for value in phis.values()]
    if keeps:
        pairs.append((saved, ["None"]))
        bound.append(saved)
    update(graph, pairs)
    graph.statements.append(Compound([(["if ", *tests, ":"], body)], graph.origin, bound))
    env.update(phis)
    env[op.outputs["Scope"][0]] = SavedPasses(saved, saved_values, keeping if keeps else None)


def _either(before: Any, behind: Any) -> Spec:
    known = known_spec(behind)
    return known if before is None else same_or_unknown(known, known_spec(before))


@drives("select_input")
def select_input(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The one of several values that a mask says."""
    graph: SourceGraph = writer.graph
    mask = writer.value(op.block, op.inputs["Mask"][0], env)
    values = [as_value(graph, writer.value(op.block, n, env), n) for n in op.inputs["X"]]
    value = graph.expression([*tuple_of(values), "[", *operand(item_of(graph, mask), 0), "]"])
    value.spec = known_spec(values[0])
    for other in values[1:]:
        value.spec = same_or_unknown(value.spec, known_spec(other))
    (name,) = op.outputs["Out"]
    env[name] = writer.named(value, name)


@drives("select_output")
def select_output(writer: SourceWriter, op: Operator, env: Any) -> None:
    """A value for the one of several names that a mask says; the others keep theirs."""
    graph: SourceGraph = writer.graph
    value = env.get(op.inputs["X"][0])
    mask = writer.value(op.block, op.inputs["Mask"][0], env)
    if value is None:
        return
    value, at = as_value(graph, value, op.inputs["X"][0]), item_of(graph, mask)
    for k, name in enumerate(op.outputs["Out"]):
        if name == EMPTY:
            continue
        before = env.get(name)
        other = ["None"] if before is None else operand(before, CHOICE + 1)
        chosen = [*operand(value, CHOICE + 1), " if ", *operand(at, CHOICE + 1), f" == {k} else "]
        made = graph.expression([*chosen, *other], CHOICE)
        made.spec = known_spec(value)
        env[name] = writer.named(made, name)


@drives("zeros_if_written")
def zeros_if_written(writer: SourceWriter, op: Operator, env: Any) -> None:
    """Zeros in the form of a value, if there is one."""
    graph: SourceGraph = writer.graph
    (source,), (name,) = op.inputs["X"], op.outputs["Out"]
    value = env.get(source)
    if value is None:
        return
    value = as_value(graph, value, source)
    given = operand(value, CHOICE + 1)
    parts = ["None if ", *given, " is None else np.zeros_like(", *operand(value), ")"]
    made = graph.expression(parts, CHOICE)
    made.spec = known_spec(value)
    env[name] = writer.named(made, name)


@drives("write_to_array")
def write_to_array(writer: SourceWriter, op: Operator, env: Any) -> None:
    """A list with another element."""
    graph: SourceGraph = writer.graph
    (name,) = op.outputs["Out"]
    value = as_value(graph, writer.value(op.block, op.inputs["X"][0], env), name)
    at = item_of(graph, writer.value(op.block, op.inputs["I"][0], env))
    before = env.get(name)
    graph.helpers["with_item"] = library.with_item
    given = ["[]"] if before is None else operand(before)
    parts = ["with_item(", *given, ", ", *operand(at), ", ", *operand(value), ")"]
    made = graph.expression(parts)
    made.spec = value.spec
    made.cell.name = name
    env[name] = made


@drives("empty_array")
def empty_array(writer: SourceWriter, op: Operator, env: Any) -> None:
    """An empty list: what an array is before anything is written to it."""
    env.pop(op.outputs["Out"][0], None)


@drives("read_from_array")
def read_from_array(writer: SourceWriter, op: Operator, env: Any) -> None:
    """An element of a list."""
    graph: SourceGraph = writer.graph
    if op.inputs.get("X_W"):
        raise UnsupportedError("gradients flow through an array")
    array = writer.value(op.block, op.inputs["X"][0], env)
    at = item_of(graph, writer.value(op.block, op.inputs["I"][0], env))
    made = graph.expression([*operand(array, ATOM), "[", *operand(at), "]"])
    made.spec = array.spec
    (name,) = op.outputs["Out"]
    env[name] = writer.named(made, name)


@drives("lod_array_length")
def lod_array_length(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The length of a list."""
    graph: SourceGraph = writer.graph
    array = writer.value(op.block, op.inputs["X"][0], env)
    length = graph.expression(
        [*call("np.array", (), {})[:1], "[len(", *operand(array), ')], "int64")']
    )
    length.spec = spec([1], "int64")
    (name,) = op.outputs["Out"]
    env[name] = writer.named(length, name)
