"""Which operator's gradient rule does not belong to its kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import backend as backends
from ..errors import NoGradientError
from ..ir.analysis import blocks_of, reads_of, writes_of
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..opdef.gradient import Tape, is_constant
from ..opdef.interpreter import Eval
from .differences import Limits, Probe, Slope, weighed, weight_like
from .float64 import dense, is_continuous, with_data
from .gradient_paths import place
from .report import FaultyRule, number
from .seeded_runs import OperatorRun

_NAMED = 3  # culprits in a report


class Concerned(NamedTuple):
    """What of an operator lies between sources and goals."""

    reads: set[str]
    writes: set[str]


def find_culprits(
    seen: Iterable[OperatorRun],
    concerned: Mapping[Operator, Concerned],
    limits: Limits,
    rng: np.random.Generator,
) -> list[FaultyRule]:
    """The operators whose rules disagree with their kernels on the values that they saw; one of
    each type.

    Args:
        seen: operators and what they were given.
        concerned: what :func:`between` found.
        limits: what is allowed.
        rng: draws directions and cotangents.
    """
    culprits: dict[str, FaultyRule] = {}
    for run in seen:
        if len(culprits) == _NAMED:
            break
        if run.op in concerned and run.op.type not in culprits:
            culprit = _examined(run, concerned[run.op], limits, rng)
            if culprit is not None:
                culprits[run.op.type] = culprit
    return list(culprits.values())


def between(
    program: Program, sources: Iterable[str], goals: Iterable[str]
) -> dict[Operator, Concerned]:
    """The operators between sources and goals: in block 0 in their order, in other blocks by name
    alone, since what a loop reads may be what it wrote in the pass before.

    Args:
        program: whose operators.
        sources: names in block 0.
        goals: names in block 0.
    """
    ops = program.global_block().ops
    reached, reads = set(sources), []
    for op in ops:
        reads.append(reached.intersection(reads_of(op)))
        (reached.update if reads[-1] else reached.difference_update)(writes_of(op))
    needed, operators = set(goals), {}
    for op, concerned in zip(reversed(ops), reversed(reads)):
        writes = needed.intersection(writes_of(op))
        needed.difference_update(writes_of(op))
        needed.update(reads_of(op))
        if concerned and writes:
            operators[op] = Concerned(concerned, writes)
    inner = _downstream(program, sources)
    for block in program.blocks[1:]:
        for op in block.ops:
            operators[op] = Concerned(inner, set(writes_of(op)))
    return operators


def _downstream(program: Program, sources: Iterable[str]) -> set[str]:
    """The names that may depend on the sources, in any block."""
    reached = set(sources)
    while True:
        before = len(reached)
        for block in program.blocks:
            for op in block.ops:
                if not reached.isdisjoint(op.input_arg_names):
                    reached.update(writes_of(op))
                    if blocks_of(op):
                        reached.update(op.instance().bound_names(op.inputs))
        reached.discard(EMPTY)
        if len(reached) == before:
            return reached


def driving_operators(program: Program, concerned: Mapping[Operator, Concerned]) -> list[str]:
    """The operators of block 0 among them that drive blocks, each with its line."""
    return [described(op) for op in program.global_block().ops if op in concerned and blocks_of(op)]


def described(op: Operator) -> str:
    """An operator and the user's line."""
    return f"{op}{place(op.callsite)}"


