"""Operators on the bits and the divisors of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..ground.dtypes import DType
from ..opdef.annotations import Specs
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_integer, same_dtype
from .families import OfPairs, define


class OfIntegers(OfPairs, abstract=True):
    """An operator on pairs of integers; shapes spread over each other's."""

    needs = (need_integer, same_dtype)


define(
    OfIntegers,
    bitwise_and=("Out has the bits that are set in both X and Y.", np.bitwise_and),
    bitwise_or=("Out has the bits that are set in X, in Y, or in both.", np.bitwise_or),
    bitwise_xor=("Out has the bits that are set in one of X and Y.", np.bitwise_xor),
    gcd=("Out = the greatest divisor that X and Y have in common.", np.gcd),
    lcm=("Out = the least multiple that X and Y have in common.", np.lcm),
)


class bitwise_not(Op):
    """Out has the bits that are not set in X; of truth values, whether X is not true."""

    signature = "X -> Out"
    ufunc: ClassVar[Callable[..., Any] | None] = np.invert
    grad = None

    def infer(self, X: Spec) -> Specs:
        if X.dtype is not DType.BOOL:
            need_integer(X=X)
        return X
