"""Operators on the bits and the divisors of integers."""

from __future__ import annotations

import numpy as np

from ..opdef.annotations import Specs
from ..opdef.definition import Op
from ..opdef.spec import Spec, broadcast, need_integer, same_dtype
from .families import define


class OfIntegers(Op, abstract=True):
    """An operator on pairs of integers; shapes spread over each other's."""

    signature = "X, Y -> Out"
    grad = None

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_integer(X=X, Y=Y)
        same_dtype(X=X, Y=Y)
        return X.with_shape(broadcast(X.shape, Y.shape))


define(
    OfIntegers,
    bitwise_and=("Out has the bits that are set in both X and Y.", np.bitwise_and),
    bitwise_or=("Out has the bits that are set in X, in Y, or in both.", np.bitwise_or),
    bitwise_xor=("Out has the bits that are set in one of X and Y.", np.bitwise_xor),
    gcd=("Out = the greatest divisor that X and Y have in common.", np.gcd),
    lcm=("Out = the least multiple that X and Y have in common.", np.lcm),
)
