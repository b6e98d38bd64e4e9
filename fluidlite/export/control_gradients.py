"""The gradients of loops and branches: passes in reverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..ir.operator import EMPTY, Operator
from ..onnx.control import block_of
from ..runtime.driver import Frame
from . import passes
from .literals import Part, Reference, operand
from .numpy_text import SUM
from .statements import Compound, SourceGraph, Update
from .writing import SourceWriter


@passes.drives("while_grad")
def while_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The passes in reverse."""
    graph: SourceGraph = writer.graph
    saved = passes.saved_of(op, "StepScopes", env)
    given = [writer.value(op.block, n, env) for n in op.inputs.get("Out@GRAD", ())]
    flows = dict(zip(op.attrs.get("original_output_grad", ()), given))
    wanted = passes.differentiated(op, ["X"])
    if any(passes.is_array(op.block, x) and out != EMPTY for x, _, out in wanted):
        raise UnsupportedError("gradients flow through an array")
    sums = {
        local: passes.carried(graph, None, out)
        for x, local, out in wanted
        if out != EMPTY and local not in flows and writer.has(x, env)
    }
    with graph.below() as body:
        taken = passes.taken_values(graph, saved)
        phis = {n: passes.carried(graph, passes.known_spec(v), n) for n, v in flows.items()}
        frame = Frame(env, {**taken, **phis})
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        pairs = [(phis[n].cell, operand(passes.as_value(graph, frame[n], n))) for n in phis]
        for local, total in list(sums.items()):
            if dict.get(frame, local) is None:
                del sums[local]
                continue
            total.spec = passes.known_spec(frame[local])
            pairs.append(
                (total.cell, [Reference(total.cell, SUM), " + ", *operand(frame[local], SUM + 1)])
            )
        passes.update(graph, pairs)
    passes.keep_read(saved, taken, body)
    body.insert(0, passes.popped(graph, saved, taken))
    begin = [(phis[n].cell, operand(v)) for n, v in flows.items()]
    begin += [(sums[n].cell, ["0"]) for n in sums]
    passes.update(graph, begin)
    header: list[Part] = ["while ", Reference(saved.cell), ":"]
    bound = [value.cell for value in (*phis.values(), *sums.values())]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for x, local, out in wanted:
        if out == EMPTY:
            continue
        value = phis.get(local)
        if local in sums:  # a number where there was no pass
            value = sums[local] + passes.zeros(writer, writer.value(op.block, x, env))
        elif value is None:
            value = passes.zeros(writer, writer.value(op.block, x, env))
        env[out] = writer.named(value, out)


@passes.drives("conditional_block_grad")
def conditional_block_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The gradients of a branch, where it was taken."""
    graph: SourceGraph = writer.graph
    saved = passes.saved_of(op, "Scope", env)
    passed = dict(zip(op.inputs.get("Out", ()), op.inputs.get("Out@GRAD", ())))
    wanted = [each for each in passes.differentiated(op, ["Input"]) if each[2] != EMPTY]
    with graph.below() as body:
        taken = passes.taken_values(graph, saved)
        frame = Frame(env, taken)
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        inner = {}
        for x, local, out in wanted:
            value = frame.get(local)
            if value is None and env.get(x) is not None:
                value = passes.zeros(writer, env[x])
            if value is not None:
                inner[out] = passes.as_value(graph, value, out)
        phis = {out: passes.carried(graph, passes.known_spec(v), out) for out, v in inner.items()}
        passes.update(graph, [(phis[out].cell, operand(v)) for out, v in inner.items()])
    passes.keep_read(saved, taken, body)
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
    passes.update(graph, begin)
    header: list[Part] = ["if ", Reference(saved.cell), " is not None:"]
    bound = [value.cell for value in phis.values()]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for out, value in phis.items():
        env[out] = writer.named(value, out)
