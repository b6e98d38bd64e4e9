"""``paddle.static.amp.debugging`` of paddle 2.6: operators of programs by their element types."""

from __future__ import annotations

from ....ground.console import say
from ....ground.public_names import list_public_names
from ....ir.operator import Operator
from ....ir.program import Program, default_main_program
from ...amp.debugging import column_of, print_stats

__all__ = ["collect_operator_stats"]


def collect_operator_stats(program: Program | None = None, print_subblocks: bool = False) -> None:
    """Print how many operators of a program compute in which element type.

    Args:
        program: it; the default main program when None.
        print_subblocks: print a table for each block, not one for all.
    """
    blocks = (default_main_program() if program is None else program).blocks
    tables = [(f"block {block.idx}", [block]) for block in blocks] if print_subblocks else []
    for title, some in tables or [("all blocks", blocks)]:
        calls: dict[str, list[int]] = {}
        for op in (op for block in some for op in block.ops):
            calls.setdefault(op.type, [0, 0, 0, 0])[column_of(_element_type(op))] += 1
        say("<{:-^120}>".format(f" op list of {title} "))
        print_stats(calls)


def _element_type(op: Operator) -> str:
    """That of the first variable that an operator reads, or writes."""
    for name in [*op.input_arg_names, *op.output_arg_names]:
        variable = op.block.find_var_recursive(name)
        if variable is not None and variable.has_dtype:
            return variable.dtype.dtype.name
    return ""


list_public_names(globals())
