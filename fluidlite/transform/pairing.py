"""Which gradient operators belong to which operators."""

from __future__ import annotations

from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..opdef.definition import Op
from ..opdef.gradient import GRAD, DerivedGrad


class Gradients:
    """The operators of a program that compute gradients, and what they read of them.

    Args:
        program: is gone through once.
    """

    def __init__(self, program: Program) -> None:
        self._of: dict[tuple[int, type[Op] | None], list[Operator]] = {}
        self._readers: dict[tuple[int, str], list[Operator]] = {}
        for block in program.blocks:
            owners = {block.idx, block.forward_block_idx}
            for op in block.ops:
                definition = op.definition
                if definition is not None and issubclass(definition, DerivedGrad):
                    for owner in owners:
                        self._of.setdefault((owner, definition.derived_from), []).append(op)
                for name in op.input_arg_names:
                    if GRAD in name:
                        for owner in owners:
                            self._readers.setdefault((owner, name), []).append(op)

    def of(self, op: Operator) -> list[Operator]:
        """The operators that compute the gradient of an operator, also of higher orders."""
        gradients: dict[int, Operator] = {}
        pending = [op]
        while pending:
            forward = pending.pop()
            definition = forward.definition
            candidates = (
                [] if definition is None else self._of.get((forward.block.idx, definition), [])
            )
            for candidate in candidates:
                if id(candidate) not in gradients and _belongs(candidate, forward):
                    gradients[id(candidate)] = candidate
                    pending.append(candidate)
        return list(gradients.values())

    def readers(self, op: Operator) -> list[Operator]:
        """The operators that read the gradient of what an operator writes."""
        names = [name + GRAD for name in op.output_arg_names if name != EMPTY]
        return [each for name in names for each in self._readers.get((op.block.idx, name), ())]


def _belongs(gradient: Operator, forward: Operator) -> bool:
    """Whether a gradient operator names what an operator reads and writes, and has its attributes.

    Of values that are overwritten later it reads copies.
    """
    definition = gradient.definition
    assert definition is not None
    assert issubclass(definition, DerivedGrad)
    for read in definition.reads:
        if read.source == "cotangent":
            continue
        own = (forward.inputs if read.source == "in" else forward.outputs).get(read.of, ())
        names = gradient.inputs.get(read.slot, ())
        if len(own) != len(names) or not all(
            n == m or n.startswith(f"{m}@SAVED_") for n, m in zip(names, own)
        ):
            return False
    written = {name.partition(GRAD)[0] for names in gradient.outputs.values() for name in names} - {
        EMPTY
    }
    attributes = definition.attributes.keys()
    return written <= set(forward.input_arg_names) and all(
        gradient.attrs.get(name) == value
        for name, value in forward.attrs.items()
        if name in attributes
    )
