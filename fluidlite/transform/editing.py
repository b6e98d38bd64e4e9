"""A changed copy of a program that keeps the rules of programs."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from ..errors import VerifyError
from ..ir.analysis import undeclared_inside
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program, copy_operator
from ..ir.shape_inference import declare_outputs
from ..ir.verify import verify


def transformed(program: Program, change: Callable[[Program], object]) -> Program:
    """A changed copy of a program; the program stays as it is, whatever fails.

    Args:
        program: any.
        change: is given the copy and changes it, or gives another program.

    Raises:
        FluidError: what ``change`` raises; or operators do not fit what they read any more.
        VerifyError: the copy breaks a rule that the program keeps.
    """

    def inferring(copied: Program) -> Program:
        changed = _result(copied, change(copied))
        infer_shapes(changed)
        return changed

    return verified(program, inferring)


def verified(
    program: Program, change: Callable[[Program], object], known: Container[Operator] = frozenset()
) -> Program:
    """What :func:`transformed` gives, for changes that declare shapes themselves; arguments and
    errors are as of that.

    Args:
        program, change: as there.
        known: operators that fit what is declared, or did not do so before either;
            the change may add some.
    """
    copied = program.clone()
    copied = _result(copied, change(copied))
    try:
        verify(copied, known=known)
    except VerifyError:
        if _is_right(program):
            raise
    return copied


def _result(copied: Program, given: object) -> Program:
    """The program that a change of a copy is about."""
    return given.clone() if isinstance(given, Program) and given is not copied else copied


def _is_right(program: Program) -> bool:
    """Whether a program keeps the rules: one that nobody can run can be changed, too."""
    try:
        program.verify()
    except VerifyError:
        return False
    return True


def infer_shapes(program: Program, watch: Callable[[Operator], None] = lambda op: None) -> None:
    """Declare anew what operators write, from what they read; those that nobody defined stay.

    Args:
        program: is changed.
        watch: is called with each operator when what it writes is declared.

    Raises:
        FluidError: an operator does not fit what it reads.
    """
    given = undeclared_inside(program)
    for block in program.blocks:
        undeclared: frozenset[str] | set[str] = given.get(block.idx, frozenset())
        for op in block.ops:
            if op.definition is not None and undeclared.isdisjoint(op.input_arg_names):
                declare_outputs(op, op.instance(), block.var_recursive)
            watch(op)


def copied_operator(op: Operator, block: Block, names: Mapping[str, str]) -> Operator:
    """An operator for another block, under other names; marks and call sites are its own.

    Args:
        op: what to copy.
        block: is to hold the copy, which is not put in.
        names: old name -> new name; others stay.
    """
    made = copy_operator(op, block)
    made.rename(names)
    return made
