"""The first run of a plan: one instruction after the other, each on arrays of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ground.dtypes import Kind
from .graph import Instruction
from .value import Value


def executed(
    instruction: Instruction,
    xp: Any,
    held: Mapping[int, Any],
    rooms: dict[Any, Any],
    draw: Callable[[Any], Any],
) -> tuple[list[Any], list[tuple[Value, Any]]]:
    """Run one instruction on arrays by number of a value, in what kernels work in by its maker:
    what its kernel took, and pairs of the values made and their arrays.
    """
    operands = [held_array(value, held) for value in instruction.operands]
    kernel = instruction.kernel
    if kernel is not None:
        maker = None if instruction.phase == "wait" else kernel.scratch
        scratch = [] if maker is None else [_room(maker, rooms)]
        results = getattr(kernel, instruction.phase or "function")(*operands, *scratch)
        arrays = results if type(results) is tuple else (results,)
        plain = instruction.phase != "start"
        return [*operands, *scratch], [
            (v, np.asarray(array) if v.kind is Kind.LOD_TENSOR and plain else array)
            for v, array in zip(instruction.results, arrays, strict=True)
        ]
    rng = [draw(instruction.random_key)] if instruction.draws else []
    function = instruction.typed.calling.function
    outputs = instruction.op.by_slot(function(instruction.op, xp, *rng, *operands))
    pairs: list[tuple[Value, Any]] = []
    for slot, values in instruction.outs.items():
        if isinstance(values, list):
            pairs += zip(values, map(np.asarray, outputs[slot]), strict=True)
        elif isinstance(values, Value):
            plain = values.kind is Kind.LOD_TENSOR
            pairs.append((values, np.asarray(outputs[slot]) if plain else outputs[slot]))
    return operands, pairs


def _room(maker: Any, rooms: dict[Any, Any]) -> Any:
    """What a kernel works in: what others worked in that have an equal maker; of the memory that is
    common to all kernels a new one, since nothing is to stay of it.
    """
    if getattr(maker, "common", 0):
        return maker()
    if maker not in rooms:
        rooms[maker] = maker()
    return rooms[maker]


def held_array(value: Any, held: Mapping[int, Any]) -> Any:
    """The array, or the list of arrays, that a value stands for."""
    if value is None or isinstance(value, list):
        return None if value is None else [held_array(each, held) for each in value]
    return held[value.number] if value.constant is None else value.constant
