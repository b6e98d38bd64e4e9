"""Recurrent networks step by step, and their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..ir.operator import EMPTY, Operator
from ..onnx.control import block_of
from ..onnx.tracing import Cell, TracedArray
from ..opdef.spec import spec
from ..runtime.driver import Frame
from . import passes
from .literals import ATOM, Part, Reference, operand
from .numpy_text import SUM
from .statements import Compound, SourceGraph
from .writing import SourceWriter


@passes.drives("recurrent")
def recurrent(writer: SourceWriter, op: Operator, env: Any) -> None:
    """``for t in range(steps):``."""
    graph: SourceGraph = writer.graph
    instance: Any = op.instance()
    sequences = _values(writer, op, "inputs", env)
    states = _states(writer, op, env)
    outputs, keeps = op.outputs.get("outputs", ()), passes.saved_names(op)
    t, saved = graph.value(spec([], "int64"), "i"), Cell("saved")
    lists = {name: Cell(f"{name}.steps") for name in outputs}
    with graph.below() as body:
        phis = [
            passes.carried(graph, passes.known_spec(v), name)
            for name, v in zip(instance.ex_states, states)
        ]
        frame = Frame(env, dict(zip(instance.ex_states, phis)))
        for name, value in sequences.items():
            frame[name] = writer.named(_step_of(graph, value, t), name)
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        saved_values = passes.kept_values(frame, keeps)
        appended = [(lists[n], operand(passes.as_value(graph, frame[n], n))) for n in outputs]
        if saved_values:
            appended.append((saved, passes.tuple_of(saved_values.values())))
        keeping = passes.update(graph, appended, appends=True)
        pairs = [(phi.cell, operand(frame[n])) for phi, n in zip(phis, instance.states)]
        passes.update(graph, pairs)
    begin = [(phi.cell, operand(v)) for phi, v in zip(phis, states)]
    bound = [phi.cell for phi in phis] + list(lists.values())
    begin += [(cell, ["[]"]) for cell in lists.values()]
    if saved_values:
        begin.append((saved, ["[]"]))
        bound.append(saved)
    passes.update(graph, begin)
    count = next(iter(sequences.values())).shape[0]
    header: list[Part] = ["for ", Reference(t.cell), f" in {_steps(count, instance.reverse)}:"]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for name in outputs:
        listed: list[Part] = [Reference(lists[name], ATOM), "[::-1]" if instance.reverse else ""]
        made = graph.expression(["np.stack(", *listed, ")"])
        known = passes.known_spec(frame[name])
        made.spec = known.with_shape((count, *known.shape))
        env[name] = writer.named(made, name)
    for name, phi in zip(op.outputs.get("final_states", ()), phis):
        env[name] = phi
    env[op.outputs["step_scopes"][0]] = passes.SavedPasses(
        saved, saved_values, keeping if saved_values else None
    )


def _values(writer: SourceWriter, op: Operator, slot: str, env: Any) -> dict[str, TracedArray]:
    return {
        n: passes.as_value(writer.graph, writer.value(op.block, n, env), n)
        for n in op.inputs.get(slot, ())
        if n != EMPTY
    }


def _states(writer: SourceWriter, op: Operator, env: Any) -> list[TracedArray]:
    """The states before the first step; two of them may have one name."""
    names = op.inputs.get("initial_states", ())
    return [passes.as_value(writer.graph, writer.value(op.block, n, env), n) for n in names]


def _steps(count: int, reverse: bool) -> str:
    return f"reversed(range({count}))" if reverse else f"range({count})"


def _step_of(graph: SourceGraph, value: TracedArray, t: TracedArray) -> TracedArray:
    """One step of sequences."""
    made: TracedArray = graph.expression([*operand(value, ATOM), "[", Reference(t.cell), "]"])
    known = passes.known_spec(value)
    made.spec = known.with_shape(known.shape[1:])
    return made


@dataclass
class _Backward:
    """What the steps in reverse compute: of the slots, triples of :func:`differentiated`."""

    ins: list[tuple[str, str, str]]
    parameters: list[tuple[str, str, str]]
    sequences: dict[str, TracedArray]
    first: list[Any]  #: gradients of the states behind the last step
    seeds: dict[str, TracedArray]  #: gradients of outputs, by what the block calls them
    t: TracedArray
    lists: dict[str, Cell]  #: gradients of the steps of sequences, by what the block calls them
    sums: dict[str, TracedArray]  #: of gradients of parameters
    phis: list[TracedArray]  #: gradients of states

    @classmethod
    def of(cls, writer: SourceWriter, op: Operator, env: Any) -> _Backward:
        """What an operator asks for."""
        graph, wanted = writer.graph, passes.differentiated(op, ["inputs", "parameters"])
        count, states = len(op.inputs["inputs"]), _states(writer, op, env)
        ins = [each for each in wanted[:count] if each[2] != EMPTY]
        parameters = [each for each in wanted[count:] if each[2] != EMPTY]
        pairs = zip(op.inputs.get("outputs", ()), op.inputs.get("outputs@GRAD", ()))
        flowing = op.inputs.get("final_states@GRAD", (EMPTY,) * len(states))
        names = op.instance().states  # type: ignore[attr-defined]
        return cls(
            ins,
            parameters,
            _values(writer, op, "inputs", env),
            [
                passes.zeros(writer, v) if n == EMPTY else writer.value(op.block, n, env)
                for n, v in zip(flowing, states)
            ],
            {f"{n}{passes.GRAD}": writer.value(op.block, g, env) for n, g in pairs if g != EMPTY},
            graph.value(spec([], "int64"), "i"),
            {local: Cell(f"{out}.steps") for _, local, out in ins},
            {local: passes.carried(graph, None, out) for _, local, out in parameters},
            [
                passes.carried(graph, passes.known_spec(v), f"{n}{passes.GRAD}")
                for n, v in zip(names, states)
            ],
        )

    def step(self, writer: SourceWriter, op: Operator, frame: Any) -> None:
        """Write one step down."""
        graph, instance = writer.graph, op.instance()
        for name, seed in self.seeds.items():
            frame[name] = writer.named(_step_of(graph, seed, self.t), name)
        frame.update({f"{n}{passes.GRAD}": phi for n, phi in zip(instance.states, self.phis)})  # type: ignore[attr-defined]
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        appended = []
        for x, local, _ in self.ins:
            value: Any = dict.get(frame, local)
            if value is None:
                value = passes.zeros(writer, _step_of(graph, self.sequences[x], self.t))
            appended.append((self.lists[local], operand(value)))
        passes.update(graph, appended, appends=True)
        before = [f"{n}{passes.GRAD}" for n in instance.ex_states]  # type: ignore[attr-defined]
        pairs = [(phi.cell, operand(frame[n])) for phi, n in zip(self.phis, before)]
        for local, total in list(self.sums.items()):
            gradient = dict.get(frame, local)
            if gradient is None:
                del self.sums[local]
                continue
            total.spec = passes.known_spec(gradient)
            pairs.append(
                (total.cell, [Reference(total.cell, SUM), " + ", *operand(gradient, SUM + 1)])
            )
        passes.update(graph, pairs)

    def begin(self, writer: SourceWriter) -> None:
        """Write down what the steps start from."""
        begin = [(phi.cell, operand(value)) for phi, value in zip(self.phis, self.first)]
        begin += [(cell, ["[]"]) for cell in self.lists.values()]
        begin += [(total.cell, ["0"]) for total in self.sums.values()]
        passes.update(writer.graph, begin)

    def hand_out(self, writer: SourceWriter, op: Operator, env: Any, ending: str) -> None:
        """Let the block around have what the steps computed."""
        for x, local, out in self.ins:
            parts = ["np.stack(", Reference(self.lists[local], ATOM), ending, ")"]
            made = writer.graph.expression(parts)
            made.spec = passes.known_spec(self.sequences[x])
            env[out] = writer.named(made, out)
        for x, local, out in self.parameters:
            total = self.sums.get(local)
            given = passes.zeros(writer, writer.value(op.block, x, env)) if total is None else total
            env[out] = writer.named(given, out)
        for out, phi in zip(op.outputs.get("initial_states@GRAD", ()), self.phis):
            if out != EMPTY:
                env[out] = writer.named(phi, out)


@passes.drives("recurrent_grad")
def recurrent_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The steps in reverse."""
    graph: SourceGraph = writer.graph
    reverse = bool(op.attrs.get("reverse", False))
    saved, back = passes.saved_of(op, "step_scopes", env), _Backward.of(writer, op, env)
    with graph.below() as body:
        taken = passes.taken_values(graph, saved)
        back.step(writer, op, Frame(env, taken))
    passes.keep_read(saved, taken, body)
    if taken:
        body.insert(0, passes.popped(graph, saved, taken))
    back.begin(writer)
    count = next(iter(back.sequences.values())).shape[0]
    header: list[Part] = ["for ", Reference(back.t.cell), f" in {_steps(count, not reverse)}:"]
    bound = [v.cell for v in (*back.phis, *back.sums.values())] + list(back.lists.values())
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    back.hand_out(writer, op, env, "" if reverse else "[::-1]")
