"""Recurrences, batched: their block does each step for all examples."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UnsupportedError
from ..ir.analysis import blocks_of, free_reads
from ..ir.block import Block
from ..ir.operator import Operator
from ..opdef.definition import lookup
from .batched_blocks import BlockBatching, refuse_to_keep


class BatchedRecurrence:
    """An operator that runs a block for each step of sequences, whose block is batched.

    Steps stay the first dimension of what it is given and gives, and the examples are the second.

    Args:
        walk: batches the block around it.
        op: the operator; is changed.
        forced: states that are batched behind the first step.
    """

    def __init__(self, walk: BlockBatching, op: Operator, forced: Iterable[str]) -> None:
        self._walk = walk
        self._op = op
        (self.block,) = blocks_of(op)
        self._states: list[str] = list(op.attr("states"))
        results = (*op.output("outputs"), *self._states)
        #: what batches the block
        self.inner: BlockBatching = walk.inside(self.block, results)
        self._before: list[str] = list(op.attr("ex_states"))
        first = op.input("initial_states")
        self._batched: list[bool] = [
            name in walk.values or state in forced for name, state in zip(first, self._states)
        ]

    def begin(self) -> None:
        """Let the block, which has no operators yet, begin with batched steps and states."""
        walk, op, inner = self._walk, self._op, self.inner
        op.set_input("inputs", *[self._sequence(name) for name in op.input("inputs")])
        first = op.input("initial_states")
        for k, name in enumerate(self._before):
            inner.values.pop(name, None)
            if self._batched[k]:
                first[k] = walk.f.front(walk.value(first[k])).name
                inner.take(name)
        op.set_input("initial_states", *first)

    def _sequence(self, name: str) -> str:
        """What holds a sequence, with the steps first."""
        walk, block = self._walk, self.block
        self.inner.values.pop(name, None)
        if name not in walk.values:
            return name
        whole = _exchanged(walk, walk.f.front(walk.value(name)).name)
        local = block.vars[name].copy_to(block)
        local.name = whole
        block.declare(local)
        local.declare((walk.f.size, *local.shape))
        _append_assign(block, whole, name)
        self.inner.take(name)
        return whole

    def late_state(self) -> str | None:
        """A state that is batched only behind the first step; None if there is none."""
        pairs = zip(self._states, self._batched)
        return next((s for s, known in pairs if s in self.inner.values and not known), None)

    def end(self) -> None:
        """Append the operator, once the block does its step for all examples."""
        walk, op, inner = self._walk, self._op, self.inner
        for state, is_batched in zip(self._states, self._batched):
            if is_batched:
                inner.make_batched(state)
        stacked: dict[str, str] = {}
        for name in op.output("outputs"):
            if name in inner.values:
                refuse_to_keep(op, walk.block.var_recursive(name))
                stacked[name] = self._stacked(name)
        bound = {*op.input("inputs"), *self._before}
        outer = dict.fromkeys((*op.input("parameters"), *free_reads(self.block)))
        op.set_input("parameters", *[name for name in outer if name not in bound])
        op.set_output("outputs", *[stacked.get(name, name) for name in op.output("outputs")])
        walk.block.take_op(op)
        for name in op.output("outputs"):
            walk.values.pop(name, None)
            walk.written.add(name)
        for name, whole in stacked.items():
            _append(walk.block, "transpose", whole, name, axis=_order(len(walk.shapes[name])))
            walk.take(name)
        for name, is_batched in zip(op.output("final_states"), self._batched):
            walk.values.pop(name, None)
            if is_batched:
                refuse_to_keep(op, walk.block.var_recursive(name))
                walk.take(name)

    def _stacked(self, name: str) -> str:
        """The name of a variable of the block that is stacked with the steps first."""
        walk = self._walk
        if name not in walk.shapes:
            raise UnsupportedError(f"the shape of {name!r}, which a recurrence gives, is not known")
        one = self.inner.f.front(self.inner.value(name))
        step = self.block.builder(walk.f.stem).assign(one)
        steps, *rest = walk.shapes[name]
        walk.block.declare_var(step.name, step.dtype, (steps, walk.f.size, *rest))
        return step.name


def _order(ndim: int) -> list[int]:
    """The order of dimensions in which examples and steps change places."""
    return [1, 0, *range(2, ndim + 1)]


def _exchanged(walk: BlockBatching, name: str) -> str:
    """A sequence of each example with the steps first."""
    whole = walk.block.var_recursive(name)
    return walk.f.parent.transpose(whole, axis=_order(len(whole.shape) - 1)).name


def _append_assign(block: Block, x: str, out: str) -> None:
    _append(block, "assign", x, out)


def _append(block: Block, type: str, x: str, out: str, **attrs: object) -> None:
    operands = {"X": block.var_recursive(x)}, {"Out": block.var_recursive(out)}
    block.add_op(lookup(type)(attrs), *operands)
