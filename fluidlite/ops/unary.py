"""Elementary functions of each element: exponentials, powers, angles, signs and roundings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..ground.dtypes import DType
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import single_precision
from ..opdef.conjugation import AS_WRITTEN, HOLOMORPHIC, OfComplex, is_complex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.prepared import Prepared
from ..opdef.spec import Spec, need_float, need_one
from ..opdef.structure import Epilogue
from .families import define, of_x, of_y
from .inert_attributes import UseCudnn, UseMkldnn


class Unary(Op, abstract=True):
    """A function of each element of a floating-point tensor."""

    signature = "X -> Out"
    by_element: ClassVar[bool] = True

    def infer(self, X: Spec) -> Spec:
        need_float(X=X)
        return X


class Activation(UseMkldnn, UseCudnn, Unary, abstract=True):
    """A function of each element, with the knobs that most of them have."""

    def epilogue(self, x: Spec) -> Epilogue | None:
        return Epilogue(self.type)


class Analytic(Unary, abstract=True):
    """A function that is holomorphic, so that complex numbers have it, too."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    of_bfloat16: ClassVar[bool] = True


class AnalyticActivation(Activation, Analytic, abstract=True):
    """The same of an activation."""


class exp(Activation):
    """``exp(X)``, for each element; of int32 and int64 what is before the point, and beyond their
    range the least.
    """

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def infer(self, X: Spec) -> Spec:
        if X.dtype not in (DType.INT32, DType.INT64):
            need_float(X=X)
        return X

    def run(self, xp: Any, X: Array) -> Array:
        out = xp.exp(X)
        if X.dtype.kind in "fc":
            return out
        least = np.iinfo(X.dtype).min
        fits = out < -float(least)
        whole = xp.asarray(xp.where(fits, out, 0.0), X.dtype)
        return xp.where(fits, whole, xp.asarray(least, X.dtype))

    def prepare(self, X: Spec) -> Prepared | None:
        return Prepared(np.exp, out=True, over=(0,)) if X.dtype.is_float else None

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * Out)


class rsqrt(Activation):
    """One over the square root of X, for each element: ``1 / sqrt(X)``."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def run(self, xp: Any, X: Array) -> Array:
        return 1 / xp.sqrt(X)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * -0.5 * Out * Out * Out)


class square(Activation):
    """X times X, for each element: ``X^2``."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    ufunc: ClassVar[Callable[..., Any] | None] = np.square
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("X",))

    def infer(self, X: Spec) -> Spec:
        return X

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * X * 2.0)


