"""Conditions that each example has of its own: loops go on until the last example ends, branches
run for all examples, and a choice is made for each element.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UnsupportedError
from ..ground.dtypes import DType, Kind
from ..ir.analysis import blocks_of, free_reads, reads_of, writes_of
from ..ir.block import Block
from ..ir.builder import Builder
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..opdef.definition import lookup
from ..opdef.spec import Shape
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
        active = self.block.var_recursive(self._active)
        return _of_elements(self.block.builder(self._walk.f.stem), active, self._walk.shapes[name])


class BatchedBranch:
    """A ``conditional_block`` that runs for all examples, where each has a condition of its own:
    those whose condition does not hold keep their values.

    Args:
        walk: batches the block around it.
        op: the operator; is changed.
        later: the operators behind it.

    Raises:
        UnsupportedError: it does more than compute tensors of known shapes; or something else than
            a choice reads what it may not write.
    """

    def __init__(self, walk: BlockBatching, op: Operator, later: Sequence[Operator]) -> None:
        self._walk = walk
        self._op = op
        (self.block,) = blocks_of(op)
        find = walk.block.var_recursive
        self._written: list[str] = [
            name for name in writes_of(op) if find(name).kind is not Kind.STEP_SCOPES
        ]
        for name in self._written:
            refuse_to_keep(op, find(name))
            if find(name).kind is not Kind.LOD_TENSOR or -1 in walk.shapes.get(name, (-1,)):
                raise self._refused(f"writes {name!r}, which is no tensor of a known shape")
        partial = [name for name in self._written if name not in walk.written]
        for reader in later:
            for name in partial:
                if name in reads_of(reader) and not chooses(walk, reader):
                    raise self._refused(f"may leave {name!r} unwritten, which {reader.type} reads")
        if not op.attrs.get("is_scalar_condition"):
            raise self._refused("has a condition of several elements")
        if not _only_computes(self.block):
            raise self._refused("does more than compute tensors")
        self._condition: str = walk.f.front(walk.value(op.input("Cond")[0])).name
        self._kept: list[str] = [name for name in self._written if name in walk.written]
        for name in self._kept:
            walk.make_batched(name)
        #: what batches the block
        self.inner: BlockBatching = walk.inside(self.block)
        self._before: dict[str, Variable] = {}

    def _refused(self, why: str) -> UnsupportedError:
        op = self._op
        return UnsupportedError(
            f"operator {op.type}{place_of(op)} {why}, and has a condition of each example"
        )

    def begin(self) -> None:
        """Let the block, which has no operators yet, begin with copies of what it may keep."""
        f = self.block.builder(self._walk.f.stem)
        front = self.inner.f.front
        self._before = {name: f.assign(front(self.inner.value(name))) for name in self._kept}

    def end(self) -> None:
        """Append the operator, once the block runs for all examples."""
        walk, op, inner, block = self._walk, self._op, self.inner, self.block
        f = block.builder(walk.f.stem)
        condition = walk.block.var_recursive(self._condition)
        for name in self._written:
            inner.make_batched(name)
            if name in self._before:
                mask = _of_elements(f, condition, walk.shapes[name])
                value = f.where(mask, inner.f.front(inner.value(name)), self._before[name])
                block.add_op(lookup("assign")(), {"X": value}, {"Out": block.var_recursive(name)})
        always = walk.f.parent.fill_constant(shape=[1], dtype=DType.BOOL, value=1.0)
        op.set_input("Cond", always.name)
        op.set_input("Input", *dict.fromkeys((*op.input("Input"), *free_reads(block))))
        walk.block.take_op(op)
        for name in self._written:
            walk.take(name)


def chooses(walk: BlockBatching, op: Operator) -> bool:
    """Whether an operator is a choice between two tensors of one known shape."""
    if op.type != "select_input" or len(op.input("X")) != 2:
        return False
    find = walk.block.var_recursive
    names = [*op.input("X"), *op.output("Out")]
    shapes = {walk.shapes.get(name, (-1,)) for name in names}
    is_tensor = all(find(name).kind is Kind.LOD_TENSOR for name in names)
    return is_tensor and len(shapes) == 1 and -1 not in shapes.pop()


def choose(walk: BlockBatching, op: Operator) -> None:
    """Append a choice that each example makes for itself.

    Args:
        walk: batches the block.
        op: a ``select_input`` that :func:`chooses`.
    """
    (out,) = op.output("Out")
    f, target = walk.f.parent, walk.block.var_recursive(out)
    first, second = (walk.f.front(walk.value(name)) for name in op.input("X"))
    number = walk.f.front(walk.value(op.input("Mask")[0]))
    mask = _of_elements(
        f, f.cast(number, in_dtype=number.dtype, out_dtype=DType.BOOL), walk.shapes[out]
    )
    value = f.where(mask, second, first)
    f.append(lookup("assign")(), {"X": value}, {"Out": target})
    walk.take(out)


def _of_elements(f: Builder, condition: Variable, shape: Shape) -> Variable:
    """A condition of each example for the elements of a value of a shape."""
    active = f.reshape(condition, shape=[-1, *[1] * len(shape)])
    mask: Variable = f.expand(active, expand_times=[1, *shape]) if shape else active
    return mask


def _only_computes(block: Block) -> bool:
    """Whether a block can run for an example that does not take it: nothing in it has effects,
    draws, loops, or works on arrays.
    """
    for op in block.ops:
        definition = op.definition
        if definition is None or definition.random or definition.effect is not None:
            return False
        names = [*reads_of(op), *writes_of(op)]
        kinds = {block.var_recursive(n).kind for n in names}
        if not kinds <= {Kind.LOD_TENSOR, Kind.STEP_SCOPES}:
            return False
        if definition.block_attributes and not op.type.startswith("conditional_block"):
            return False
        if not all(_only_computes(inner) for inner in blocks_of(op)):
            return False
    return True
