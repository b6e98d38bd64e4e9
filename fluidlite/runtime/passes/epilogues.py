"""Epilogues: what only one instruction's result is for, and a kernel may compute at once."""

from __future__ import annotations

from collections.abc import Mapping

from ...opdef.prepared import Epilogues
from ...opdef.structure import Epilogue
from ..graph import Instruction
from ..value import Value

_LONGEST = 8  #: more than a bias, an activation and what a residual block adds


def epilogues_of(instruction: Instruction, position: Mapping[Instruction, int]) -> Epilogues:
    """The chain of epilogues behind an instruction. By their positions, what they read must be
    there before the instruction.
    """
    chain: list[tuple[Epilogue, Instruction]] = []
    at = instruction
    while len(chain) < _LONGEST and at.results:
        value = at.results[0]
        reader = value.only_user
        if reader is None or reader.bodies or reader.phase or not reader.results:
            break
        result, *more = reader.results
        if any(v.users or v.is_output for v in more):
            break
        epilogue = _epilogue(reader, value)
        if epilogue is None or (result.shape != value.shape and not epilogue.order):
            break
        others = [v for v in reader.inputs if v is not value]
        if any(not _is_there(v, instruction, position) for v in others):
            break
        chain.append((epilogue, reader))
        if epilogue.order:  # shapes of what follows are other ones
            break
        at = reader
    mask = _mask(instruction, chain[0][1]) if len(chain) else None
    return Epilogues(tuple(chain), mask)


def _epilogue(reader: Instruction, value: Value) -> Epilogue | None:
    """What an instruction does with a value that it reads once."""
    inputs = reader.inputs
    if isinstance(reader.operands[0], list) or sum(v is value for v in inputs) != 1:
        return None
    if inputs[0] is value:
        return reader.op.epilogue(value.spec, *(v.spec for v in inputs[1:]))
    if len(inputs) != 2 or inputs[0].shape != value.shape:
        return None
    found = reader.op.epilogue(value.spec, inputs[0].spec)
    return found if found is not None and found.commutes else None


def _is_there(value: Value, instruction: Instruction, position: Mapping[Instruction, int]) -> bool:
    maker = value.producer
    return maker is None or position.get(maker, -1) < position[instruction]


def _mask(instruction: Instruction, epilogue: Instruction) -> Instruction | None:
    """The gradient of an epilogue, where it goes to the gradient of the instruction alone, and that
    reads the instruction's own values: of what was computed again it would not find the mask.
    """
    own = type(instruction.op)
    backward = {user for value in instruction.results for user in value.users}
    gradients = [user for user in backward if user.op.derived_from is own]
    masks = [
        user
        for user in epilogue.results[0].users
        if user.op.derived_from is type(epilogue.op) and user.operands[0] is epilogue.results[0]
    ]
    if len(masks) != 1 or len(gradients) != 1:
        return None
    own_values = {**dict(zip(instruction.slots, instruction.operands)), **instruction.outs}
    read = zip(gradients[0].slots, gradients[0].operands)
    if any(value is not own_values[slot] for slot, value in read if slot in own_values):
        return None
    return masks[0] if masks[0].result.only_user is gradients[0] else None
