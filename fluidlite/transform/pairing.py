"""Which gradient operators belong to which operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..opdef.gradient import GRAD, DerivedGrad


def gradient_operators(op: Operator) -> list[Operator]:
    """The operators that compute the gradient of an operator, those of higher orders included."""
    gradients: list[Operator] = []
    pending = [op]
    while pending:
        forward = pending.pop()
        for candidate in _behind(forward):
            definition = candidate.definition
            if (
                definition is not None
                and issubclass(definition, DerivedGrad)
                and definition.derived_from is forward.definition
                and not any(candidate is other for other in gradients)
                and _belongs(candidate, definition, forward)
            ):
                gradients.append(candidate)
                pending.append(candidate)
    return gradients


def readers_of_gradient(op: Operator) -> list[Operator]:
    """The operators that read the gradient of what an operator writes."""
    gradients = {name + GRAD for name in op.output_arg_names if name != EMPTY}
    return [each for each in _behind(op) if not gradients.isdisjoint(each.input_arg_names)]


def _blocks_of_gradients(block: Block) -> Iterator[Block]:
    """A block, and those that compute gradients of what is in it."""
    yield block
    for each in block.program.blocks:
        if each.forward_block_idx == block.idx:
            yield each


def _behind(op: Operator) -> Iterable[Operator]:
    """The operators that may compute the gradient of an operator."""
    for block in _blocks_of_gradients(op.block):
        yield from block.ops


def _belongs(gradient: Operator, definition: type[DerivedGrad], forward: Operator) -> bool:
    """Whether a gradient operator names what an operator reads and writes, and has its attributes.

    Of values that are overwritten later it reads copies.
    """
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
