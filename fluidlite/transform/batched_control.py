"""Operators that drive blocks, batched; and parts of programs that run for one example after the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ..errors import UnsupportedError
from ..ground.dtypes import Kind
from ..ir.analysis import blocks_of, free_reads, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..opdef.definition import lookup
from .batched_blocks import BlockBatching, place_of, refuse_to_keep
from .batched_conditions import BatchedBranch, BatchedWhile, choose, chooses
from .batched_loops import one_example, repeat
from .batched_recurrences import BatchedRecurrence
from .batching import BatchingWay
from .editing import copied_operator

BRANCH = -1
CONDITION = "@CONDITION@"  #: for a name, where each example has a condition of its own
TIED = "a branch or loop is another one for each example, or is differentiated"


class Forced(NamedTuple):
    """What has to be batched, though that does not show where it is made."""

    block: int  #: the number of the block
    position: int  #: of the operator in it; :data:`BRANCH` for the one that writes ``name``
    name: str  #: of what it carries; empty where the operator is looped over the examples


class AgainError(Exception):
    """A block showed that something has to be batched in front of it."""

    forced: Forced

    @classmethod
    def of(cls, forced: Forced) -> AgainError:
        """The error for what has to be batched."""
        error = cls(f"{forced.name!r} has to be batched in front of its loop")
        error.forced = forced
        return error


#: those that are batched as they are, where examples share their condition
_PARTIAL = ("conditional_block", "select_output")  #: types of what may not write its outputs
_DRIVERS = {"while": "X", "conditional_block": "Input", "conditional_block_infer": "Input"}


class BatchedControl:
    """The operators of a block in order, those that drive blocks among them.

    Args:
        walk: batches the others.
        forced: what is known of loops.
    """

    def __init__(self, walk: BlockBatching, forced: set[Forced]) -> None:
        self._walk = walk
        self._forced = forced
        self._branches: set[str] = set()  #: names that branches wrote
        #: names that hold nothing where a branch was not taken -> its position
        self._partial: dict[str, int] = {}

    def run(self, ops: Sequence[Operator]) -> None:
        """Append what operators do for all examples."""
        position = 0
        while position < len(ops):
            op = ops[position]
            definition = op.definition
            depends = self._walk.depends(op) or self._forced_by(op)
            if op.type.startswith("conditional_block"):
                self._branches.update(writes_of(op))
                new = [name for name in writes_of(op) if name not in self._walk.written]
                self._partial.update(dict.fromkeys(new, position))
            if definition is None or definition.execute is None or not depends:
                if depends and _touches_arrays(op, self._walk.block):
                    self._array(op)
                else:
                    self._walk.step(op)
                if op.type == "empty_array":  # which may hold a value of each example
                    self._walk.written.difference_update(op.output("Out"))
                position += 1
            elif op.type == "fetch":
                self._walk.keep(op)
                position += 1
            else:
                position = self._control(ops, position)

    def _forced_by(self, op: Operator) -> list[str]:
        """What a branch writes that has to be batched, since another branch gives the like."""
        if op.type not in _DRIVERS:
            return []
        number = self._walk.block.idx
        return [n for n in op.output("Out") if Forced(number, BRANCH, n) in self._forced]

    def _branch_value(self, name: str) -> str:
        """The name of a branch's result with a value of each example."""
        walk = self._walk
        if name in walk.values:
            return name
        if name in self._branches:
            raise AgainError.of(Forced(walk.block.idx, BRANCH, name))
        return walk.f.front(walk.value(name)).name

    def _control(self, ops: Sequence[Operator], position: int) -> int:
        """Append an operator that drives a block; the position behind what was appended."""
        op, walk = ops[position], self._walk
        key = Forced(walk.block.idx, position, "")
        slot = _DRIVERS.get(op.type)
        if op.type == "select_input" and not walk.depends_on(op, "Mask"):
            op.set_input("X", *[self._branch_value(name) for name in op.input("X")])
            walk.block.take_op(op)
            walk.take(op.output("Out")[0])
            return position + 1
        end = self._end_of(ops, position, False)
        if op.type == "recurrent" and key not in self._forced and end == position:
            self._recur(op, key)
            return position + 1
        if op.type == "select_input" and chooses(walk, op) and self._are_there(op):
            choose(walk, op)
            walk.f.ways.append(BatchingWay(op.type, "rule"))
            return position + 1
        keeps = self._keeps(ops, position)
        own = key._replace(name=CONDITION) in self._forced
        own = own or (slot is not None and self._condition(op))
        if op.type == "while" and own and key not in self._forced and not keeps:
            self._mask(op, key, BatchedWhile)
            return position + 1
        if (
            op.type.startswith("conditional_block")
            and own
            and key not in self._forced
            and not keeps
        ):
            self._mask(op, key, partial(BatchedBranch, later=ops[position + 1 :]))
            return position + 1
        if slot is None or key in self._forced or own or keeps:
            end = self._end_of(ops, position, True)
            self._loop(ops[position : end + 1], ops[end + 1 :])
            return end + 1
        try:
            self._drive(op, slot, key)
        except UnsupportedError as error:
            if end == position:
                raise
            raise AgainError.of(key) from error  # what it does to arrays cannot be batched
        return position + 1

    def _keeps(self, ops: Sequence[Operator], position: int) -> bool:
        """Whether a later operator reads what an operator keeps for its gradient."""
        find = self._walk.block.var_recursive
        kept = [n for n in writes_of(ops[position]) if find(n).kind is Kind.STEP_SCOPES]
        return any(name in reads_of(op) for op in ops[position + 1 :] for name in kept)

    def _condition(self, op: Operator) -> bool:
        """Whether examples have conditions of their own."""
        definition = op.definition
        assert definition is not None
        return self._walk.depends_on(op, definition.condition_slot)

    def _drive(self, op: Operator, slot: str, key: Forced) -> None:
        """Append an operator with its block batched."""
        walk, (block,), definition = self._walk, blocks_of(op), lookup(op.type)
        carried = [name for name in writes_of(op) if name in walk.shapes or name in walk.values]
        for name in carried:
            if key._replace(name=name) in self._forced:
                if walk.block.var_recursive(name).kind is Kind.LOD_TENSOR_ARRAY:
                    walk.take(name)
                else:
                    walk.make_batched(name)
        before = {name for name in carried if name in walk.values}
        inner, ops = walk.inside(block), block.ops
        block.set_ops([])
        BatchedControl(inner, self._forced).run(ops)
        for name in self._forced_by(op):
            inner.make_batched(name)
        condition = op.input(definition.condition_slot)
        if definition.repeats and any(name in inner.values for name in condition):
            raise AgainError.of(key._replace(name=CONDITION))
        for name in carried:
            refuse = name in inner.values
            if refuse:
                refuse_to_keep(op, walk.block.var_recursive(name))
            if name in before and not refuse:
                inner.make_batched(name)
            elif name not in before and refuse:
                if definition.repeats:
                    raise AgainError.of(key._replace(name=name))
                if name in walk.written:
                    walk.make_batched(name)
        names = dict.fromkeys((*op.input(slot), *free_reads(block)))
        op.set_input(slot, *names)
        walk.block.take_op(op)
        for name in writes_of(op):
            if name in inner.values:
                walk.take(name)
        walk.f.ways.append(BatchingWay(op.type, "rule"))

    def _mask(
        self,
        op: Operator,
        key: Forced,
        batched: Callable[[BlockBatching, Operator], BatchedWhile | BatchedBranch],
    ) -> None:
        """Append a loop that each example ends at its own pass, or a branch that runs for all
        examples; it is looped over them where that cannot be.
        """
        self._walk.check(op, self._walk.depends(op))
        try:
            part = batched(self._walk, op)
            ops = part.block.ops
            part.block.set_ops([])
            part.begin()
            BatchedControl(part.inner, self._forced).run(ops)
            part.end()
        except UnsupportedError as error:
            raise AgainError.of(key) from error
        self._walk.f.ways.append(BatchingWay(op.type, "rule"))

    def _are_there(self, op: Operator) -> bool:
        """Whether a choice finds values of all examples, whatever their branches."""
        return all(n in self._walk.values or n not in self._branches for n in op.input("X"))

    def _recur(self, op: Operator, key: Forced) -> None:
        """Append a recurrence with its block batched, which is looped where that cannot be."""
        forced = {f.name for f in self._forced if f[:2] == key[:2]}
        self._walk.check(op, self._walk.depends(op))
        recurrence = BatchedRecurrence(self._walk, op, forced)
        ops = recurrence.block.ops
        recurrence.block.set_ops([])
        try:
            recurrence.begin()
            BatchedControl(recurrence.inner, self._forced).run(ops)
            late = recurrence.late_state()
            if late is not None:
                raise AgainError.of(key._replace(name=late))
            recurrence.end()
        except UnsupportedError as error:
            raise AgainError.of(key) from error
        self._walk.f.ways.append(BatchingWay(op.type, "rule"))

    def _array(self, op: Operator) -> None:
        """Append an operator on an array of tensors, each of which has the examples first."""
        walk = self._walk
        if op.type == "write_to_array":
            (array,), (x,) = op.output("Out"), op.input("X")
            if array not in walk.values and array in walk.written:
                raise UnsupportedError(
                    f"operator {op.type}{place_of(op)} writes a value of each example to the array "
                    f"{array!r}, which holds others that examples share; let those depend on a "
                    "batched input, too"
                )
            walk.make_batched(x)
            walk.block.take_op(op)
            walk.take(array)
            shape = walk.block.var_recursive(x).shape
            for other in (other for block in walk.block.program.blocks for other in block.ops):
                if other.type == "empty_array" and array in other.output_arg_names:
                    other.set_attr("shape", shape)
        elif op.type == "read_from_array" and not walk.depends_on(op, "I"):
            walk.block.take_op(op)
            (out,) = op.output("Out")
            walk.take(out)
        elif op.type == "lod_array_length":
            walk.keep(op)
        else:
            raise UnsupportedError(
                f"operator {op.type}{place_of(op)} works on an array of tensors of the examples, "
                "for which there is no rule of batching"
            )

    def _end_of(self, ops: Sequence[Operator], position: int, branches: bool) -> int:
        """The position of the last operator that reads what only one run of an operator means: what
        it keeps for its gradient, or arrays; of these operators in turn.

        Args:
            ops: of the block.
            position: of the operator.
            branches: whether what a branch may not write counts, too.
        """
        find, written = self._walk.block.var_recursive, self._walk.written
        end, at = position, position
        while at <= end:
            is_branch = branches and ops[at].type.startswith(_PARTIAL)
            for name in writes_of(ops[at]):
                is_partial = is_branch and name not in written
                if is_partial or find(name).kind is not Kind.LOD_TENSOR:
                    readers = [k for k in range(end + 1, len(ops)) if name in reads_of(ops[k])]
                    end = max([end, *readers])
            at += 1
        return end

    def _loop(self, ops: Sequence[Operator], later: Sequence[Operator]) -> None:
        """Append an operator that runs some for one example after the other.

        Args:
            ops: those that run so.
            later: the operators behind them.
        """
        walk = self._walk
        around, f = walk.block, walk.f
        for op in ops:
            walk.check(op, walk.depends(op))
            f.ways.append(BatchingWay(op.type, "looped", TIED))
        block = around.program.add_block(around.idx)
        written = list(dict.fromkeys(name for op in ops for name in writes_of(op)))
        for op in ops:
            for name in writes_of(op):
                refuse_to_keep(op, around.var_recursive(name))
        read = _outer_reads(ops)
        for name in read:
            key = Forced(around.idx, self._partial.get(name, -1), "")
            if name in self._partial and key not in self._forced:
                raise AgainError.of(key)  # a loop that reads it takes in the branch
        fronts = {name: f.front(walk.value(name)) for name in read if name in walk.values}
        sequences = {whole.name: whole for whole in fronts.values()}
        for whole in sequences.values():
            one_example(block, whole)
        for name in written:
            if name not in block.vars:
                local = around.var_recursive(name).copy_to(block)
                block.declare(local)
                if name in walk.shapes:
                    local.declare(walk.shapes[name])
        shared = [name for name in read if name not in fronts]
        for k, name in enumerate(shared):
            if name in block.vars:  # a pass begins with what examples share
                shared[k] = self._first(name, block)
        moving = BlockMoving(block, {name: whole.name for name, whole in fronts.items()})
        for op in ops:
            moving.move(op)
        needed = {name for op in later for name in reads_of(op)} | walk.wanted
        inside = {name for op in ops for name in reads_of(op)}
        ends = not walk.wanted  # what nothing reads may be wanted, too
        results = [
            name
            for name in written
            if around.var_recursive(name).kind is Kind.LOD_TENSOR
            and (name in needed or name not in around.vars or (ends and name not in inside))
        ]
        ends_as = {
            name: block.builder(f.stem).assign(block.vars[name]).name
            if name in walk.written
            else name
            for name in results
        }  # a name that held what examples share is written by an operator whose shape follows
        repeat(f, block, sequences, shared, [block.vars[name] for name in ends_as.values()])
        for name, end in ends_as.items():
            if end != name:
                target = around.var_recursive(name)
                f.parent.append(lookup("assign")(), {"X": around.var(end)}, {"Out": target})
            walk.take(name)

    def _first(self, name: str, block: Block) -> str:
        """Let a block begin with a value that stands around it; the name of that there."""
        walk, assign = self._walk, lookup("assign")()
        around = walk.block
        kept = around.builder(walk.f.stem).assign(around.var_recursive(name))
        block.add_op(assign, {"X": kept}, {"Out": block.vars[name]})
        return kept.name


