"""Operators on the bits of integers."""

from __future__ import annotations

import numpy as np

from ..opdef.definition import Op
from ..opdef.spec import broadcast, need_integer, same_dtype


class Bitwise(Op, abstract=True):
    """An operator on the bits of pairs of integers; shapes spread over each other's."""

    signature = "X, Y -> Out"
    grad = None

    def infer(self, X, Y):
        need_integer(X=X, Y=Y)
        same_dtype(X=X, Y=Y)
        return X.with_shape(broadcast(X.shape, Y.shape))


class bitwise_and(Bitwise):
    """Out has the bits that are set in both X and Y."""

    ufunc = np.bitwise_and


class bitwise_or(Bitwise):
    """Out has the bits that are set in X, in Y, or in both."""

    ufunc = np.bitwise_or


class bitwise_xor(Bitwise):
    """Out has the bits that are set in one of X and Y."""

    ufunc = np.bitwise_xor
