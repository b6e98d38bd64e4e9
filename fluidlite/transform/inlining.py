"""A program, or a block, as operators of the block around it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ..errors import ArgumentError, DuplicateVariableError, UnknownVariableError, suggestion
from ..ir.analysis import reads_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program, copy_operator
from ..ir.pruning import drop_blocks
from .blocks import ENDS, append_blocks, remove_ends
from .editing import transformed, verified
from .explaining import explained
from .inserting import FreeNames
from .merging import names_in_merge, shared_names
from .naming import all_names, rename_in
from .parts import missing_inputs
from .replacing import check_alike
from .selecting import Operators, VariableLike, name_of, operator_of, place_of, positions_of
from .versions import runs_always


def inline(
    program: Program,
    at: Operators | None,
    callee: Program | None = None,
    inputs: Mapping[str, VariableLike] | None = None,
    outputs: Mapping[str, str] | None = None,
    *,
    explain: bool = False,
) -> Program:
    """A program with what another one does in its place; or with the operators of a block in place
    of the operator that runs it.

    Variables of the callee get names of their own; what stays between runs and has the same name is
    one variable, as in :func:`merge`.

    Args:
        program: stays as it is.
        at: the operator in front of which the callee goes, None for the end of block 0; without a
            callee a ``conditional_block`` whose condition always holds.
        callee: the other program, which stays as it is.
        inputs: data variable of the callee -> what it is in the program.
        outputs: variable of the callee -> its name in the program, which no variable has.
        explain: print what came of each operator that is not as it was.

    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: inputs are left out, which are named with who reads them; or the condition of
            a block is not known to hold.
        ShapeError, DTypeError: an input is unlike what the callee takes.
        DuplicateVariableError: an output has the name of a variable that is there.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.relu(x)
    >>> program = fluid.default_main_program()
    >>> twice = fluid.transform.inline(program, None, program, {"x": y}, {y.name: "z"})
    >>> print([(op.input("X"), op.output("Out")) for op in twice.global_block().ops])
    [(['x'], ['relu_0.tmp_0']), (['relu_0.tmp_0'], ['z'])]
    """
    if callee is None:
        if at is None or inputs or outputs:
            raise ArgumentError(
                "expected a program to inline, or the operator alone that runs a block"
            )
        place = positions_of([_always_run(operator_of(program, at))])[0]
        return explained(
            verified(program, partial(_dissolve, place=place)), explain, "inline", program
        )
    if not isinstance(callee, Program):
        raise ArgumentError(
            f"expected callee to be a program, got {callee!r:.60} of type {type(callee).__name__}"
        )
    block = program.global_block() if at is None else operator_of(program, at).block
    passed = {name_of(name): name_of(value) for name, value in (inputs or {}).items()}
    wanted = {name_of(name): name_of(value) for name, value in (outputs or {}).items()}
    _check_ends(block, callee, passed, wanted)
    place = (0, -1) if at is None else positions_of([operator_of(program, at)])[0]
    change = partial(_inline, callee=callee, passed=passed, wanted=wanted, place=place)
    return explained(transformed(program, change), explain, "inline", program)


def _check_ends(
    block: Block, callee: Program, passed: Mapping[str, str], wanted: Mapping[str, str]
) -> None:
    theirs = callee.global_block()
    for name in (*passed, *wanted):
        if name not in theirs.vars:
            raise UnknownVariableError(
                f"the callee has no variable {name!r}{suggestion(name, theirs.vars)}"
            )
    for name, value in passed.items():
        variable = block.find_var_recursive(value)
        if variable is None:
            raise UnknownVariableError(
                f"block {block.idx} of the program sees no variable {value!r}"
            )
        writer = next((op for op in theirs.ops if op.type not in ENDS and op.writes(name)), None)
        if writer is not None:
            raise ArgumentError(f"the callee computes its input {name!r}, by {place_of(writer)}")
        check_alike(theirs.vars[name], variable)
    for name, value in wanted.items():
        if any(value in each.vars for each in block.program.blocks):
            raise DuplicateVariableError(
                f"the program has a variable {value!r} already; choose another name for {name!r}"
            )
    missing = missing_inputs(theirs, passed)
    if missing:
        raise ArgumentError(
            "\n".join(["inputs of the callee are left out:", *missing])
            + "\nsay what they are in the program: inputs={name in callee: variable}"
        )


def _inline(
    copied: Program,
    callee: Program,
    passed: Mapping[str, str],
    wanted: Mapping[str, str],
    place: tuple[int, int],
) -> None:
    theirs = callee.clone()
    remove_ends(theirs)
    block = theirs.global_block()
    target = copied.blocks[place[0]]
    names = {**names_in_merge(copied, theirs, shared_names(copied, theirs, None)), **wanted}
    names = {**names, **passed}
    new = {(0, old): name for old, name in names.items() if old in block.vars and old != name}
    rename_in(theirs, all_names(theirs, new))
    count = append_blocks(copied, theirs, target.idx)
    ops, added = target.ops[: len(target.ops) - count], target.ops[len(target.ops) - count :]
    at = place[1]
    if at < 0:
        at = next((i for i, op in enumerate(ops) if op.type == "fetch"), len(ops))
    target.set_ops([*ops[:at], *added, *ops[at:]])


def _always_run(op: Operator) -> Operator:
    """An operator that runs its block in any case.

    Raises:
        ArgumentError: it is not known to.
    """
    if op.type not in ("conditional_block", "conditional_block_infer"):
        raise ArgumentError(
            f"expected a conditional_block to inline, or a program as callee, got {place_of(op)}"
        )
    if not runs_always(op):
        raise ArgumentError(
            f"{place_of(op)} runs its block where {op.input('Cond')[0]!r} holds, and that is not "
            "known before the program runs"
        )
    gradient = next(
        (b for b in op.block.program.blocks if b.forward_block_idx == op.attrs["sub_block"]), None
    )
    if gradient is not None:
        raise ArgumentError(
            f"{place_of(op)} has the gradient block {gradient.idx}; inline before append_backward"
        )
    return op


def _dissolve(copied: Program, place: tuple[int, int]) -> None:
    """Let the operators of a block run in place of what runs it."""
    block = copied.blocks[place[0]]
    op = block.ops[place[1]]
    inside = copied.blocks[op.attrs["sub_block"]]
    names = FreeNames(copied)
    new = {}
    for name in inside.vars:
        if block.find_var_recursive(name) is not None:
            new[inside.idx, name] = names(name)
    rename_in(copied, all_names(copied, new))
    for variable in inside.vars.values():
        block.declare(variable.copy_to(block))
    for inner in copied.blocks:
        if inner.parent_idx == inside.idx:
            inner.parent_idx = block.idx
    moved = [copy_operator(each, block) for each in inside.ops]
    index = inside.idx
    inside.set_ops([])
    block.set_ops([*block.ops[: place[1]], *moved, *block.ops[place[1] + 1 :]])
    _drop_condition(block, op)
    drop_blocks(copied, [index])


def _drop_condition(block: Block, op: Operator) -> None:
    """Take out what only an operator that is gone named."""
    used = {n for each in block.program.blocks for o in each.ops for n in reads_of(o)}
    gone = {n for n in (*op.input("Cond"), *op.output("Scope")) if n not in used}
    unread = [o for o in block.ops if gone and set(o.output_arg_names) <= gone]
    block.set_ops([o for o in block.ops if o not in unread or not o.output_arg_names])
    block.set_vars([v for v in block.vars.values() if v.name not in gone])
