"""Programs of one process made into programs of one share of a batch.

The gradient of the loss is divided by the number of processes, and gradients of parameters are
summed over all processes before anything of an optimizer reads them: several of them together, in
one row, as soon as the last of them is there, while the rest of the gradients is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import Kind
from ..ground.process_group import BUCKET_BYTES
from ..ir.analysis import reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import Operator, OpRole
from ..ir.program import Program, default_startup_program
from ..ir.rollback import all_or_nothing
from ..ir.variable import Variable
from ..opdef.spec import size_of
from ..runtime.agreement import SCALES_LOSS, sums_gradients


@dataclass
class _Gradient:
    """The gradient of a parameter."""

    variable: Variable
    made: int  #: position of the operator that writes it last before an optimizer reads it
    read: int  #: position of the first operator that reads it behind that

    @property
    def bytes(self) -> int:
        """What is sent of it."""
        return size_of(self.variable.shape) * self.variable.dtype.dtype.itemsize


@dataclass
class _Bucket:
    """Gradients of one element type that are summed together."""

    members: list[_Gradient] = field(default_factory=list)

    def takes(self, gradient: _Gradient, most: int) -> bool:
        """Whether there is room for one more, which is there before a member is read."""
        if not self.members:
            return True
        same = gradient.variable.dtype is self.members[0].variable.dtype
        size = sum(each.bytes for each in self.members) + gradient.bytes
        return same and size <= most and gradient.made < min(each.read for each in self.members)


def data_parallel(
    program: Program, startup_program: Program | None = None, *, bucket_bytes: int = BUCKET_BYTES
) -> Program:
    """Rewrite a program with an optimizer, so that each of several processes runs it on its share
    of a batch, with the result of one process on all of it.

    The mean of the shares' gradients is what clipping, regularization and the optimizer get.  The
    program does not depend on the number of processes; on one it computes what it did before.
    Sparse gradients stay sparse.  What is random, or kept from run to run by other operators
    (statistics of batch_norm), is each process's own.

    Args:
        program: where ``minimize`` has been called; a program that was rewritten stays as it is.
        startup_program: gets operators that give all processes the first values of process 0; the
            default startup program when None.
        bucket_bytes: how many bytes of gradients are summed at once.

    Returns:
        the program.

    Raises:
        ArgumentError: an argument is of another kind, or the program has no gradients.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> ops, pairs = fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    >>> main = fluid.distributed.data_parallel(fluid.default_main_program())
    >>> [op.type for op in main.global_block().ops][-4:]
    ['c_allreduce_start', 'c_allreduce_wait', 'sgd', 'sgd']
    """
    startup = default_startup_program() if startup_program is None else startup_program
    for what, given in (("program", program), ("startup_program", startup)):
        if not isinstance(given, Program):
            raise ArgumentError(f"expected {what} to be a Program, got {given!r:.60}")
    if isinstance(bucket_bytes, bool) or not isinstance(bucket_bytes, int) or bucket_bytes < 1:
        raise ArgumentError(f"expected bucket_bytes to be a positive number, got {bucket_bytes!r}")
    if sums_gradients(program):
        return program
    with all_or_nothing(program, startup):
        if not _scale_losses(program):
            raise ArgumentError(
                "the program has no gradient of a loss to share among processes: call "
                "minimize(loss) of an optimizer before data_parallel"
            )
        gradients = {block.idx: list(_gradients(block)) for block in program.blocks}
        for block in program.blocks:
            for gradient in list(gradients[block.idx]):
                total = _added_up(block, gradient)
                if total is not None:
                    gradients[block.idx].remove(gradient)
                    gradients[total[0]].append(total[1])
        for block in program.blocks:
            _sum_gradients(block, gradients[block.idx], bucket_bytes)
        _share_first_values(startup)
    return program


def is_loss_gradient(op: Operator) -> bool:
    """Whether an operator gives what backward begins with: the gradient of the loss."""
    return bool(op.role & OpRole.BACKWARD and op.role & OpRole.LOSS and not op.inputs)


def _scale_losses(program: Program) -> int:
    """Divide the gradients of losses, with which backward begins; how many there are."""
    count = 0
    for block in program.blocks:
        for index, op in reversed(list(enumerate(block.ops))):
            if is_loss_gradient(op):
                (name,) = op.output_arg_names
                _insert(block, index + 1, SCALES_LOSS, {"X": name}, {"Out": name}, {})
                count += 1
    return count


def _added_up(block: Block, gradient: _Gradient) -> tuple[int, _Gradient] | None:
    """Of a gradient that is only added to those of the runs before: the total, and the number of
    the block that reads it when there have been enough runs.  Only then it has to be sent.
    """
    name = gradient.variable.name
    adding = [op for op in block.ops[gradient.made + 1 :] if name in reads_of(op)]
    if len(adding) != 1 or adding[0].type != "sum":
        return None
    (total,) = adding[0].output_arg_names
    variable = block.find_var_recursive(total)
    if variable is None or not variable.persistable or not adding[0].reads(total):
        return None
    readers = [
        (each.idx, index)
        for each in block.program.blocks
        for index, op in enumerate(each.ops)
        if op.reads(total) and op is not adding[0] and each.parent_idx == block.idx
    ]
    if len({idx for idx, _ in readers}) != 1:
        return None
    idx, first = readers[0]
    return idx, _Gradient(variable, -1, first)


def _sum_gradients(block: Block, gradients: list[_Gradient], bucket_bytes: int) -> None:
    """Insert the sums over all processes of gradients in a block."""
    dense: list[_Gradient] = []
    sparse: list[_Gradient] = []
    for gradient in gradients:
        is_sparse = gradient.variable.kind is Kind.SELECTED_ROWS
        (sparse if is_sparse else dense).append(gradient)
    wanted: list[tuple[int, int, Any]] = []
    for number, bucket in enumerate(_buckets(dense, bucket_bytes)):
        names = [each.variable.name for each in bucket.members]
        shapes = [each.variable.shape for each in bucket.members]
        handle = block.create_var(
            name=unique_name.generate("allreduce"), dtype=bucket.members[0].variable.dtype
        )
        start = ("c_allreduce_start", {"X": names}, {"Handle": handle}, {"of": names})
        sizes = {"shape_concat": [n for shape in shapes for n in shape]}
        sizes["ranks"] = [len(shape) for shape in shapes]
        wait = ("c_allreduce_wait", {"Handle": handle}, {"Out": names}, sizes)
        wanted.append((max(each.made for each in bucket.members) + 1, number, start))
        wanted.append((min(each.read for each in bucket.members), len(dense) + number, wait))
    for number, sparse_gradient in enumerate(sparse):
        name = sparse_gradient.variable.name
        empty: dict[str, Any] = {}
        gather = ("c_allgather_rows", {"X": name}, {"Out": name}, empty)
        wanted.append((sparse_gradient.read, 2 * len(dense) + number, gather))
    for index, _, given in sorted(wanted, key=lambda each: each[:2], reverse=True):
        _insert(block, index, *given)


def _gradients(block: Block) -> Iterator[_Gradient]:
    """The gradients that a block makes and an optimizer reads, in the order in which they are
    there.
    """
    written = _made_in(block)
    reads: dict[str, int] = {}
    taken: set[str] = set()
    for index, op in enumerate(block.ops):
        for name in reads_of(op):
            if name in written and index > written[name]:
                reads.setdefault(name, index)
                if op.role & OpRole.OPTIMIZE:
                    taken.add(name)
    for name in sorted(taken, key=lambda name: (written[name], name)):
        variable = block.find_var_recursive(name)
        if variable is not None:
            yield _Gradient(variable, written[name], reads[name])


def _made_in(block: Block) -> dict[str, int]:
    """Gradients of parameters, and where backward writes them last."""
    listed = {
        name for op in block.ops if op.role & OpRole.BACKWARD for name in op.role_vars[1::2]
    } or {f"{p.name}@GRAD" for p in block.program.all_parameters()}
    positions: dict[str, int] = {}
    for index, op in enumerate(block.ops):
        if op.role & OpRole.BACKWARD:
            positions.update((name, index) for name in writes_of(op) if name in listed)
    return positions


def _buckets(gradients: Iterable[_Gradient], most: int) -> list[_Bucket]:
    open_buckets: dict[Any, _Bucket] = {}
    buckets: list[_Bucket] = []
    for gradient in gradients:
        bucket = open_buckets.get(gradient.variable.dtype)
        if bucket is None or not bucket.takes(gradient, most):
            bucket = open_buckets[gradient.variable.dtype] = _Bucket()
            buckets.append(bucket)
        bucket.members.append(gradient)
    return buckets


def _share_first_values(startup: Program) -> None:
    """Append operators that give all processes what process 0 begins with."""
    block = startup.global_block()
    last: dict[str, Operator] = {}
    for op in block.ops:
        last.update((name, op) for name in op.output_arg_names)
    for name, op in last.items():
        variable = block.find_var_recursive(name)
        if variable is None or not variable.persistable or op.type == "c_broadcast":
            continue
        if variable.kind is Kind.LOD_TENSOR:
            block.append_op("c_broadcast", {"X": name}, {"Out": name}, {"root": 0})


def _insert(block: Block, index: int, type: str, inputs: Any, outputs: Any, attrs: Any) -> None:
    block.insert_op(index, type, inputs, outputs, {**attrs, "op_role": int(OpRole.BACKWARD)})
