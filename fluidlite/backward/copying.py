"""Copies of operators and of the blocks that they drive, under other names."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import NoGradientError
from ..ir.block import Block
from ..ir.operator import Operator
from .sweep import described

#: operators whose blocks have variables of the same names as their inputs and outputs
_SHARING_NAMES = ("recurrent", "recurrent_grad")


class BlockCopies:
    """Copies for one block: copied blocks of gradients belong to the copies of forward blocks."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def stands_for(self, source: Block, target: Block) -> None:
        """Say that a block's operators are copied to another one, which is there already."""
        self._numbers[source.idx] = target.idx

    def take(self, source: Block, target: Block, renamed: Mapping[str, str]) -> None:
        """Copy variables and operators of a block, those of the blocks it drives included.

        Args:
            source: what to copy.
            target: takes them.
            renamed: names to be replaced -> new names.
        """
        for variable in source.vars.values():
            target.declare(variable.copy_to(target))
        for op in source.ops:
            target.take_op(self.operator(op, target, renamed))

    def operator(self, op: Operator, target: Block, renamed: Mapping[str, str]) -> Operator:
        """A copy of an operator for another block, with copies of the blocks that it drives.

        Raises:
            NoGradientError: a name that it shares with its block is to be replaced.
        """
        copied = _renamed(op, target, renamed)
        for attribute, inner, local in _driven(op, renamed):
            twin = target.program.add_block(target.idx, self._forward_of(inner))
            self._numbers[inner.idx] = twin.idx
            self.take(inner, twin, local)
            copied.set_attr(attribute, twin.idx)
            _rename_gradients(op, copied, local)
        return copied

    def moved(self, op: Operator, target: Block, renamed: Mapping[str, str]) -> Operator:
        """What is to stand in place of an operator, with the blocks that it drives, in which
        names are replaced.

        Raises:
            NoGradientError: a name that it shares with its block is to be replaced.
        """
        changed = _renamed(op, target, renamed)
        for _, inner, local in _driven(op, renamed):
            inner.set_ops([self.moved(each, inner, local) for each in inner.ops])
            inner.forward_block_idx = self._forward_of(inner)
            _rename_gradients(op, changed, local)
        return changed

    def _forward_of(self, block: Block) -> int:
        return self._numbers.get(block.forward_block_idx, block.forward_block_idx)


def _renamed(op: Operator, target: Block, renamed: Mapping[str, str]) -> Operator:
    changed = copy.copy(op)
    changed.block = target
    changed.rename(renamed)
    return changed


def _driven(
    op: Operator, renamed: Mapping[str, str]
) -> Iterator[tuple[str, Block, dict[str, str]]]:
    """The blocks that an operator drives, with their attribute and the names to be replaced."""
    definition = op.definition
    for attribute in () if definition is None else definition.block_attributes:
        if op.type in _SHARING_NAMES:
            _need_same_names(op, renamed)
        inner = op.block.program.blocks[op.attrs[attribute]]
        yield attribute, inner, {o: n for o, n in renamed.items() if o not in inner.vars}


def _need_same_names(op: Operator, renamed: Mapping[str, str]) -> None:
    for slot in ("inputs", "outputs"):
        for name in op.inputs.get(slot, op.outputs.get(slot, ())):
            if name in renamed:
                raise NoGradientError(
                    f"operator {op.type!r} cannot be run again for a second derivative: {name!r}, "
                    f"a sequence of its, holds several values in turn; write each to a variable of "
                    f"its own{described(op)}"
                )


def _rename_gradients(op: Operator, copied: Operator, renamed: Mapping[str, str]) -> None:
    """Let a gradient operator know what its block, a copy, calls gradients."""
    instance: Any = op.instance()
    if "local_gradients" not in instance.attributes:
        return
    slots = {slot: op.inputs.get(slot, ()) for slot in instance.differentiated}
    local = _all_renamed(instance.gradient_names(slots), renamed)
    copied.set_attr("local_gradients", ())
    usual = {slot: copied.inputs.get(slot, ()) for slot in instance.differentiated}
    copied_instance: Any = copied.instance()
    if list(local) != list(copied_instance.gradient_names(usual)):
        copied.set_attr("local_gradients", local)
    carried = op.attrs.get("original_output_grad")
    if carried:
        copied.set_attr("original_output_grad", _all_renamed(carried, renamed))


def _all_renamed(names: Iterable[str], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renamed.get(name, name) for name in names)
