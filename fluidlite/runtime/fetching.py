"""What is to be fetched of a run."""

from __future__ import annotations

from typing import Any

from ..errors import FetchTypeError
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable


def fetch_names(fetch_list: Any, program: Program) -> tuple[list[str], list[Operator]]:
    """What is to be fetched: names, and operators of an optimizer, which make a run leave out what
    neither needs; what operators ``fetch`` read when None.

    Args:
        fetch_list: variables, names and operators, also in lists of lists; what ``minimize`` gives
            stands for its operators.
        program: that is run.

    Raises:
        FetchTypeError: something else.
    """
    names: list[str] = []
    ops: list[Operator] = []
    if fetch_list is None:
        return [op.input("X")[0] for op in program.global_block().ops if op.type == "fetch"], ops
    items = list(fetch_list) if isinstance(fetch_list, (list, tuple)) else [fetch_list]
    if _is_minimized(fetch_list):
        items = list(fetch_list[0])
    while items:
        item = items.pop(0)
        if isinstance(item, Variable):
            names.append(item.name)
        elif isinstance(item, str):
            names.append(item)
        elif isinstance(item, Operator):
            ops.append(item)
        elif isinstance(item, (list, tuple)):
            items[:0] = item[0] if _is_minimized(item) else item
        else:
            raise FetchTypeError(
                f"expected fetch_list to be a list of variables or names, got {item!r:.60} of type "
                f"{type(item).__name__}"
            )
    return names, ops


def _is_minimized(item: Any) -> bool:
    """Whether something is what ``minimize`` gives: operators, and parameters with gradients."""
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], list)
        and bool(item[0])
        and all(isinstance(op, Operator) for op in item[0])
    )
