"""Programs that stay as they were when what changes them fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .operator import OpRole
from .program import Program


@contextmanager
def all_or_nothing(*programs: Program) -> Iterator[None]:
    """Take everything back that was done to programs inside when it ends with an error.

    Operators and variables that were there before are theirs again, in their order; of operators
    roles are restored, and outputs are taken away that they got for gradients: nothing else of them
    is changed by adding gradients or steps.

    Args:
        programs: what is changed inside.
    """
    before = [_Before(program) for program in {id(p): p for p in programs}.values()]
    try:
        yield
    except BaseException:
        for each in before:
            each.restore()
        raise


class _Before:
    """What a program was at some moment."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.blocks = list(program.blocks)
        self.current = program.current_block_idx
        self.contents = [
            (
                list(block.vars.values()),
                list(block.ops),
                (block.idx, block.parent_idx, block.forward_block_idx),
            )
            for block in program.blocks
        ]
        self.roles = {
            id(op): (op.role, op.role_vars)
            for _, ops, _ in self.contents
            for op in ops
            if op.role is not OpRole.FORWARD or op.role_vars
        }
        self.outputs = [[op.outputs for op in ops] for _, ops, _ in self.contents]

    def restore(self) -> None:
        """Make the program that again."""
        program = self.program
        program.blocks[:] = self.blocks
        program.current_block_idx = self.current
        for block, (variables, ops, numbers) in zip(self.blocks, self.contents, strict=True):
            block.set_vars(variables)
            block.set_ops(ops)
            block.idx, block.parent_idx, block.forward_block_idx = numbers
            for op in ops:
                op.role, op.role_vars = self.roles.get(id(op), (OpRole.FORWARD, ()))
        for (_, ops, _), outputs in zip(self.contents, self.outputs, strict=True):
            for op, before in zip(ops, outputs, strict=True):
                for slot in [slot for slot in op.outputs if slot not in before]:
                    op.set_output(slot)
        program.touch()
