"""Loops in which each example has a condition of its own: all go on until the last one ends."""

from __future__ import annotations

from ..errors import UnsupportedError
from ..ground.dtypes import Kind
from ..ir.analysis import blocks_of, free_reads, writes_of
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..opdef.definition import lookup
from .batched_blocks import BlockBatching, place_of, refuse_to_keep


class BatchedWhile:
    """A ``while`` whose block runs for all examples, as long as one of them goes on; those that
    have ended keep their values.

    Args:
        walk: batches the block around it.
        op: the operator; is changed.

    Raises:
        UnsupportedError: it carries something else than tensors of known shapes.
    """

    def __init__(self, walk: BlockBatching, op: Operator) -> None:
        self._walk = walk
        self._op = op
        (self.block,) = blocks_of(op)
        (self._condition,) = op.input("Condition")
        find = walk.block.var_recursive
        self._carried: list[str] = [
            name for name in writes_of(op) if find(name).kind is not Kind.STEP_SCOPES
        ]
        for name in dict.fromkeys((*self._carried, self._condition)):
            is_known = -1 not in walk.shapes.get(name, (-1,))
            if find(name).kind is not Kind.LOD_TENSOR or not is_known:
                raise UnsupportedError(
                    f"operator {op.type}{place_of(op)} carries {name!r}, which is no tensor of a "
                    "known shape, and ends at another pass for each example"
                )
            refuse_to_keep(op, find(name))
        if self._condition not in self._carried:
            raise UnsupportedError(f"operator {op.type}{place_of(op)} never writes its condition")
        for name in self._carried:
            walk.make_batched(name)
        #: what batches the block
        self.inner: BlockBatching = walk.inside(self.block)
        self._goes_on: str = self._any_in(walk)
        self._active = ""
        self._before: dict[str, Variable] = {}

    @staticmethod
    def _front(walk: BlockBatching, name: str) -> Variable:
        return walk.f.front(walk.value(name))

    def _any_in(self, walk: BlockBatching) -> str:
        """Append what tells whether an example goes on; the name of it."""
        condition = self._front(walk, self._condition)
        found: Variable = walk.f.parent.reduce_any(condition, reduce_all=True)
        return found.name

    def begin(self) -> None:
        """Let the block, which has no operators yet, begin with copies of what it carries."""
        f = self.block.builder(self._walk.f.stem)
        self._before = {name: f.assign(self._front(self.inner, name)) for name in self._carried}
        self._active = self._before[self._condition].name

    def end(self) -> None:
        """Append the operator, once the block runs for all examples."""
        walk, op, inner, block = self._walk, self._op, self.inner, self.block
        f = block.builder(walk.f.stem)
        assign = lookup("assign")()
        for name in self._carried:
            inner.make_batched(name)
            value = self._front(inner, name)
            kept = f.where(self._mask(name), value, self._before[name])
            block.add_op(assign, {"X": kept}, {"Out": block.var_recursive(name)})
        goes_on = block.var_recursive(self._any_in(inner))
        around = walk.block.var_recursive(self._goes_on)
        block.add_op(assign, {"X": goes_on}, {"Out": around})
        op.set_input("Condition", around.name)
        names = dict.fromkeys((*op.input("X"), *free_reads(block), *self._carried, around.name))
        op.set_input("X", *names)
        op.set_output("Out", *self._carried, around.name)
        walk.block.take_op(op)
        for name in self._carried:
            walk.take(name)

    def _mask(self, name: str) -> Variable:
        """Which elements of a carried value belong to examples that go on."""
        f = self.block.builder(self._walk.f.stem)
        shape = self._walk.shapes[name]
        active = f.reshape(self.block.var_recursive(self._active), shape=[-1, *[1] * len(shape)])
        mask: Variable = f.expand(active, expand_times=[1, *shape]) if shape else active
        return mask
