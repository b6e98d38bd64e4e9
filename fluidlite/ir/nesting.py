"""How blocks lie in each other: looked at before anything goes down into them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import VerifyError
from .analysis import drivers_in

if TYPE_CHECKING:
    from .program import Program

#: how deep operators may drive blocks in each other
DEEPEST = 100
#: how many times the blocks of a program may be gone through where operators share them
TIMES = 100


def check_nesting(program: Program) -> None:
    """Refuse a program whose blocks cannot be gone through from the outside to the inside.

    Raises:
        VerifyError: operators drive blocks in a circle, too deep in each other, or the same ones
            too often.
    """
    fault = nesting_fault(program)
    if fault:
        raise VerifyError(fault)


def nesting_fault(program: Program) -> str | None:
    """What is wrong with the blocks that operators drive; None where nothing is."""
    driven = _driven(program)
    if not any(driven):
        return None
    depths, visits = [0] * len(driven), [0] * len(driven)
    order: list[int] = []  # inner blocks first
    entered = [False] * len(driven)
    for start in range(len(driven)):
        stack = [] if entered[start] else [(start, iter(driven[start]))]
        entered[start] = True
        within = {start}
        while stack:
            number, inner = stack[-1]
            following = next(inner, None)
            if following is None:
                order.append(number)
                within.discard(number)
                stack.pop()
            elif following in within:
                return f"block {following} is driven by an operator that lies in it"
            elif not entered[following]:
                entered[following] = True
                within.add(following)
                stack.append((following, iter(driven[following])))
    for number in order:
        depths[number] = 1 + max((depths[inner] for inner in driven[number]), default=0)
        visits[number] = 1 + sum(visits[inner] for inner in driven[number])
        if depths[number] > DEEPEST:
            return f"operators drive more than {DEEPEST} blocks in each other, from block {number}"
        if visits[number] > TIMES * len(driven):
            return (
                f"operators drive the same blocks again and again: more than {TIMES * len(driven)} "
                f"from block {number} on, in a program of {len(driven)}"
            )
    return None


def _driven(program: Program) -> list[list[int]]:
    """For each block those that its operators drive."""
    there = range(program.num_blocks)
    return [
        [index for _, driven in drivers_in(block) for index in driven if index in there]
        for block in program.blocks
    ]
