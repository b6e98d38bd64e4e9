"""Running one instruction with its kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..dtypes import Kind
from .graph import Instruction
from .value import Value


def executed(
    instruction: Instruction, xp: Any, held: Mapping[int, Any], draw: Callable[[Any], Any]
) -> list[tuple[Value, Any]]:
    """Run one instruction on arrays by number of a value: pairs of the values made and their
    arrays.
    """
    operands = [_held(value, held) for value in instruction.operands]
    kernel = instruction.kernel
    if kernel is not None:
        has_scratch = kernel.scratch is not None and instruction.phase != "wait"
        scratch = [kernel.scratch()] if kernel.scratch is not None and has_scratch else []
        made = getattr(kernel, instruction.phase or "function")(*operands, *scratch)
        arrays = made if type(made) is tuple else (made,)
        plain = instruction.phase != "start"
        return [
            (v, np.asarray(array) if v.kind is Kind.LOD_TENSOR and plain else array)
            for v, array in zip(instruction.results, arrays, strict=True)
        ]
    rng = [draw(instruction.random_key)] if instruction.draws else []
    function = instruction.typed.calling.function
    found = instruction.op.by_slot(function(instruction.op, xp, *rng, *operands))
    pairs: list[tuple[Value, Any]] = []
    for slot, made in instruction.outs.items():
        if isinstance(made, list):
            pairs += zip(made, map(np.asarray, found[slot]), strict=True)
        elif isinstance(made, Value):
            plain = made.kind is Kind.LOD_TENSOR
            pairs.append((made, np.asarray(found[slot]) if plain else found[slot]))
    return pairs


def _held(value: Any, held: Mapping[int, Any]) -> Any:
    """The array, or the list of arrays, that a value stands for."""
    if value is None or isinstance(value, list):
        return None if value is None else [_held(each, held) for each in value]
    return held[value.number] if value.constant is None else value.constant
