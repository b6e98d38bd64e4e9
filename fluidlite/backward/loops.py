"""Gradients of loops as loops, for the next order.

``while_grad`` and ``recurrent_grad`` run a block of gradients on what ``StepScopes`` kept of each
pass, and nothing can flow back into that.  Where they are to be differentiated they are replaced by
a ``while`` and a ``recurrent`` that compute the same: the forward loop hands out what the block of
gradients reads of each pass, in arrays of tensors or stacked over the steps, and the new loop takes
that in reverse.  Both are loops like others, and so are their gradients: every order is there.

An operator of the forward block that drives a block itself keeps values for its gradient, too.  It
is run again, in the new loop, on the values that it read.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from ..ir.analysis import blocks_of, driver_of, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..opdef.gradient import is_constant
from .loop_gradient import LoopGradient, index_of
from .recurrent_gradient import RecurrentGradient
from .sweep import CONTROL_RULES
from .while_gradient import WhileGradient

_FORMS: Mapping[str, type[LoopGradient]] = {
    "while_grad": WhileGradient,
    "recurrent_grad": RecurrentGradient,
}


def has_loop_gradients(program: Program) -> bool:
    """Whether a program has gradient operators of loops: what has none is done with at once."""
    return any(op.type in _FORMS for block in program.blocks for op in block.ops)


def loops_for_gradients(
    blocks: Iterable[Block],
    targets: Iterable[str],
    no_grad: Container[str],
    reached: set[str] | None = None,
) -> bool:
    """Replace by loops the gradient operators of loops that gradients of targets will flow to.

    Args:
        blocks: that of the targets, and those around it that a gradient gets to.
        targets: names.
        no_grad: names at which gradients stop.
        reached: names that depend on what is differentiated by; all when None.

    Returns:
        whether there were any.

    Raises:
        NoGradientError: one cannot be replaced.
    """
    replacing = _Replacing(no_grad, reached)
    inner: Block | None = None
    needed = set(targets)
    for block in blocks:
        end = len(block.ops) if inner is None else driver_of(inner)[1]
        replacing.visit(block, needed, end)
        inner = block
    return replacing.found


class _Replacing:
    """Goes through operators in reverse, as a sweep does."""

    def __init__(self, no_grad: Container[str], reached: set[str] | None) -> None:
        self.no_grad = no_grad
        self.reached = reached
        self.found = False

    def visit(self, block: Block, needed: set[str], end: int) -> None:
        """Replace what gradients flow to in a block; adds to ``needed`` what they flow on to."""
        position = end
        while position > 0:
            position -= 1
            op = block.ops[position]
            if needed.isdisjoint(writes_of(op)) or not _passes(op):
                continue
            if not self._is_reached(op):
                continue
            form = _FORMS.get(op.type)
            if form is not None:
                self.found = True
                made = form(block, op).write()
                position = index_of(block.ops, made[-1]) + 1
                if self.reached is not None:
                    self.reached.update(n for each in made for n in writes_of(each))
                continue
            if op.type in CONTROL_RULES:
                for inner in blocks_of(op):
                    self._visit_inner(inner, op, needed)
                position = index_of(block.ops, op)  # those within may be of loops here
            needed.update(self._flows_on(block, op))

    def _visit_inner(self, block: Block, op: Operator, needed: set[str]) -> None:
        """Go through a block that an operator drives until nothing more is needed of it."""
        inner = needed.intersection(writes_of(op)).union(op.attrs.get("states", ()))
        if op.type == "while":
            inner.update(writes_of(op))
        reached, self.reached = self.reached, None  # which may be of this block alone
        before = -1
        while len(inner) != before:
            before = len(inner)
            self.visit(block, inner, len(block.ops))
        self.reached = reached

    def _is_reached(self, op: Operator) -> bool:
        return self.reached is None or any(name in self.reached for name in reads_of(op))

    def _flows_on(self, block: Block, op: Operator) -> Iterator[str]:
        """What gradients flow on to from an operator; more rather than less."""
        byproducts = getattr(op.definition, "byproducts", ())
        statistics = {n for slot in byproducts for n in op.inputs.get(slot, ())}
        for name in reads_of(op):
            variable = block.find_var_recursive(name)
            if variable is None or name in self.no_grad:
                continue
            if variable.takes_gradient or (name in statistics and variable.dtype.is_continuous):
                yield name


def _passes(op: Operator) -> bool:
    definition = op.definition
    return op.type in CONTROL_RULES or (definition is not None and not is_constant(definition))
