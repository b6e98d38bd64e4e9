"""The gradients of loops and branches: passes in reverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..ir.operator import EMPTY, Operator
from ..onnx.control import block_of
from ..runtime.driver import Frame
from .literals import Part, Reference, operand
from .numpy_text import SUM
from .passes import (
    as_value,
    carried,
    differentiated,
    drives,
    is_array,
    keep_read,
    known_spec,
    popped,
    taken_values,
    update,
    zeros,
)
from .statements import Compound, SourceGraph, Update
from .writing import SourceWriter


@drives("while_grad")
def while_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The passes in reverse."""
    graph: SourceGraph = writer.graph
    saved = env[op.inputs["StepScopes"][0]]
    given = [writer.value(op.block, n, env) for n in op.inputs.get("Out@GRAD", ())]
    flows = dict(zip(op.attrs.get("original_output_grad", ()), given))
    wanted = differentiated(op, ["X"])
    if any(is_array(op.block, x) and out != EMPTY for x, _, out in wanted):
        raise UnsupportedError("gradients flow through an array")
    sums = {
        local: carried(graph, None, out)
        for x, local, out in wanted
        if out != EMPTY and local not in flows and writer.has(x, env)
    }
    with graph.below() as body:
        taken = taken_values(graph, saved)
        phis = {n: carried(graph, known_spec(v), n) for n, v in flows.items()}
        frame = Frame(env, {**taken, **phis})
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        pairs = [(phis[n].cell, operand(as_value(graph, frame[n], n))) for n in phis]
        for local, total in list(sums.items()):
            if dict.get(frame, local) is None:
                del sums[local]
                continue
            total.spec = known_spec(frame[local])
            pairs.append(
                (total.cell, [Reference(total.cell, SUM), " + ", *operand(frame[local], SUM + 1)])
            )
        update(graph, pairs)
    keep_read(saved, taken, body)
    body.insert(0, popped(graph, saved, taken))
    begin = [(phis[n].cell, operand(v)) for n, v in flows.items()]
    begin += [(sums[n].cell, ["0"]) for n in sums]
    update(graph, begin)
    header: list[Part] = ["while ", Reference(saved.cell), ":"]
    bound = [value.cell for value in (*phis.values(), *sums.values())]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for x, local, out in wanted:
        if out == EMPTY:
            continue
        value = phis.get(local)
        if local in sums:  # a number where there was no pass
            value = sums[local] + zeros(writer, writer.value(op.block, x, env))
        elif value is None:
            value = zeros(writer, writer.value(op.block, x, env))
        env[out] = writer.named(value, out)


@drives("conditional_block_grad")
def conditional_block_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The gradients of a branch, where it was taken."""
    graph: SourceGraph = writer.graph
    saved = env[op.inputs["Scope"][0]]
    passed = dict(zip(op.inputs.get("Out", ()), op.inputs.get("Out@GRAD", ())))
    wanted = [each for each in differentiated(op, ["Input"]) if each[2] != EMPTY]
    with graph.below() as body:
        taken = taken_values(graph, saved)
        frame = Frame(env, taken)
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        inner = {}
        for x, local, out in wanted:
            value = frame.get(local)
            if value is None and env.get(x) is not None:
                value = zeros(writer, env[x])
            if value is not None:
                inner[out] = as_value(graph, value, out)
        phis = {out: carried(graph, known_spec(v), out) for out, v in inner.items()}
        update(graph, [(phis[out].cell, operand(v)) for out, v in inner.items()])
    keep_read(saved, taken, body)
    if taken:
        cells = [value.cell for value in taken.values()]
        body.insert(0, Update(cells, [[Reference(saved.cell)]], graph.origin, unpacks=True))
    begin: list[Any] = []
    for x, _, out in wanted:
        if out not in phis:
            continue
        value = env.get(passed[x]) if passed.get(x, EMPTY) != EMPTY else None
        if value is None:
            value = graph.constant(np.zeros(inner[out].shape, inner[out].dtype))
        begin.append((phis[out].cell, operand(value)))
    update(graph, begin)
    header: list[Part] = ["if ", Reference(saved.cell), " is not None:"]
    bound = [value.cell for value in phis.values()]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for out, value in phis.items():
        env[out] = writer.named(value, out)
