"""Recurrent networks step by step, and their gradients."""

from __future__ import annotations

from typing import Any

from ..ir.operator import EMPTY, Operator
from ..onnx.control import block_of
from ..onnx.tracing import Cell, TracedArray
from ..opdef.spec import spec
from ..runtime.driver import Frame
from .literals import ATOM, Operand, Part, operand
from .passes import (
    GRAD,
    SavedPasses,
    as_value,
    carried,
    differentiated,
    drives,
    keep_read,
    kept_values,
    known_spec,
    popped,
    saved_names,
    taken_values,
    tuple_of,
    update,
    zeros,
)
from .statements import Compound, SourceGraph
from .writing import SourceWriter


@drives("recurrent")
def recurrent(writer: SourceWriter, op: Operator, env: Any) -> None:
    """``for t in range(steps):``."""
    graph: SourceGraph = writer.graph
    instance: Any = op.instance()
    sequences = _values(writer, op, "inputs", env)
    states = _states(writer, op, env)
    outputs, keeps = op.outputs["outputs"], saved_names(op)
    t, saved = graph.value(spec([], "int64"), "i"), Cell("saved")
    lists = {name: Cell(f"{name}.steps") for name in outputs}
    with graph.below() as body:
        phis = [carried(graph, known_spec(v), name) for name, v in zip(instance.ex_states, states)]
        frame = Frame(env, dict(zip(instance.ex_states, phis)))
        for name, value in sequences.items():
            frame[name] = writer.named(_step_of(graph, value, t), name)
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        kept = kept_values(frame, keeps)
        appended = [(lists[n], operand(as_value(graph, frame[n], n))) for n in outputs]
        if kept:
            appended.append((saved, tuple_of(kept.values())))
        keeping = update(graph, appended, appends=True)
        pairs = [(phi.cell, operand(frame[n])) for phi, n in zip(phis, instance.states)]
        update(graph, pairs)
    begin = [(phi.cell, operand(v)) for phi, v in zip(phis, states)]
    bound = [phi.cell for phi in phis] + list(lists.values())
    begin += [(cell, ["[]"]) for cell in lists.values()]
    if kept:
        begin.append((saved, ["[]"]))
        bound.append(saved)
    update(graph, begin)
    count = next(iter(sequences.values())).shape[0]
    header: list[Part] = ["for ", Operand(t.cell), f" in {_steps(count, instance.reverse)}:"]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for name in outputs:
        listed: list[Part] = [Operand(lists[name], ATOM), "[::-1]" if instance.reverse else ""]
        made = graph.expression(["np.stack(", *listed, ")"])
        known = known_spec(frame[name])
        made.spec = known.with_shape((count, *known.shape))
        env[name] = writer.named(made, name)
    env[op.outputs["step_scopes"][0]] = SavedPasses(saved, kept, keeping if kept else None)


def _values(writer: SourceWriter, op: Operator, slot: str, env: Any) -> dict[str, TracedArray]:
    return {
        n: as_value(writer.graph, writer.value(op.block, n, env), n)
        for n in op.inputs.get(slot, ())
        if n != EMPTY
    }


def _states(writer: SourceWriter, op: Operator, env: Any) -> list[TracedArray]:
    """The states before the first step; two of them may have one name."""
    names = op.inputs["initial_states"]
    return [as_value(writer.graph, writer.value(op.block, n, env), n) for n in names]


def _steps(count: int, reverse: bool) -> str:
    return f"reversed(range({count}))" if reverse else f"range({count})"


def _step_of(graph: SourceGraph, value: TracedArray, t: TracedArray) -> TracedArray:
    """One step of sequences."""
    made: TracedArray = graph.expression([*operand(value, ATOM), "[", Operand(t.cell), "]"])
    known = known_spec(value)
    made.spec = known.with_shape(known.shape[1:])
    return made


@drives("recurrent_grad")
def recurrent_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The steps in reverse."""
    graph: SourceGraph = writer.graph
    instance: Any = op.instance()
    saved = env[op.inputs["step_scopes"][0]]
    sequences = _values(writer, op, "inputs", env)
    states = _states(writer, op, env)
    seeds = {
        f"{name}{GRAD}": writer.value(op.block, given, env)
        for name, given in zip(op.inputs["outputs"], op.inputs["outputs@GRAD"])
        if given != EMPTY
    }
    wanted = differentiated(op, ["inputs", "parameters"])
    ins, parameters = wanted[: len(op.inputs["inputs"])], wanted[len(op.inputs["inputs"]) :]
    t = graph.value(spec([], "int64"), "i")
    lists = {local: Cell(f"{out}.steps") for _, local, out in ins if out != EMPTY}
    sums = {local: carried(graph, None, out) for _, local, out in parameters if out != EMPTY}
    with graph.below() as body:
        taken = taken_values(graph, saved)
        phis = [
            carried(graph, known_spec(v), f"{n}{GRAD}") for n, v in zip(instance.states, states)
        ]
        frame = Frame(env, taken)
        for name, value in seeds.items():
            frame[name] = writer.named(_step_of(graph, value, t), name)
        frame.update({f"{n}{GRAD}": phi for n, phi in zip(instance.states, phis)})
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        appended = []
        for x, local, out in ins:
            if out == EMPTY:
                continue
            value = dict.get(frame, local)
            if value is None:
                value = zeros(writer, _step_of(graph, sequences[x], t))
            appended.append((lists[local], operand(value)))
        update(graph, appended, appends=True)
        pairs = [
            (phi.cell, operand(frame[f"{n}{GRAD}"])) for phi, n in zip(phis, instance.ex_states)
        ]
        for local, total in list(sums.items()):
            found = dict.get(frame, local)
            if found is None:
                del sums[local]
                continue
            total.spec = known_spec(found)
            pairs.append((total.cell, [Operand(total.cell, 40), " + ", *operand(found, 41)]))
        update(graph, pairs)
    keep_read(saved, taken, body)
    if taken:
        body.insert(0, popped(graph, saved, taken))
    begin = [(phi.cell, operand(zeros(writer, v))) for phi, v in zip(phis, states)]
    begin += [(cell, ["[]"]) for cell in lists.values()]
    begin += [(total.cell, ["0"]) for total in sums.values()]
    update(graph, begin)
    count = next(iter(sequences.values())).shape[0]
    order = _steps(count, not instance.reverse)
    header: list[Part] = ["for ", Operand(t.cell), f" in {order}:"]
    bound = [v.cell for v in (*phis, *sums.values())] + list(lists.values())
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for x, local, out in ins:
        if out == EMPTY:
            continue
        ending = "" if instance.reverse else "[::-1]"
        made = graph.expression(["np.stack(", Operand(lists[local], ATOM), ending, ")"])
        made.spec = known_spec(sequences[x])
        env[out] = writer.named(made, out)
    for x, local, out in parameters:
        if out != EMPTY:
            value = sums.get(local)
            value = zeros(writer, writer.value(op.block, x, env)) if value is None else value
            env[out] = writer.named(value, out)
    for out, phi in zip(op.outputs.get("initial_states@GRAD", ()), phis):
        if out != EMPTY:
            env[out] = writer.named(phi, out)