class reciprocal(Activation):
    """``1 / X``, for each element."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def run(self, xp: Any, X: Array) -> Array:
        return 1 / X

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: -dOut * Out * Out)


define(
    AnalyticActivation,
    log=("The natural logarithm of X, for each element.", np.log, of_x(lambda f, x, g: g / x)),
    log1p=(
        "The natural logarithm of ``1 + X``, exact for small X, for each element.",
        np.log1p,
        of_x(lambda f, x, g: g / (1.0 + x)),
    ),
    sqrt=("Out = the square root of X.", np.sqrt, of_y(lambda f, y, g: g * 0.5 / y)),
    sin=("The sine of X, for each element.", np.sin, of_x(lambda f, x, g: g * f.cos(x))),
    cos=("The cosine of X, for each element.", np.cos, of_x(lambda f, x, g: -g * f.sin(x))),
)


define(
    Analytic,
    log2=(
        "Out = the logarithm of X to the base 2.",
        np.log2,
        of_x(lambda f, x, g: g * (1 / math.log(2)) / x),
    ),
    log10=(
        "Out = the logarithm of X to the base 10.",
        np.log10,
        of_x(lambda f, x, g: g * (1 / math.log(10)) / x),
    ),
    expm1=("Out = e^X - 1, exact for small X.", np.expm1, of_y(lambda f, y, g: g * (1.0 + y))),
    tan=("Out = tan X.", np.tan, of_x(lambda f, x, g: g / f.square(f.cos(x)))),
    sinh=("Out = (e^X - e^-X) / 2.", np.sinh, of_x(lambda f, x, g: g * f.cosh(x))),
    cosh=("Out = (e^X + e^-X) / 2.", np.cosh, of_x(lambda f, x, g: g * f.sinh(x))),
    asin=(
        "Out = the angle in [-pi/2, pi/2] whose sine is X.",
        np.arcsin,
        of_x(lambda f, x, g: g * f.rsqrt(1.0 - x * x)),
    ),
    acos=(
        "Out = the angle in [0, pi] whose cosine is X.",
        np.arccos,
        of_x(lambda f, x, g: -g * f.rsqrt(1.0 - x * x)),
    ),
    atan=(
        "Out = the angle in (-pi/2, pi/2) whose tangent is X.",
        np.arctan,
        of_x(lambda f, x, g: g / (1.0 + x * x)),
    ),
    asinh=(
        "Out = the number whose hyperbolic sine is X.",
        np.arcsinh,
        of_x(lambda f, x, g: g * f.rsqrt(1.0 + x * x)),
    ),
    acosh=(
        "Out = the number from 0 whose hyperbolic cosine is X, which is from 1.",
        np.arccosh,
        of_x(lambda f, x, g: g * f.rsqrt(x - 1.0) * f.rsqrt(x + 1.0)),
    ),
    atanh=(
        "Out = the number whose hyperbolic tangent is X.",
        np.arctanh,
        of_x(lambda f, x, g: g / (1.0 - x * x)),
    ),
)


class erf(Unary):
    """The error function: ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` from 0 to X."""

    def run(self, xp: Any, X: Array) -> Array:
        return xp.erf(X)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * f.exp(-X * X) * (2 / math.sqrt(math.pi)))


class erfc(Unary):
    """Out = 1 - erf(X), exact where that is small."""

    def run(self, xp: Any, X: Array) -> Array:
        return xp.erfc(X)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * f.exp(-X * X) * (-2 / math.sqrt(math.pi)))


class Abs(Activation, type="abs"):
    """X without its sign, for each element: ``|X|``; the distance from 0 of complex numbers."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    ufunc: ClassVar[Callable[..., Any] | None] = np.abs
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("X",))

    def infer(self, X: Spec) -> Specs:
        return X.with_dtype(X.dtype.part)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            if not is_complex(X):
                return dOut * f.sign(X)
            size = f.abs(X)
            share = dOut / (size + f.cast(size == 0.0, in_dtype=DType.BOOL, out_dtype=size.dtype))
            return f.complex(share * f.real(X), share * f.imag(X))

        return dict(X=dx)


class sign(Unary):
    """Out = -1, 0 or 1, the sign of X."""

    ufunc: ClassVar[Callable[..., Any] | None] = np.sign
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.scale(dOut, scale=0.0))


class PiecewiseConstant(Activation, abstract=True):
    """A function that is flat nearly everywhere, so that its gradient is zero."""

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.fill_zeros_like(dOut))


define(
    PiecewiseConstant,
    floor=("Out = the largest integer that is not above X.", np.floor),
    ceil=("Out = the smallest integer that is not below X.", np.ceil),
    trunc=("Out = X without its fraction.", np.trunc),
)


class Round(PiecewiseConstant, type="round"):
    """Out = the integer nearest to X; halves go away from zero."""

    def run(self, xp: Any, X: Array) -> Array:
        whole = xp.trunc(X)
        return xp.where(xp.abs(X - whole) >= 0.5, whole + xp.sign(X), whole)


def power(f: Any, x: Value, exponent: float) -> Any:
    """``x`` to the power of a number, which stays double where an attribute would round it."""
    is_single = single_precision(exponent) == exponent
    return f.pow(x, factor=exponent) if is_single else x**exponent


class Pow(Op, type="pow"):
    """Out = X to the power of ``factor``.

    FactorTensor: the power where it is computed, of shape [1]; ``factor`` is not read then.
    factor: a number, or a variable of one element of the type of X.
    """

    signature = "X, FactorTensor?! -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("X",))
    factor: float = 1.0

    def infer(self, X: Spec, FactorTensor: Spec) -> Specs:
        need_one(FactorTensor=FactorTensor)
        return X

    def run(self, xp: Any, X: Array, FactorTensor: Array) -> Array:
        if FactorTensor is None:
            # by one half as a root in every tier: C's power of -inf is inf, and NumPy's NaN
            out = xp.sqrt(X) if self.factor == 0.5 else X**self.factor
            return xp.asarray(out, X.dtype)
        return xp.asarray(X ** xp.reshape(FactorTensor, ()), X.dtype)

    def grad(self, f: Any, X: Value, FactorTensor: Value, dOut: Value) -> Rules:
        def dx():
            if FactorTensor is not None:
                factor = f.cast(FactorTensor, in_dtype=FactorTensor.dtype, out_dtype=X.dtype)
                return dOut * f.pow(X, factor - 1.0) * factor
            if self.factor == 0:
                return f.fill_zeros_like(X)
            return dOut * power(f, X, self.factor - 1) * self.factor

        return dict(X=dx)