class _Alone:
    """One operator as a function of its inputs.

    Args:
        seen: the operator and what it was given.
        counted: the names of the outputs that count.
        rng: draws cotangents.
    """

    def __init__(self, seen: OperatorRun, counted: set[str], rng: np.random.Generator) -> None:
        self.seen = seen
        self._f = Eval(backends.get("numpy"), seen.rng)
        outs = self._f.apply(seen.instance, seen.ins, seen.want)
        slots = seen.instance.output_slots
        all_count = is_constant(type(seen.instance))
        #: (slot, position in a list slot) -> what the output is weighted with
        self._weights: dict[tuple[str, int], Any] = {}
        for slot, value in outs.items():
            if slot in seen.want and (all_count or not slots[slot].constant):
                for k, (output, name) in enumerate(zip(_listed(value), seen.op.outputs[slot])):
                    if name in counted and is_continuous(output) and output.size:
                        one = output.size == 1  # then reports show the slope itself
                        self._weights[slot, k] = weight_like(rng, output, not one)

    def total(self, ins: Mapping[str, Any]) -> tuple[float, float]:
        """The weighted sum of the outputs, and that of their absolute values."""
        outs = self._f.apply(self.seen.instance, ins, self.seen.want)
        found = [_listed(outs[slot])[k] for slot, k in self._weights]
        return weighed(self._weights.values(), found)

    def gradients(self, places: list[tuple[str, int]]) -> list[Any]:
        """The rule's gradients of that sum with respect to inputs; None where nothing flows.

        Args:
            places: slots and positions in them.
        """
        tape = Tape(self._f)
        boxes = [tape.watch(_listed(self.seen.ins[slot])[k]) for slot, k in places]
        ins = self.seen.ins
        for (slot, k), box in zip(places, boxes):
            ins = replaced(ins, slot, k, box)
        outs = tape.apply(self.seen.instance, ins, self.seen.want)
        seeds = [(_listed(outs[slot])[k], w) for (slot, k), w in self._weights.items()]
        return tape.pull(seeds, boxes)


def _examined(
    seen: OperatorRun, concerned: Concerned, limits: Limits, rng: np.random.Generator
) -> FaultyRule | None:
    op = seen.op
    places = [
        (slot, k)
        for slot, names in op.inputs.items()
        for k, name in enumerate(names)
        if name in concerned.reads
        and is_continuous(value := _listed(seen.ins[slot])[k])
        and dense(value).size
    ]
    if not places:
        return None
    alone = _Alone(seen, concerned.writes, rng)
    try:
        gradients = alone.gradients(places)
    except NoGradientError:
        return None  # backward has said so, if the operator is on the way
    for (slot, k), gradient in zip(places, gradients):
        value = _listed(seen.ins[slot])[k]
        name = op.inputs[slot][k]
        array = dense(gradient)
        if array is not None and array.shape != dense(value).shape:
            expected = f"expected {list(dense(value).shape)}"
            what = f"its rule gives a gradient of shape {list(array.shape)}, {expected}"
            return _faulty_rule(op, slot, name, None, what)
        probe = Probe(
            lambda data, slot=slot, k=k, value=value: alone.total(  # type: ignore[misc]
                replaced(seen.ins, slot, k, with_data(value, data))
            ),
            dense(value),
            array,
            limits,
        )
        if not probe.agrees(rng):
            slope = probe.worst(rng)
            if not slope.ok:
                return _faulty_rule(op, slot, name, slope, _what(seen, slot, gradient, slope))
    return None


def _what(seen: OperatorRun, slot: str, gradient: Any, slope: Slope) -> str:
    expected = f"finite differences give {number(slope.expected)}"
    if gradient is not None:
        text = f"its rule gives {number(slope.found)}, {expected}"
    elif is_constant(type(seen.instance)):
        text = f"its definition says that nothing flows through it, {expected}"
    elif seen.instance.input_slots[slot].constant:
        text = f"its definition says that nothing flows to {slot}, {expected}"
    else:
        text = f"its rule gives nothing, {expected}"
    return text + ("; its slope jumps there: move the input away" if slope.kink else "")


def _faulty_rule(op: Operator, slot: str, name: str, slope: Slope | None, what: str) -> FaultyRule:
    return FaultyRule(
        type=op.type,
        operator=str(op),
        callsite=op.callsite,
        slot=slot,
        variable=name,
        index=None if slope is None else slope.index,
        found=None if slope is None else slope.found,
        expected=None if slope is None else slope.expected,
        what=what,
    )


def replaced(ins: Mapping[str, Any], slot: str, k: int, value: Any) -> dict[str, Any]:
    """Inputs by slot with another value at one place."""
    old = ins[slot]
    if not isinstance(old, list):
        return {**ins, slot: value}
    return {**ins, slot: [*old[:k], value, *old[k + 1 :]]}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
