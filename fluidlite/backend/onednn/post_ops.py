"""Post-ops: epilogues that the library's products and convolutions compute by themselves.

Only what is finite where it is finite with NumPy: the library's own maximum of a number and zero
takes NaN for zero, and its swish is NaN at -inf, where it vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...opdef.structure import Epilogue
from .elementwise import ALGORITHMS

POST = 1 << 15  #: the number of the other operand of a post-op is made of these
#: functions of two values
BINARY = {
    "add": ALGORITHMS["elementwise_add"],
    "multiply": ALGORITHMS["elementwise_mul"],
    "subtract": ALGORITHMS["elementwise_sub"],
}
LEAKY_RELU, TANH, ELU, SQUARE, ABS = 0x20, 0x21, 0x22, 0x23, 0x24
LINEAR, LOGISTIC, GELU_TANH, CLIP, GELU_ERF = 0x26, 0x29, 0x2B, 0x2F, 0x31
LARGEST = float(np.finfo(np.float32).max)

KEEPS_ZERO = -0.0  #: what can be added to zeros of both signs without a change
#: one of the library's functions and its two numbers
Function: TypeAlias = tuple[int, float, float]
Functions: TypeAlias = Mapping[str, Callable[..., list[Function]]]
#: by function of one value, the library's in order; none where it has none
UNARY: Functions = {
    # x above zero, -0 (e^x - 1) = 0 below, -0 at zero, and NaN stays; -0 + 0 = 0
    "relu": lambda: [(ELU, -0.0, 0.0), (LINEAR, 1.0, 0.0)],
    "leaky_relu": lambda alpha: [(LEAKY_RELU, alpha, 0.0)] if alpha else [],
    "elu": lambda alpha: [(ELU, alpha, 0.0)],
    "sigmoid": lambda: [(LOGISTIC, 0.0, 0.0)],
    "tanh": lambda: [(TANH, 0.0, 0.0)],
    "abs": lambda: [(ABS, 0.0, 0.0)],
    "square": lambda: [(SQUARE, 0.0, 0.0)],
    # the exact one is up to 1.1e-6 off, which is much of a result whose number is far below zero
    "gelu": lambda approximate: [(GELU_TANH, 0.0, 0.0)] if approximate else [],
    "scale": lambda factor, bias: [(LINEAR, factor, bias or KEEPS_ZERO)],
}


def _gelu(approximate: bool) -> list[Function]:
    if approximate:
        return UNARY["gelu"](approximate)
    # an infinite number would be none; the result of the largest one is infinite
    return [(CLIP, -inf, LARGEST), (GELU_ERF, 0.0, 0.0)]


#: the same of what is rounded to few bits behind them: that moves it more than 1.1e-6
UNARY_OF_ROUNDED: Functions = {**UNARY, "gelu": _gelu}


class PostOp(NamedTuple):
    """An epilogue as the library takes it."""

    steps: Sequence[tuple[Any, ...]]  #: without the layout of the other value
    value: Any = None  #: the other value, of a function of two
    shape: tuple[int, ...] = ()  #: its shape, aligned with the result's


def post_ops(
    chain: Iterable[tuple[Epilogue, Any]], result: Any, unary: Functions = UNARY
) -> list[PostOp]:
    """The epilogues from the first on that the library can compute.

    Args:
        chain: of the epilogues.
        result: the value that the first of them reads.
        unary: the functions of one value.
    """
    posts = []
    for epilogue, instruction in chain:
        if epilogue.function in BINARY:
            (other,) = (v for v in instruction.inputs if v is not result)
            steps = [("binary", BINARY[epilogue.function])]
            posts.append(PostOp(steps, other, epilogue.shape))
        else:
            make = unary.get(epilogue.function)
            functions = [] if make is None else make(*epilogue.numbers)
            if not functions:
                break
            posts.append(PostOp([("eltwise", *function) for function in functions]))
        result = instruction.result
    return posts
