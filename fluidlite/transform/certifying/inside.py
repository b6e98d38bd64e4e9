"""Where in a block of gradients a mistake is: what backward would have written there."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from ... import unique_name
from ...backward import gradients
from ...errors import FluidError
from ...ir.analysis import blocks_of
from ...ir.block import Block
from ...ir.operator import Operator
from ...ir.program import Program
from ...ir.text import operator_text
from .sweeps import ClaimedSweep

#: what names in a program that is differentiated a second time have beside others
_NUMBER = re.compile(r"(?<=@RENAME@block)\d+|(?<==block )\d+|\bgrad/")


def differences_inside(
    program: Program, sweep: ClaimedSweep, op: Operator, stopped: Iterable[str]
) -> Iterator[str]:
    """The operators in the blocks of a gradient operator that are not those that backward writes.

    Args:
        program: that the operator is of.
        sweep: that it belongs to.
        op: drives a block of gradients.
        stopped: names at which gradients stop.
    """
    try:
        with unique_name.guard(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            twin = _written_anew(program, sweep, op, stopped)
    except FluidError:
        return
    if twin is not None:
        for mine, other in zip(blocks_of(op), blocks_of(twin)):
            yield from _compared(mine, other)


def _written_anew(
    program: Program, sweep: ClaimedSweep, op: Operator, stopped: Iterable[str]
) -> Operator | None:
    """What backward writes for the same forward operator; None where that is nothing."""
    copied = program.clone()
    block = copied.global_block()
    block.set_ops(block.ops[: sweep.begin])
    goals = [key.name for key in sweep.targets]
    sources = [block.var(n) for n in sweep.written if n in block.vars and n not in goals]
    wanted = [variable for variable in sources if variable.takes_gradient]
    gradients([block.var(name) for name in goals], wanted, no_grad_set=list(stopped))
    reads = {name for slot, names in op.inputs.items() if "@GRAD" not in slot for name in names}
    for each in block.ops[sweep.begin :]:
        if each.type == op.type and len(reads.intersection(each.input_arg_names)) == len(reads):
            return each
    return None


def _compared(mine: Block, other: Block) -> Iterator[str]:
    texts = [[_NUMBER.sub("", operator_text(op)) for op in block.ops] for block in (mine, other)]
    for kind, begin, end, first, last in SequenceMatcher(
        None, texts[0], texts[1], False
    ).get_opcodes():
        if kind == "equal":
            for one, twin in zip(mine.ops[begin:end], other.ops[first:last]):
                for inner, its in zip(blocks_of(one), blocks_of(twin)):
                    yield from _compared(inner, its)
            continue
        expected = "; ".join(str(op) for op in other.ops[first:last]) or "nothing"
        expected = expected.replace("grad/", "")
        found = "; ".join(_placed(k, mine.ops[k]) for k in range(begin, end))
        found = found or f"#{begin} nothing"
        yield f"in block {mine.idx}: {found}, where backward writes {expected}"


def _placed(position: int, op: Operator) -> str:
    """An operator with its place and the user's line."""
    return f"#{position} {op}" + ("" if op.callsite is None else f" ({op.callsite})")
