"""Operators that drive blocks, in forward mode: tangents run along inside the block.

Each active name of the block and around it has a twin, which holds its tangent, and which is given
a value wherever the name is.  So an operator that carries names from pass to pass carries their
twins beside them, and the blocks are otherwise treated as any other.  A gradient operator that
drives a block of gradients is no exception: this is how the second order passes a loop in forward
mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from ..ir.operator import EMPTY, Operator
from ..opdef.definition import lookup
from ..opdef.gradient import GRAD

#: from where the tangent of a value comes: pairs of names
Links = Iterator[tuple[str, str]]


class Twins(Protocol):
    """What a forward sweep offers for the operators that drive blocks."""

    def of(self, name: str) -> str | None:
        """The twin of an active name; None of others."""

    def twin(self, name: str) -> str:
        """What the tangent of a name is called."""

    def held(self, name: str) -> str:
        """The twin of a name that has a value before the operator; zeros where it is not active."""

    def first(self, block: int, source: str, target: str, like: str) -> None:
        """Let a block begin with an assignment of a value in the form of a name."""

    def last(self, block: int, source: str, target: str, like: str, zeros: bool = False) -> None:
        """Let a block end with an assignment, or with zeros in the form of ``source``."""


def named(op: Operator, slot: str) -> tuple[str, ...]:
    """The names in a slot of an operator."""
    return tuple(op.inputs.get(slot) or op.outputs.get(slot) or ())


def _local(op: Operator, *slots: str) -> list[str]:
    """What the gradients of inputs are called in the block of a gradient operator."""
    given = {slot: named(op, slot) for slot in slots}
    return list(op.instance().gradient_names(given))  # type: ignore[attr-defined]


def links_of(op: Operator) -> Links:
    """What an operator that drives a block moves from one name to another.

    Args:
        op: the operator; names that are the same inside and outside need no link.
    """
    find = _LINKS.get(op.type)
    if find is not None:
        yield from find(op)


def _of_recurrent(op: Operator) -> Links:
    states = op.attrs["ex_states"]
    yield from zip(named(op, "initial_states"), states)
    yield from zip(op.attrs["states"], states)


def _of_while_grad(op: Operator) -> Links:
    yield from zip(named(op, "Out@GRAD"), op.attrs.get("original_output_grad", ()))
    yield from zip(_local(op, "X"), named(op, "X@GRAD"))


def _of_conditional_block_grad(op: Operator) -> Links:
    passed = dict(zip(named(op, "Out"), named(op, "Out@GRAD")))
    for x, local, out in zip(named(op, "Input"), _local(op, "Input"), named(op, "Input@GRAD")):
        yield local, out
        if x in passed:
            yield passed[x], out


def _of_recurrent_grad(op: Operator) -> Links:
    for name, gradient in zip(named(op, "outputs"), named(op, "outputs@GRAD")):
        yield gradient, name + GRAD
    before, after = op.attrs["ex_states"], op.attrs["states"]
    for ex_state, state in zip(before, after):
        yield ex_state + GRAD, state + GRAD
    for ex_state, gradient in zip(before, named(op, "initial_states@GRAD")):
        yield ex_state + GRAD, gradient
    outs = (*named(op, "inputs@GRAD"), *named(op, "parameters@GRAD"))
    yield from zip(_local(op, "inputs", "parameters"), outs)


_LINKS: dict[str, Callable[[Operator], Links]] = {
    "recurrent": _of_recurrent,
    "while_grad": _of_while_grad,
    "conditional_block_grad": _of_conditional_block_grad,
    "recurrent_grad": _of_recurrent_grad,
}


def _lengthened(op: Operator, slots: Mapping[str, Sequence[str]], **attrs: Sequence[str]) -> None:
    """Put more names behind those in slots and attributes of an operator."""
    inputs = lookup(op.type).input_slots
    for slot, more in slots.items():
        if more:
            put = op.set_input if slot in inputs else op.set_output
            put(slot, *named(op, slot), *more)
    for name, names in attrs.items():
        if names:
            op.set_attr(name, [*op.attrs.get(name, ()), *names])


def _aligned(op: Operator, *slots: str) -> None:
    """Let each input in slots have a place for its gradient, which may be empty."""
    for slot in slots:
        missing = len(named(op, slot)) - len(named(op, slot + GRAD))
        _lengthened(op, {slot + GRAD: [EMPTY] * missing})


def _twins_of(op: Operator, slot: str, twins: Twins) -> list[str]:
    return [twin for name in dict.fromkeys(named(op, slot)) if (twin := twins.of(name))]


def while_(op: Operator, twins: Twins) -> None:
    """Let a loop carry the twins of what it carries."""
    _lengthened(op, {slot: _twins_of(op, slot, twins) for slot in ("X", "Out")})


def conditional_block(op: Operator, twins: Twins) -> None:
    """Let a branch write the twins of what it writes."""
    _lengthened(op, {slot: _twins_of(op, slot, twins) for slot in ("Input", "Out")})


def recurrent(op: Operator, twins: Twins) -> None:
    """Let sequences, states and results have their twins."""
    block = op.attrs["sub_block"]
    added: dict[str, list[str]] = {"initial_states": [], "ex_states": [], "states": []}
    states = zip(named(op, "initial_states"), op.attrs["ex_states"], op.attrs["states"])
    for initial, ex_state, state in states:
        before = twins.of(ex_state)
        if before:
            after = twins.of(state)
            if not after:
                after = f"{before}@AFTER"
                twins.last(block, state, after, state, zeros=True)
            added["initial_states"].append(twins.held(initial))
            added["ex_states"].append(before)
            added["states"].append(after)
    slots = {slot: _twins_of(op, slot, twins) for slot in ("inputs", "parameters", "outputs")}
    slots["initial_states"] = added.pop("initial_states")
    _lengthened(op, slots, **added)


def _pairs(
    op: Operator, slot: str, local: Sequence[str], twins: Twins
) -> list[tuple[str, str, str]]:
    """Of inputs whose gradients have twins: their name, that in the block of gradients, and what
    the twin is called there and outside.
    """
    outs = named(op, slot + "@GRAD")
    pairs = []
    for name, inner, out in zip(named(op, slot), local, outs):
        inside, outside = twins.of(inner), twins.of(out)
        if out != EMPTY and inside and outside:
            pairs.append((name, inside, outside))
    return pairs


def while_grad(op: Operator, twins: Twins) -> None:
    """Let the passes in reverse carry the twins of gradients."""
    _aligned(op, "X")
    local = _local(op, "X")
    pairs = _pairs(op, "X", local, twins)
    incoming, carried = [], []
    for given, inner in zip(named(op, "Out@GRAD"), op.attrs.get("original_output_grad", ())):
        twin = twins.of(inner)
        if twin:
            incoming.append(twins.held(inner.removesuffix(GRAD) if given == EMPTY else given))
            carried.append(twin)
    names, inside, outside = zip(*pairs) if pairs else ((), (), ())
    _lengthened(op, {"X": names, "Out@GRAD": incoming, "X@GRAD": outside})
    _lengthened(op, {}, original_output_grad=carried)
    op.set_attr("local_gradients", [*local, *inside])


def conditional_block_grad(op: Operator, twins: Twins) -> None:
    """Let the gradients of a branch have twins; where it did not run, those of what went through
    go through.
    """
    _aligned(op, "Input", "Out")
    local = _local(op, "Input")
    passed = dict(zip(named(op, "Out"), named(op, "Out@GRAD")))
    names, inside, outside, through, flowing = [], [], [], [], []
    for name, inner, out in _pairs(op, "Input", local, twins):
        key = name
        if name in passed:
            key = twins.held(name)
            through.append(key)
            flowing.append(EMPTY if passed[name] == EMPTY else twins.held(passed[name]))
        names.append(key)
        inside.append(inner)
        outside.append(out)
    _lengthened(op, {"Input": names, "Out": through, "Out@GRAD": flowing, "Input@GRAD": outside})
    op.set_attr("local_gradients", [*local, *inside])


def recurrent_grad(op: Operator, twins: Twins) -> None:
    """Let the gradients of sequences, states and parameters have twins.

    The operator calls the gradient of a state as fluid does, so its block hands twins over.
    """
    _aligned(op, "inputs", "parameters", "outputs", "initial_states")
    block, local = op.attrs["sub_block"], _local(op, "inputs", "parameters")
    count = len(named(op, "inputs"))
    sequences = _pairs(op, "inputs", local[:count], twins)
    read = _twins_of(op, "inputs", twins)  # in the block, whether they have gradients or not
    sequences += [(twin, twin + GRAD, EMPTY) for twin in read]
    parameters = _pairs(op, "parameters", local[count:], twins)
    outputs, flowing = [], []
    for name, gradient in zip(named(op, "outputs"), named(op, "outputs@GRAD")):
        twin = twins.of(name + GRAD)
        if twin and gradient != EMPTY:
            outputs.append(twins.held(name))
            flowing.append(twins.held(gradient))
            twins.first(block, outputs[-1] + GRAD, twin, name + GRAD)
    initial, results, ex_states, states = [], [], [], []
    pairs = zip(
        named(op, "initial_states"),
        named(op, "initial_states@GRAD"),
        op.attrs["ex_states"],
        op.attrs["states"],
        strict=True,
    )
    for name, out, ex_state, state in pairs:
        before, after = twins.of(ex_state + GRAD), twins.of(state + GRAD)
        if before or after or twins.of(ex_state):
            initial.append(name)
            results.append(twins.of(out) or EMPTY)
            ex_states.append(twins.twin(ex_state))
            states.append(twins.twin(state))
            if after:
                twins.first(block, states[-1] + GRAD, after, state + GRAD)
            held, target = before or ex_state + GRAD, ex_states[-1] + GRAD
            twins.last(block, held, target, ex_state + GRAD, zeros=not before)
    op.set_attr(
        "local_gradients",
        [*local[:count], *[p[1] for p in sequences], *local[count:], *[p[1] for p in parameters]],
    )
    _lengthened(
        op,
        {
            "inputs": [p[0] for p in sequences],
            "inputs@GRAD": [p[2] for p in sequences],
            "parameters": [p[0] for p in parameters],
            "parameters@GRAD": [p[2] for p in parameters],
            "outputs": outputs,
            "outputs@GRAD": flowing,
            "initial_states": initial,
            "initial_states@GRAD": results,
        },
        ex_states=ex_states,
        states=states,
    )


#: by type what lets an operator that drives a block run tangents along
TWINNED: dict[str, Callable[[Operator, Twins], None]] = {
    "while": while_,
    "conditional_block": conditional_block,
    "recurrent": recurrent,
    "while_grad": while_grad,
    "conditional_block_grad": conditional_block_grad,
    "recurrent_grad": recurrent_grad,
}
