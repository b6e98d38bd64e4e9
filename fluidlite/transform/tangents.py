"""How tangents pass an operator, derived from its gradient rule.

The gradient operator of T is linear in its cotangents: it applies the transposed Jacobian of T.
Its own gradient with respect to them transposes once more and applies the Jacobian, which is what
forward mode needs.  So the tangent of T's result is an output of ``T_grad_grad``, which every
differentiable T has; what nobody wants of it is not computed.  Cheaper ways come first: a linear
operator is applied to tangents as it is to values, and where the Jacobian is symmetric, ``T_grad``
takes the tangent in place of the cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from ..opdef.definition import Op, lookup
from ..opdef.gradient import DerivedGrad
from ..opdef.rule import gather
from .linearity import has_symmetric_jacobian, is_linear_in


class Push(NamedTuple):
    """The operator that computes the tangents of another one's outputs.

    op: the operator.
    ins: what it reads, by slot.
    slots: its output slots -> those of the other operator.
    """

    op: Op
    ins: dict[str, Any]
    slots: dict[str, str]


class Flow(NamedTuple):
    """What flows through an operator.

    ins: values by input slot, lists for list slots; whatever stands for values.
    outs: values by output slot.
    tangents: of inputs, by slot; None within a list where they are zero.  At least one.
    wanted: the output slots whose tangents are needed.
    zeros_like: gives zeros for a value.
    """

    ins: Mapping[str, Any]
    outs: Mapping[str, Any]
    tangents: Mapping[str, Any]
    wanted: Collection[str]
    zeros_like: Callable[[Any], Any]


def push(op: Op, flow: Flow, of_complex: bool = False) -> Push:
    """How the tangents of an operator's outputs are computed.

    Args:
        op: an operator that can be differentiated.
        flow: its values.
        of_complex: whether some value is of complex numbers, of which no Jacobian is symmetric.
    """
    ins, outs, tangents, wanted, zeros_like = flow
    if op.type == "print":
        return Push(lookup("assign")(), {"X": tangents["In"]}, {"Out": "Out"})
    if op.type == "scale":  # affine
        applied = {**ins, "X": tangents["X"]}
        return Push(lookup("scale")({**op.attr_values(), "bias": 0.0}), applied, {"Out": "Out"})
    if is_linear_in(op, ins, tangents):
        applied = {slot: value for slot, value in ins.items() if value is not None}
        for slot, tangent in tangents.items():
            applied[slot] = _filled(op, tangent, ins[slot], zeros_like)
        return Push(op, applied, {slot: slot for slot in op.output_slots})
    gradient = _gradient(op)
    symmetric = has_symmetric_jacobian(op) and not of_complex
    if symmetric and set(tangents) == {op.inputs[0].name}:
        (tangent,), (out,) = tangents.values(), wanted
        given = _gathered(gradient, ins, outs, {out: tangent}.get)
        return Push(gradient, given, {gradient.grad_slots[op.inputs[0].name]: out})
    return _transposed_twice(gradient, flow)


def _gradient(op: Op) -> Any:
    return lookup(op.grad_type)(op.attr_values())


def _filled(op: Op, tangent: Any, value: Any, zeros_like: Callable[[Any], Any]) -> Any:
    """A tangent whose zeros are there, but in a sum, which does without them."""
    if not isinstance(tangent, list):
        return tangent
    if op.adds_all:
        return [each for each in tangent if each is not None]
    return [
        zeros_like(v) if each is None and v is not None else each for each, v in zip(tangent, value)
    ]


def _gathered(
    gradient: DerivedGrad,
    ins: Mapping[str, Any],
    outs: Mapping[str, Any],
    cotangent: Callable[[str], Any],
) -> dict[str, Any]:
    """What a gradient operator reads, by slot."""
    values = gather(gradient.reads, ins.get, outs.get, lambda slot, _: cotangent(slot))
    return {r.slot: v for r, v in zip(gradient.reads, values, strict=True) if v is not None}


def _transposed_twice(gradient: Any, flow: Flow) -> Push:
    """The gradient of the gradient operator with respect to its cotangents, which are zero."""
    ins, outs, tangents, wanted, zeros_like = flow
    second = _gradient(gradient)
    cotangents = [read for read in gradient.reads if read.source == "cotangent"]
    required = {read.of for read in cotangents if not read.optional}

    def zero_cotangent(slot: str) -> Any:
        value = outs.get(slot)
        if slot not in wanted and slot not in required:
            return None
        if isinstance(value, list):
            return [None if v is None else zeros_like(v) for v in value]
        return None if value is None else zeros_like(value)

    reads = _gathered(gradient, ins, outs, zero_cotangent)
    seeds = {gradient.grad_slots[slot]: tangent for slot, tangent in tangents.items()}
    operands = {r.slot: (reads if r.source == "in" else seeds).get(r.of) for r in second.reads}
    slots = {second.grad_slots[read.slot]: read.of for read in cotangents if read.of in wanted}
    return Push(second, {slot: v for slot, v in operands.items() if v is not None}, slots)
