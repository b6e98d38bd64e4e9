"""Elementary functions of each element: exponentials, powers, angles, signs and roundings."""

from __future__ import annotations

import math

import numpy as np

from ..ground.dtypes import DType
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.prepared import Prepared
from ..opdef.spec import need_float, need_one
from ..opdef.structure import Epilogue
from .inert_attributes import UseCudnn, UseMkldnn


class Unary(Op, abstract=True):
    """A function of each element of a floating-point tensor."""

    signature = "X -> Out"

    def infer(self, X):
        need_float(X=X)
        return X


class Activation(UseMkldnn, UseCudnn, Unary, abstract=True):
    """A function of each element, with the knobs that most of them have."""

    def epilogue(self, x):
        return Epilogue(self.type)


class exp(Activation):
    """``exp(X)``, for each element; of int32 and int64 what is before the point, and beyond their
    range the least.
    """

    def infer(self, X):
        if X.dtype not in (DType.INT32, DType.INT64):
            need_float(X=X)
        return X

    def run(self, xp, X):
        out = xp.exp(X)
        if X.dtype.kind == "f":
            return out
        least = np.iinfo(X.dtype).min
        fits = out < -float(least)
        whole = xp.asarray(xp.where(fits, out, 0.0), X.dtype)
        return xp.where(fits, whole, xp.asarray(least, X.dtype))

    def prepare(self, X):
        return Prepared(np.exp, out=True, over=(0,)) if X.dtype.is_float else None

    def grad(self, f, Out, dOut):
        return dict(X=lambda: dOut * Out)


class log(Activation):
    """The natural logarithm of X, for each element."""

    ufunc = np.log

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut / X)


class log2(Unary):
    """Out = the logarithm of X to the base 2."""

    ufunc = np.log2

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * (1 / math.log(2)) / X)


class log10(Unary):
    """Out = the logarithm of X to the base 10."""

    ufunc = np.log10

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * (1 / math.log(10)) / X)


class expm1(Unary):
    """Out = e^X - 1, exact for small X."""

    ufunc = np.expm1

    def grad(self, f, Out, dOut):
        return dict(X=lambda: dOut * (1.0 + Out))


class log1p(Activation):
    """The natural logarithm of ``1 + X``, exact for small X, for each element."""

    ufunc = np.log1p

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut / (1.0 + X))


class sqrt(Activation):
    """Out = the square root of X."""

    ufunc = np.sqrt

    def grad(self, f, Out, dOut):
        return dict(X=lambda: dOut * 0.5 / Out)


class rsqrt(Activation):
    """One over the square root of X, for each element: ``1 / sqrt(X)``."""

    def run(self, xp, X):
        return 1 / xp.sqrt(X)

    def grad(self, f, Out, dOut):
        return dict(X=lambda: dOut * -0.5 * Out * Out * Out)


class square(Activation):
    """X times X, for each element: ``X^2``."""

    ufunc = np.square
    fluid = FluidForm(numbers=("X",))

    def infer(self, X):
        return X

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * X * 2.0)


class reciprocal(Activation):
    """``1 / X``, for each element."""

    def run(self, xp, X):
        return 1 / X

    def grad(self, f, Out, dOut):
        return dict(X=lambda: -dOut * Out * Out)


class sin(Activation):
    """The sine of X, for each element."""

    ufunc = np.sin

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * f.cos(X))


class cos(Activation):
    """The cosine of X, for each element."""

    ufunc = np.cos

    def grad(self, f, X, dOut):
        return dict(X=lambda: -dOut * f.sin(X))


class tan(Unary):
    """Out = tan X."""

    ufunc = np.tan

    def grad(self, f, Out, dOut):
        return dict(X=lambda: dOut * (1.0 + Out * Out))


class sinh(Unary):
    """Out = (e^X - e^-X) / 2."""

    ufunc = np.sinh

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * f.cosh(X))


class cosh(Unary):
    """Out = (e^X + e^-X) / 2."""

    ufunc = np.cosh

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * f.sinh(X))


class asin(Unary):
    """Out = the angle in [-pi/2, pi/2] whose sine is X."""

    ufunc = np.arcsin

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * f.rsqrt(1.0 - X * X))


class acos(Unary):
    """Out = the angle in [0, pi] whose cosine is X."""

    ufunc = np.arccos

    def grad(self, f, X, dOut):
        return dict(X=lambda: -dOut * f.rsqrt(1.0 - X * X))


class atan(Unary):
    """Out = the angle in (-pi/2, pi/2) whose tangent is X."""

    ufunc = np.arctan

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut / (1.0 + X * X))


class erf(Unary):
    """The error function: ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` from 0 to X."""

    def run(self, xp, X):
        return xp.erf(X)

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * f.exp(-X * X) * (2 / math.sqrt(math.pi)))


class erfc(Unary):
    """Out = 1 - erf(X), exact where that is small."""

    def run(self, xp, X):
        return xp.erfc(X)

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * f.exp(-X * X) * (-2 / math.sqrt(math.pi)))


class Abs(Activation, type="abs"):
    """X without its sign, for each element: ``|X|``."""

    ufunc = np.abs
    fluid = FluidForm(numbers=("X",))

    def infer(self, X):
        return X

    def grad(self, f, X, dOut):
        return dict(X=lambda: dOut * f.sign(X))


class sign(Unary):
    """Out = -1, 0 or 1, the sign of X."""

    ufunc = np.sign
    fluid = FluidForm(direct=True)

    def grad(self, f, dOut):
        return dict(X=lambda: f.scale(dOut, scale=0.0))


class PiecewiseConstant(Activation, abstract=True):
    """A function that is flat nearly everywhere, so that its gradient is zero."""

    def grad(self, f, dOut):
        return dict(X=lambda: f.fill_zeros_like(dOut))


class floor(PiecewiseConstant):
    """Out = the largest integer that is not above X."""

    ufunc = np.floor


class ceil(PiecewiseConstant):
    """Out = the smallest integer that is not below X."""

    ufunc = np.ceil


class trunc(PiecewiseConstant):
    """Out = X without its fraction."""

    ufunc = np.trunc


class Round(PiecewiseConstant, type="round"):
    """Out = the integer nearest to X; halves go away from zero."""

    def run(self, xp, X):
        whole = xp.trunc(X)
        return xp.where(xp.abs(X - whole) >= 0.5, whole + xp.sign(X), whole)


class Pow(Op, type="pow"):
    """Out = X to the power of ``factor``.

    FactorTensor: the power where it is computed, of shape [1]; ``factor`` is not read then.
    factor: a number, or a variable of one element of the type of X.
    """

    signature = "X, FactorTensor?! -> Out"
    fluid = FluidForm(numbers=("X",))
    factor: float = 1.0

    def infer(self, X, FactorTensor):
        need_one(FactorTensor=FactorTensor)
        return X

    def run(self, xp, X, FactorTensor):
        if FactorTensor is None:
            # by one half as a root in every tier: C's power of -inf is inf, and NumPy's NaN
            out = xp.sqrt(X) if self.factor == 0.5 else X**self.factor
            return xp.asarray(out, X.dtype)
        return xp.asarray(X ** xp.reshape(FactorTensor, ()), X.dtype)

    def grad(self, f, X, FactorTensor, dOut):
        def dx():
            if FactorTensor is not None:
                factor = f.cast(FactorTensor, in_dtype=FactorTensor.dtype, out_dtype=X.dtype)
                return dOut * f.pow(X, factor - 1.0) * factor
            if self.factor == 0:
                return f.fill_zeros_like(X)
            return dOut * f.pow(X, factor=self.factor - 1) * self.factor

        return dict(X=dx)
