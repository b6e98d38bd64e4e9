"""Epilogues: what only one instruction's result is for, and a kernel may compute at once."""

from __future__ import annotations

from collections.abc import Mapping

from ...opdef.prepared import Epilogues
from ..graph import Instruction
from ..value import Value

_LONGEST = 2  #: a bias and an activation


def epilogues_of(instruction: Instruction, position: Mapping[Instruction, int]) -> Epilogues:
    """The chain of epilogues behind an instruction. By their positions, what they read must be
    there before the instruction.
    """
    chain: list[tuple[str, Instruction]] = []
    at = instruction
    while len(chain) < _LONGEST and at.results:
        value = at.results[0]
        reader = value.only_user
        if reader is None or not reader.operands or reader.operands[0] is not value:
            break
        others = reader.inputs[1:]
        kind = reader.op.epilogue(value.spec, *(v.spec for v in others))
        if not kind or reader.result.shape != value.shape:
            break
        if any(not _is_there(v, instruction, position) for v in others):
            break
        chain.append((kind, reader))
        at = reader
    mask = _mask(instruction, chain[0][1]) if len(chain) else None
    return Epilogues(tuple(chain), mask)


def _is_there(value: Value, instruction: Instruction, position: Mapping[Instruction, int]) -> bool:
    maker = value.producer
    return maker is None or position.get(maker, -1) < position[instruction]


def _mask(instruction: Instruction, epilogue: Instruction) -> Instruction | None:
    """The gradient of an epilogue, where it goes to the gradient of the instruction alone."""
    own = type(instruction.op)
    backward = {user for value in instruction.results for user in value.users}
    gradients = [user for user in backward if user.op.derived_from is own]
    found = [
        user
        for user in epilogue.result.users
        if user.op.derived_from is type(epilogue.op) and user.operands[0] is epilogue.result
    ]
    if len(found) != 1 or len(gradients) != 1:
        return None
    return found[0] if found[0].result.only_user is gradients[0] else None
