"""What an operator computes for each element, derived from its definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import FluidError
from ...ground.dtypes import Kind
from ...opdef.interpreter import ArrayBackend, Eval
from .symbols import XP, ArraySymbol, Expression, Untraceable

#: runs operators on symbols, as others run them on arrays: compositions by their parts
_EVAL = Eval(ArrayBackend("native", XP))
#: what a kernel raises that asks more of an array than a symbol has
_REFUSALS = (Untraceable, FluidError, TypeError, AttributeError, ValueError, KeyError, IndexError)
#: element types that C has
KNOWN = frozenset(map(np.dtype, ("float32", "float64", "int32", "int64", "bool", "uint8")))


class TracedResults:
    """The expressions of an instruction's results.

    Args:
        operands: of each operand an input expression, a list of them, or None.
        results: by output slot an expression, or a list of them.
    """

    def __init__(self, operands: list[Any], results: dict[str, Any]) -> None:
        self.operands = operands
        self.results = results


def is_plain(spec: Any) -> bool:
    """Whether elements of a value can be worked on."""
    return (
        spec.kind is Kind.LOD_TENSOR
        and spec.dtype.dtype in KNOWN
        and all(type(n) is int and n > 0 for n in spec.shape)
    )


def traced(op: Any, slots: Any, specs: list[Any], outs: Mapping[str, Any]) -> TracedResults | None:
    """The trace of an operator on values of given shapes; None where it has none.

    Args:
        op: the operator with its attributes.
        slots: what the operands are called.
        specs: of the operands: specs, lists of them, and None.
        outs: by output slot the spec of what it makes, or a list of them.
    """
    operands = [_input(spec) for spec in specs]
    if any(o is Untraceable for o in operands):
        return None
    given = {slot: _symbols(operand) for slot, operand in zip(slots, operands, strict=True)}
    return _applied(op, operands, given, outs)


def traced_together(fused: Any, specs: list[Any], outs: Mapping[str, Any]) -> TracedResults | None:
    """The trace of two operators, the second of which reads what the first makes.

    Args:
        fused: the operators, and which of them reads what.
        specs, outs: as for one operator.
    """
    operands = [_input(spec) for spec in specs]
    if any(o is Untraceable for o in operands):
        return None
    symbols: dict[str, dict[str, Any]] = {"consumer": {}, "producer": {}}
    for (side, slot), operand in zip(fused.takes, operands, strict=True):
        symbols[side][slot] = _symbols(operand)
    producer = fused.producer.op
    (output_slot,) = (slot.name for slot in producer.outputs)
    try:
        found = _EVAL.apply(producer, symbols["producer"], [output_slot])
    except _REFUSALS:
        return None
    symbols["consumer"][fused.slot] = found[output_slot]
    return _applied(fused.consumer.op, operands, symbols["consumer"], outs)


def _applied(
    op: Any, operands: list[Any], given: dict[str, Any], outs: Mapping[str, Any]
) -> TracedResults | None:
    try:
        found = _EVAL.apply(op, given, list(outs))
        results = {slot: _checked(found.get(slot), spec) for slot, spec in outs.items()}
    except _REFUSALS:
        return None
    return TracedResults(operands, results)


def _input(spec: Any) -> Any:
    if spec is None:
        return None
    if isinstance(spec, list):
        made = [_input(each) for each in spec]
        return Untraceable if Untraceable in made else made
    if not is_plain(spec):
        return Untraceable
    return Expression("input", (), tuple(spec.shape), spec.dtype.dtype)


def _symbols(operand: Any) -> Any:
    if isinstance(operand, list):
        return [_symbols(each) for each in operand]
    return None if operand is None else ArraySymbol(operand)


def _checked(value: Any, spec: Any) -> Any:
    """The expression of a result, as the shape rule says that it is."""
    if isinstance(spec, list):
        if not isinstance(value, list) or len(value) != len(spec):
            raise Untraceable("another number of results")
        return [_checked(v, s) for v, s in zip(value, spec)]
    if not isinstance(value, ArraySymbol) or not is_plain(spec):
        raise Untraceable("a result that is no expression")
    if value.shape != tuple(spec.shape) or value.dtype != spec.dtype.dtype:
        raise Untraceable("another form than the shape rule says")
    return value.node
