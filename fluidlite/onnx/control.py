"""Loops and branches in ONNX: ``Loop``, ``Scan`` and ``If`` with the block as their body."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..ground.dtypes import as_dtype
from ..ir.analysis import writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..opdef.spec import Spec
from .blocks import CONTROL, BlockWriter
from .graph import OnnxGraph
from .tracing import Cell, TracedArray
from .writing import spec_of


@contextmanager
def body_of(writer: BlockWriter) -> Iterator[OnnxGraph]:
    """A graph that takes what is written inside a ``with`` block."""
    around = writer.graph.innermost
    around.inner = body = OnnxGraph(parent=around)
    try:
        yield body
    finally:
        around.inner = None


def block_of(op: Operator) -> Block:
    """The block that an operator drives."""
    found: Block = op.block.program.blocks[op.attrs["sub_block"]]
    return found


def truth(graph: OnnxGraph, value: Any) -> Any:
    """A truth value without dimensions."""
    return graph.Reshape(value, np.zeros(0, np.int64))


def carried_by(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> dict[str, TracedArray]:
    """The outer values that a block writes, by name."""
    carried = {}
    for name in writes_of(op):
        variable = op.block.find_var_recursive(name)
        if name in env or (variable is not None and variable.persistable):
            value = writer.value(op.block, name, env)
            if not isinstance(value, (TracedArray, np.ndarray)):
                raise UnsupportedError(f"it writes {name!r}, which is no tensor")
            carried[name] = (
                value if isinstance(value, TracedArray) else writer.graph.constant(value)
            )
    return carried


def output(body: OnnxGraph, value: Any, spec: Spec) -> None:
    """Give a value back from a body, under a name of its own."""
    made = body.Identity(value)
    made.cell.spec = spec
    body.outputs.append(made.cell)


def input_of(body: OnnxGraph, spec: Spec, name: str = "") -> TracedArray:
    """An input of a body."""
    made = TracedArray(body, spec, Cell(name))
    made.cell.spec = spec
    body.inputs.append(made.cell)
    return made


def same_or_unknown(a: Spec, b: Spec) -> Spec:
    """The spec of what has one of two: sizes that differ are unknown."""
    if len(a.shape) != len(b.shape) or a.dtype != b.dtype:
        raise UnsupportedError(f"a value is {a} before a pass and {b} behind it")
    return a.with_shape(m if m == n else -1 for m, n in zip(a.shape, b.shape))


def while_loop(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """Write `while` down as ``Loop``."""
    graph = writer.graph.innermost
    carried = carried_by(writer, op, env)
    (condition,) = op.inputs["Condition"]
    begin = truth(graph, writer.value(op.block, condition, env))
    specs = {name: _spec(value) for name, value in carried.items()}
    for _ in range(3):  # until no size changes from pass to pass but those taken as unknown
        with body_of(writer) as body:
            input_of(body, Spec((), _dtype(np.int64)))
            input_of(body, Spec((), _dtype(bool)))
            local = {**env, **{name: input_of(body, specs[name]) for name in carried}}
            writer.run_block(block_of(op), local)
            writer.raise_failures()
            behind = {name: _spec(local[name]) for name in carried}
            output(body, truth(body, local[condition]), Spec((), _dtype(bool)))
            for name in carried:
                output(body, local[name], behind[name])
        known = {name: same_or_unknown(specs[name], behind[name]) for name in carried}
        if known == specs:
            break
        specs = known
    made = graph.node("Loop", [None, begin, *carried.values()], max(len(carried), 1), body=body)
    for (name, spec), value in zip(specs.items(), made if len(carried) > 1 else [made]):
        value.spec = spec
        env[name] = writer.named(value, name)


def conditional_block(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """Write `conditional_block` down as ``If``: where it does not run, values stay as they were,
    and what had none is zero.
    """
    if not op.attrs.get("is_scalar_condition"):
        raise UnsupportedError("whether it runs depends on a number of elements")
    graph = writer.graph.innermost
    conditions = [truth(graph, writer.value(op.block, n, env)) for n in op.inputs["Cond"]]
    holds = conditions[0]
    for each in conditions[1:]:
        holds = graph.And(holds, each)
    before = carried_by(writer, op, env)
    names = [n for n in op.outputs.get("Out", ()) if n != EMPTY]
    with body_of(writer) as then:
        local = dict(env)
        writer.run_block(block_of(op), local)
        writer.raise_failures()
        names = [n for n in dict.fromkeys([*names, *before]) if n in local]
        specs = {name: _spec(local[name]) for name in names}
        for name in names:
            output(then, local[name], specs[name])
    with body_of(writer) as other:
        for name in names:
            value: Any = before.get(name)
            if value is None:
                shape = [1 if n == -1 else n for n in specs[name].shape]
                value = np.zeros(shape, specs[name].dtype.dtype)
            output(other, value, _spec(value))
            specs[name] = same_or_unknown(specs[name], _spec(value))
    made = graph.node("If", [holds], max(len(names), 1), then_branch=then, else_branch=other)
    for name, value in zip(names, made if len(names) > 1 else [made]):
        value.spec = specs[name]
        env[name] = writer.named(value, name)


def select_input(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """Write `select_input` down: the one of two values that a mask says."""
    graph = writer.graph.innermost
    values = [writer.value(op.block, n, env) for n in op.inputs["X"]]
    mask = writer.value(op.block, op.inputs["Mask"][0], env)
    if len(values) != 2:
        raise UnsupportedError(f"it chooses among {len(values)} values")
    chosen = truth(graph, graph.Cast(mask, to=9))
    value = graph.Where(chosen, values[1], values[0])
    value.spec = same_or_unknown(_spec(values[0]), _spec(values[1]))
    (name,) = op.outputs["Out"]
    env[name] = writer.named(value, name)


def recurrent(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """Write `recurrent` down as ``Scan``."""
    graph = writer.graph.innermost
    steps = {n: writer.value(op.block, n, env) for n in op.inputs["inputs"]}
    before = [writer.value(op.block, n, env) for n in op.inputs.get("initial_states", ())]
    outer, inner = list(op.attrs["states"]), list(op.attrs["ex_states"])
    stacked = [n for n in op.outputs.get("outputs", ()) if n != EMPTY]
    specs = [_spec(value) for value in before]
    for _ in range(3):  # until no size changes from step to step but those taken as unknown
        with body_of(writer) as body:
            local = {**env, **dict(zip(inner, map(partial(input_of, body), specs)))}
            for name, value in steps.items():
                whole = _spec(value)
                local[name] = input_of(body, whole.with_shape(whole.shape[1:]))
            writer.run_block(block_of(op), local)
            writer.raise_failures()
            behind = [_spec(local[name]) for name in outer]
            for name in (*outer, *stacked):
                output(body, local[name], _spec(local[name]))
        known = [same_or_unknown(a, b) for a, b in zip(specs, behind)]
        if known == specs:
            break
        specs = known
    backwards = int(bool(op.attrs.get("reverse")))
    outputs = graph.node(
        "Scan",
        [*before, *steps.values()],
        len(outer) + len(stacked),
        body=body,
        num_scan_inputs=len(steps),
        scan_input_directions=[backwards] * len(steps),
        scan_output_directions=[backwards] * len(stacked) or None,
    )
    finals = (outputs if isinstance(outputs, tuple) else (outputs,))[: len(outer)]
    for name, value, spec in zip(op.outputs.get("final_states", ()), finals, specs):
        value.spec = spec
        env[name] = writer.named(value, name)
    made = (outputs if isinstance(outputs, tuple) else (outputs,))[len(outer) :]
    count = _spec(next(iter(steps.values()))).shape[0]
    for name, value in zip(stacked, made):
        one = _spec(local[name])
        value.spec = one.with_shape([count, *one.shape])
        env[name] = writer.named(value, name)


def printing(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """Write `print` down as nothing but the value."""
    (name,), (out,) = op.inputs["In"], op.outputs["Out"]
    value = writer.value(op.block, name, env)
    writer.graph.checks.append("print prints nothing")
    env[out] = writer.named(value, out).having(getattr(value, "offsets", ()))


def _spec(value: Any) -> Spec:
    found: Spec = spec_of(value)
    return found._replace(lod_level=0)


def _dtype(dtype: Any) -> Any:
    return as_dtype(np.dtype(dtype))


CONTROL.update(
    {
        "while": while_loop,
        "conditional_block": conditional_block,
        "conditional_block_infer": conditional_block,
        "print": printing,
        "recurrent": recurrent,
        "select_input": select_input,
    }
)
