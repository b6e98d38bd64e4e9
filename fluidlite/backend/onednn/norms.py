"""Bounds of Euclidean norms, which tell that nothing in a value is infinite or not a number.

Kernels of the library that take a maximum give the other operand in place of NaN, and those
that mask give zero.  They run only where a bound shows that they meet no such element; else they
decline, and NumPy's kernels, which keep it, run in their place.  A bound follows from those of the
operands: a convolution multiplies the norm by at most the filters' norm and the root of the number
of filter positions that an element of the image is under (Young's inequality).  What has no bound,
or one that says little, is measured in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np

from ...opdef.prepared import Epilogues, KernelDeclined, Offer
from .memory import ExecutionContext

LOOSE = 1e12  #: a bound from which on a value is rather measured
LARGEST = 1e37  #: no element and no sum on the way to it is beyond float32 below it

#: a bound of the norm of a result, from the context of a run and the arrays that a kernel is given
Rule = Callable[[ExecutionContext, Sequence[Any]], float]


def measured(array: Any) -> float:
    """The norm of an array or somewhat more; not finite where an element is not."""
    flat = array.ravel("K")
    square = float(np.dot(flat, flat))
    if isfinite(square):
        return sqrt(square) * 1.01 + 1e-18 * flat.size  # squares may have vanished
    return float(np.abs(flat).max()) * sqrt(flat.size)


def norm_of(context: ExecutionContext, value: Any, array: Any) -> float:
    """A bound of the norm of a value; not finite where an element may not be.

    Args:
        context: of the run.
        value: of the graph.
        array: its elements.
    """
    known = context.norms.get(value.number)  # kernels of this run have written what is there
    return known if known is not None and known < LOOSE else measured(array)


def require(bound: float) -> None:
    """Let a kernel go on only where a bound shows that nothing can be hidden.

    Raises:
        KernelDeclined: it does not.
    """
    if not bound < LARGEST:
        raise KernelDeclined(
            "there may be an element that is not finite, which the kernel would hide"
        )


def linear(*terms: tuple[int, Any, float]) -> Rule:
    """The rule of a weighted sum of norms.

    Args:
        terms: the place among the kernel's arrays, the value, and the weight of each.
    """

    def rule(context: ExecutionContext, arrays: Sequence[Any]) -> float:
        return sum([weight * norm_of(context, v, arrays[i]) for i, v, weight in terms])

    return rule


def product(first: Any, second: Any, gain: float, added: Rule | None = None) -> Rule:
    """The rule of what is linear in each of the first two operands.

    Args:
        first, second: the values.
        gain: of the product of their norms.
        added: the rule of what is added.
    """

    def rule(context: ExecutionContext, arrays: Sequence[Any]) -> float:
        found = gain * norm_of(context, first, arrays[0]) * norm_of(context, second, arrays[1])
        return found if added is None else found + added(context, arrays)

    return rule


def made_by(instruction: Any, epilogues: Epilogues, fused: int) -> int:
    """The number of the value that an instruction makes with what is fused behind it."""
    last = epilogues.chain[fused - 1][1] if fused else instruction
    return int(last.results[0].number)


def bounded(offer: Offer, number: int, rule: Rule, hides: bool = False) -> Offer:
    """An offer whose kernel notes a bound of its first result.

    Args:
        offer: of a kernel that takes a context last.
        number: of the result.
        rule: gives the bound.
        hides: whether the kernel may hide what is not finite, and declines where it might.
    """
    assert offer.kernel is not None
    function = offer.kernel.function

    def run(*arrays: Any, out: Any = None) -> Any:
        context = arrays[-1]
        bound = rule(context, arrays)
        if hides:
            require(bound)
        context.norms[number] = bound
        return function(*arrays, out=out)

    return offer._replace(kernel=offer.kernel._replace(function=run))
