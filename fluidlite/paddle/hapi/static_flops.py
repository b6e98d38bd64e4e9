"""Multiplications and additions of the operators of a program, as paddle 2.6 counts them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...ground.public_names import list_public_names
from ...ir.block import Block
from ...ir.operator import Operator
from ...ir.program import Program
from ...ir.variable import Parameter
from .located import bordered

_ELEMENTWISE = ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "floordiv")


def static_flops(program: Program, print_detail: bool = False) -> int:
    """How many multiplications and additions the operators of a program take for one sample.

    Args:
        program: its first block is counted.
        print_detail: print a table of the operators.
    """
    block = program.global_block()
    rows: list[tuple[str, str, int]] = []
    for op in block.ops:
        count = _COUNTS.get(op.type)
        if count is not None:
            names = [n for n in op.input_arg_names if isinstance(block.var(n), Parameter)]
            weight = names[0] if op.type in _WITH_WEIGHTS and names else ""
            rows.append((op.type, weight, count(op, block)))
    if print_detail:
        print(bordered(("OP Type", "Param name", "Flops"), rows))
    return sum(row[-1] for row in rows)


def _shape(op: Operator, block: Block, slot: str, of_outputs: bool = False) -> list[int]:
    names = op.output(slot) if of_outputs else op.input(slot)
    return list(block.var(names[0]).shape)


def _convolution(op: Operator, block: Block) -> int:
    weight = _shape(op, block, "Filter")
    return prod(_shape(op, block, "Output", True)[1:]) * prod(weight[1:])


def _product(op: Operator, block: Block) -> int:
    return prod(_shape(op, block, "X")[1:]) * _shape(op, block, "Y")[-1]


def _pooling(op: Operator, block: Block) -> int:
    taken, pooled = _shape(op, block, "X"), _shape(op, block, "Out", True)
    window = list(op.attr("ksize"))
    if op.attr("adaptive") or op.attr("global_pooling"):
        window = [n // m for n, m in zip(taken[2:], pooled[2:])]
    return prod(pooled[1:]) * (prod(window) + 1)


def _normalization(op: Operator, block: Block) -> int:
    return 2 * prod(_shape(op, block, "X")[1:])


def _elementwise(op: Operator, block: Block) -> int:
    return prod(_shape(op, block, "Out", True)[1:])


_COUNTS: dict[str, Callable[[Any, Any], int]] = {
    "conv2d": _convolution,
    "depthwise_conv2d": _convolution,
    "mul": _product,
    "pool2d": _pooling,
    "batch_norm": _normalization,
    **{f"elementwise_{name}": _elementwise for name in _ELEMENTWISE},
}
#: operators whose weights the table names
_WITH_WEIGHTS = ("conv2d", "depthwise_conv2d", "mul")

__all__ = ["static_flops"]
list_public_names(globals())