def _touches_arrays(op: Operator, block: Block) -> bool:
    """Whether an operator reads or writes an array of tensors."""
    names = (*reads_of(op), *writes_of(op))
    return any(block.var_recursive(n).kind is Kind.LOD_TENSOR_ARRAY for n in names)


def _outer_reads(ops: Iterable[Operator]) -> list[str]:
    """What operators read before they write it."""
    written: set[str] = set()
    read: dict[str, None] = {}
    for op in ops:
        read.update(dict.fromkeys(n for n in reads_of(op) if n not in written))
        written.update(writes_of(op))
    return list(read)


def unshare_blocks(program: Program) -> None:
    """Give each operator of a program a block of its own, where several drive one."""
    driven: set[int] = set()
    for block in list(program.blocks):
        for op in block.ops:
            for name in getattr(op.definition, "block_attributes", ()):
                number = op.attrs.get(name)
                if number in driven:
                    op.set_attr(name, BlockMoving(block).copied(number, block))
                elif number is not None:
                    driven.add(number)


class BlockMoving:
    """Moves operators with the blocks that they drive to another block.

    Args:
        block: where to.
        names: old name -> new name.
    """

    def __init__(self, block: Block, names: Mapping[str, str] | None = None) -> None:
        self._block = block
        self._names = names or {}
        self._moved: dict[int, int] = {}  #: old number of a block -> new one

    def move(self, op: Operator, block: Block | None = None) -> None:
        """Put an operator at the end of the block, or of one that was moved."""
        to = self._block if block is None else block
        copied = copied_operator(op, to, self._names)
        to.take_op(copied)
        definition = op.definition
        for name in () if definition is None else definition.block_attributes:
            if name in op.attrs:
                copied.set_attr(name, self.copied(op.attrs[name], to))

    def copied(self, number: int, around: Block) -> int:
        """The number of a copy of a block."""
        program = around.program
        block = program.blocks[number]
        forward = block.forward_block_idx
        copied = program.add_block(around.idx, self._moved.get(forward, forward))
        copied.driver, copied.carried = block.driver, block.carried
        self._moved[number] = copied.idx
        copied.set_vars([variable.copy_to(copied) for variable in block.vars.values()])
        for op in block.ops:
            self.move(op, copied)
        return copied.idx
