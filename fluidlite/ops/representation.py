"""How floating-point numbers are made of bits: their neighbours, fractions and exponents."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..opdef.annotations import Array, Arrays, Rules, Value
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_float, same_float
from .families import OfPairs, define


class OfFloats(OfPairs, abstract=True):
    """An operator on pairs of floats; shapes spread over each other's."""

    needs = (same_float,)


define(OfFloats, nextafter=("Out = the next number after X towards Y.", np.nextafter))


class frexp(Op):
    """X = Out times 2 to the power of Exponent, with Out in [0.5, 1) but for its sign.

    Exponent: a whole number, of the type of X.
    """

    signature = "X -> Out, Exponent!"

    def infer(self, X: Spec) -> tuple[Spec, Spec]:
        need_float(X=X)
        return X, X

    def run(self, xp: Any, X: Array) -> Arrays:
        fraction, exponent = xp.frexp(X)
        return fraction, xp.asarray(exponent, X.dtype)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def slope():
            exponent = f.frexp(X)[1]
            return dOut / f.elementwise_pow(f.fill_any_like(exponent, value=2.0), exponent)

        return dict(X=slope)
