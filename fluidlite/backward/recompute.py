"""Trading time for memory: values between checkpoints are computed again for the gradients.

Source: Chen, Xu, Zhang and Guestrin, Training Deep Nets with Sublinear Memory Cost, 2016.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentError
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..ir.program import copy_operator
from ..ir.recomputed import SUBPROGRAM
from .sweep import PendingOp, Ref, ReverseSweep


def run_with_checkpoints(sweep: ReverseSweep, checkpoints: Sequence[str]) -> None:
    """Sweep a block segment by segment; before the gradients of a segment come copies of the
    operators whose values they read.

    Operators behind the last checkpoint are not computed again: their values are at hand.

    Args:
        sweep: whose contributions are set.
        checkpoints: names of the values that are kept.

    Raises:
        ArgumentError: a checkpoint is no variable; what no operator computes is kept anyway.
    """
    ops = sweep.block.ops
    checkpoint_names = set(checkpoints)
    ends = []
    for name in dict.fromkeys(checkpoints):
        found = [i for i, op in enumerate(ops) if op.writes(name)]
        if found:
            ends.append(found[-1])
        elif not sweep.block.has_var(name):
            raise ArgumentError(f"there is no variable {name!r} to be a checkpoint")
    ends.sort()
    bounds = [0, *[end + 1 for end in ends]]
    for position in range(len(ops) - 1, bounds[-1] - 1, -1):
        sweep.visit(position, ops[position])
    for number, k in enumerate(range(len(bounds) - 2, -1, -1)):
        _segment(sweep, bounds[k], bounds[k + 1], checkpoint_names, number)
    sweep.finish()
    if sweep.next is not None:
        sweep.next.run()


def insert_seeds(block: Block, checkpoints: Sequence[str]) -> bool:
    """Let random operators before the last checkpoint draw from a seed that an operator makes, so
    that they draw the same numbers when they are run again.

    Args:
        block: where.
        checkpoints: names of the values that are kept.

    Returns:
        whether there are any.
    """
    last = max(
        (i for i, op in enumerate(block.ops) for n in checkpoints if op.writes(n)), default=0
    )
    ops: list[Operator] = []
    for position, op in enumerate(block.ops):
        if position < last and draws_anew(op) and takes_seed(op):
            ops += seeded(op, block)
        else:
            ops.append(op)
    found = len(ops) > len(block.ops)
    if found:
        block.set_ops(ops)
    return found


def seed_name(op: Operator) -> str:
    """The variable that a random operator draws from where it is run again."""
    return f"{op.first_output}.seed"


def seeded(op: Operator, block: Block) -> tuple[Operator, Operator]:
    """An operator that makes a seed, and a random one in its place that draws from it the numbers
    that it would draw anyway.

    Args:
        op: the random operator.
        block: whose it is; the seed's variable is declared there.
    """
    name = seed_name(op)
    block.create_var(name=name, shape=[1], dtype="int32", stop_gradient=True)
    attrs = {"draws_for": op.first_output}
    seed = Operator(block, "seed", {}, {"Out": (name,)}, attrs, callsite=op.callsite)
    drawing = copy_operator(op, block)
    drawing.set_input("Seed", name)
    return seed, drawing


def _segment(sweep: ReverseSweep, begin: int, end: int, kept: set[str], number: int) -> None:
    """Sweep the operators of one segment over copies of what they computed."""
    ops = sweep.block.ops
    renamed = {}
    for op in ops[begin:end]:
        for name in op.output_arg_names:
            if _is_recomputed(sweep, name, op, kept):
                renamed[name] = f"{name}{SUBPROGRAM}{number}"
    sweep.recomputed = renamed
    before = len(sweep.records)
    for position in range(end - 1, begin - 1, -1):
        sweep.visit(position, ops[position])
    sweep.recomputed = {}
    copies = [
        _copied(sweep, ops[position], position, renamed)
        for position in range(begin, end)
        if not renamed.keys().isdisjoint(ops[position].output_arg_names)
    ]
    if len(sweep.records) > before:
        sweep.records[before:before] = copies


def _is_recomputed(sweep: ReverseSweep, name: str, op: Operator, kept: set[str]) -> bool:
    """Whether a value is dropped and computed again: not where it is kept, stays in the scope, is
    one of several under its name, or comes of an operator that draws or drives blocks.
    """
    if name in kept or name == EMPTY or name in sweep.history.rewritten:
        return False
    variable = sweep.block.find_var_recursive(name)
    definition = op.definition
    return (
        variable is not None
        and not variable.persistable
        and definition is not None
        and definition.execute is None
        and not draws_anew(op)
    )


def draws_anew(op: Operator) -> bool:
    """Whether a random operator draws other numbers when it is run again."""
    definition = op.definition
    if definition is None or not definition.random or op.inputs.get("Seed"):
        return False
    return not any(op.attrs.get(name) for name in ("is_test", "fix_seed"))


def takes_seed(op: Operator) -> bool:
    """Whether an operator can draw from a seed that another one makes."""
    definition = op.definition
    return definition is not None and "Seed" in definition.input_slots


def _copied(sweep: ReverseSweep, op: Operator, position: int, renamed: dict[str, str]) -> PendingOp:
    block = sweep.block
    ins = {
        slot: [renamed.get(n) or sweep.value(n, position) for n in names]
        for slot, names in op.inputs.items()
    }
    outs = {
        slot: [
            None if n == EMPTY else Ref(block.var_recursive(n), renamed.get(n, n)) for n in names
        ]
        for slot, names in op.outputs.items()
    }
    record = PendingOp(op.type, ins, outs, op.attrs, op.callsite, lists_given=False)
    return record._replace(foreign=op.foreign)
