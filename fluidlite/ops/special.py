"""Special functions of each element: the gamma function's family, Bessel's functions, and the
inverse of the error function.

They are computed in double precision, of arithmetic that every backend has.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import need_least, need_range
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_float
from .elementwise import indicator
from .special_series import DIGAMMA, DIGAMMA_ROOT, ERFINV, ERFINV_FAR, LGAMMA
from .unary import Unary

#: Bernoulli's numbers B2, B4, ...
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330,
)  # fmt: skip
_STIRLING = 8  # from here on the series of large numbers is exact
_HUGE = 2.5e305  # beyond it lgamma is infinite
_SUMMED = 12  # terms of the zeta function that are summed one by one
_BESSEL_FAR = 20.0  # from here on Bessel's functions are the series of large numbers
_BESSEL_TERMS = 48


#: beyond it all values are 0 or infinite, or sums that take hours
_MOST = 1000


def _need_small(name: str, value: int) -> None:
    if value > _MOST:
        raise AttributeValueError(f"expected {name} of at most {_MOST}, got {value}")


class Special(Unary, abstract=True):
    """A function that is computed in double precision."""

    def run(self, xp: Any, X: Array) -> Array:
        return xp.asarray(self.value(xp, xp.asarray(X, np.float64)), X.dtype)

    def value(self, xp: Any, x: Any) -> Any:
        """The function of an array of float64."""
        raise NotImplementedError


def _from_integer(xp: Any, x: Any) -> tuple[Any, Any]:
    """How far numbers are from the nearest integer, and which are integers or infinite."""
    finite = xp.where(xp.isinf(x), 0.0, x)
    off = finite - xp.floor(finite + 0.5)
    return off, off == 0


def _lowered(xp: Any, z: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """Numbers from 0 to ``_STIRLING`` brought to [1, 2] by steps of 1, and for each step down where
    it was taken and what it gave.
    """
    m, steps = xp.where(z < 1, z + 1, xp.where(z < _STIRLING, z, 1.0)), []
    for _ in range(_STIRLING - 2):
        high = m > 2
        m = xp.where(high, m - 1, m)
        steps.append((high, m))
    return m, steps


def _of_inverse_squares(z: Any, coefficients: list[float]) -> Any:
    """c1 / z^2 + c2 / z^4 + ..."""
    inverse, series = 1 / z, 0.0
    square = inverse * inverse
    for coefficient in reversed(coefficients):
        series = (series + coefficient) * square
    return series


class lgamma(Special):
    """The natural logarithm of the absolute value of the gamma function, for each element."""

    def value(self, xp: Any, x: Any) -> Any:
        below = x <= 0
        z = xp.where(below, 1 - x, x)
        out = xp.where(z < _STIRLING, self._near(xp, z), self._far(xp, z))
        off, pole = _from_integer(xp, x)
        sine = xp.abs(xp.sin(math.pi * xp.where(pole, 0.5, off)))
        mirrored = xp.where(pole, math.inf, math.log(math.pi) - xp.log(sine) - out)
        return xp.where(below, mirrored, out)

    @staticmethod
    def _near(xp: Any, z: Any) -> Any:
        m, steps = _lowered(xp, z)
        product = xp.where((z < 1) & (z > 0), z, 1.0)
        out = xp.where(z < 1, z, m - 1) * (m - 2) * LGAMMA(xp, m) - xp.log(product)
        product = 1.0
        for taken, each in steps:
            product = product * xp.where(taken, each, 1.0)
        return out + xp.log(product)

    @staticmethod
    def _far(xp: Any, z: Any) -> Any:
        kept = xp.where((z >= _STIRLING) & (z < _HUGE), z, 1.0 * _STIRLING)
        series = [b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1)]
        out = (kept - 0.5) * xp.log(kept) - kept + 0.5 * math.log(2 * math.pi)
        out = out + _of_inverse_squares(kept, series) * kept
        return xp.where(z < _HUGE, out, z + math.inf)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * f.digamma(X))


class digamma(Special):
    """The derivative of the logarithm of the gamma function, for each element; NaN at 0 and at
    negative integers.
    """

    def value(self, xp: Any, x: Any) -> Any:
        below = x <= 0
        z = xp.where(below, 1 - x, x)
        out = xp.where(z < _STIRLING, self._near(xp, z), self._far(xp, z))
        off, pole = _from_integer(xp, x)
        angle = math.pi * xp.where(pole, 0.25, off)  # runtimes of ONNX have no double tangent
        tangent = xp.sin(angle) / xp.cos(angle)
        return xp.where(below, xp.where(pole, math.nan, out - math.pi / tangent), out)

    @staticmethod
    def _near(xp: Any, z: Any) -> Any:
        m, steps = _lowered(xp, z)
        out = ((m - DIGAMMA_ROOT[0]) - DIGAMMA_ROOT[1]) * DIGAMMA(xp, m)
        for taken, each in steps:
            out = out + xp.where(taken, 1 / each, 0.0)
        low = (z < 1) & (z > 0)
        return out - xp.where(low, 1 / xp.where(low, z, 1.0), 0.0)

    @staticmethod
    def _far(xp: Any, z: Any) -> Any:
        z = xp.where(z < _STIRLING, 1.0 * _STIRLING, z)
        series = [b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)]
        return xp.log(z) - 0.5 / z - _of_inverse_squares(z, series)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * f.polygamma(X, n=1))


class polygamma(Special):
    """The n-th derivative of ``digamma``, for each element; infinite at 0 and at negative integers.

    x: a float variable.
    out: of its shape.
    n: from 1.
    """

    signature = "x -> out"
    n: int = 1

    def infer(self, x: Spec) -> Specs:
        need_least(self, 1, "n")
        _need_small("n", self.n)
        need_float(x=x)
        return x

    def run(self, xp: Any, x: Array) -> Array:
        return super().run(xp, x)

    def value(self, xp: Any, x: Any) -> Any:
        power, sign = self.n + 1, -1.0 if self.n % 2 == 0 else 1.0
        off, pole = _from_integer(xp, x)
        below = x <= 0
        above = xp.where(off > 0, off, off + 1)  # from the integer below x
        rest = xp.where(off > 0, 1 - off, xp.where(pole, 1.0, -off))
        kept = xp.where(below, xp.where(pole, 1.0, above), x)
        out = _zeta(xp, power, kept)
        mirrored = _zeta(xp, power, rest) - _zeta(xp, power, xp.where(below, 1 - x, 1.0))
        out = xp.where(below, out + (mirrored if power % 2 == 0 else -mirrored), out)
        return sign * math.factorial(self.n) * xp.where(below & pole, math.inf, out)

    def grad(self, f: Any, x: Value, dout: Value) -> Rules:
        return dict(x=lambda: dout * f.polygamma(x, n=self.n + 1))


def _zeta(xp: Any, s: int, q: Any) -> Any:
    """The sum of 1 / (q + k)^s for k from 0, with q above 0, by Euler's and Maclaurin's formula."""
    total = 0.0
    for k in range(_SUMMED):
        total = total + (q + k) ** -s
    far = q + _SUMMED
    factor, series = s / 1.0, []
    for k, number in enumerate(_BERNOULLI, 1):
        series.append(number * factor / math.factorial(2 * k))
        factor *= (s + 2 * k - 1) * (s + 2 * k)
    edge = far / (s - 1) + 0.5 + _of_inverse_squares(far, series) * far
    return total + edge * far**-s


class bessel_i(Special):
    """Bessel's modified function of the first kind, for each element.

    order: which one, from 0.
    scaled: times ``e^-|X|``.
    """

    order: int = 0
    scaled: bool = False

    def infer(self, X: Spec) -> Specs:
        need_least(self, 0, "order")
        _need_small("order", self.order)
        return super().infer(X)

    def value(self, xp: Any, x: Any) -> Any:
        size = xp.abs(x)
        far = size > _BESSEL_FAR
        near, large = xp.where(far, 1.0, size), xp.where(far, size, _BESSEL_FAR)
        close, distant = self._near(near), self._far(xp, large)
        if self.scaled:
            close = close * xp.exp(-near)
        else:
            half = xp.exp(0.5 * xp.where(xp.isinf(large), _BESSEL_FAR, large))
            distant = xp.where(xp.isinf(large), math.inf, distant * half * half)
        out = xp.where(far, distant, close)
        out = xp.where((x < 0) & (self.order % 2 == 1), -out, out)
        return xp.where(xp.isnan(x), x, out)

    def _near(self, x: Any) -> Any:
        square, series = x * x / 4, 1.0
        for k in range(_BESSEL_TERMS, 0, -1):
            series = 1.0 + series * square / (k * (k + self.order))
        return series * (x / 2) ** self.order / math.factorial(self.order)

    def _far(self, xp: Any, x: Any) -> Any:
        series = 1.0
        for k in range(_BESSEL_TERMS - 12, 0, -1):
            factor = (4 * self.order**2 - (2 * k - 1) ** 2) / (8 * k)
            series = 1.0 - series * (factor / x)
        return series / xp.sqrt(2 * math.pi * x)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def slope():
            higher = f.bessel_i(X, order=self.order + 1, scaled=self.scaled)
            lower = f.bessel_i(X, order=abs(self.order - 1), scaled=self.scaled)
            mean = (higher + lower) * 0.5
            if not self.scaled:
                return dOut * mean
            here = f.bessel_i(X, order=self.order, scaled=True)
            return dOut * (mean - f.sign(X) * here)

        return dict(X=slope)


class Bessel(Op, abstract=True):
    """Bessel's modified function of the first kind of one order, for each element.

    x: a float variable.
    out: of its shape.
    """

    signature = "x -> out"
    order: ClassVar[int] = 0
    scaled: ClassVar[bool] = False

    def infer(self, x: Spec) -> Specs:
        need_float(x=x)
        return x

    def expand(self, f: Any, x: Value) -> Value:
        return f.bessel_i(x, order=self.order, scaled=self.scaled)


class i0(Bessel):
    """out = Bessel's modified function of the first kind of order 0 of x."""


class i0e(Bessel):
    """out = Bessel's modified function of the first kind of order 0 of x, times ``e^-|x|``."""

    scaled: ClassVar[bool] = True


class i1(Bessel):
    """out = Bessel's modified function of the first kind of order 1 of x."""

    order: ClassVar[int] = 1


class i1e(i1):
    """out = Bessel's modified function of the first kind of order 1 of x, times ``e^-|x|``."""

    scaled: ClassVar[bool] = True


class logit(Unary):
    """Out = the logarithm of ``X / (1 - X)``.

    X: probabilities.
    eps: keeps them in [eps, 1 - eps], where no gradient flows from outside; with 0 the results are
        NaN outside of [0, 1].
    """

    eps: float = 1e-6

    def infer(self, X: Spec) -> Specs:
        need_range(self, 0, 0.5, "eps")
        return super().infer(X)

    def run(self, xp: Any, X: Array) -> Array:
        if self.eps:
            X = xp.clip(X, self.eps, 1 - self.eps)
        middle, outside = xp.abs(X - 0.5) < 0.25, (X < 0) | (X > 1)
        near = 2 * xp.arctanh(2 * xp.where(middle, X, 0.5) - 1)
        kept = xp.where(outside, 0.5, X)
        far = xp.where(outside, xp.nan, xp.log(kept) - xp.log1p(-kept))
        return xp.asarray(xp.where(middle, near, far), X.dtype)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def slope():
            if not self.eps:
                return dOut / (X * (1.0 - X))
            kept = f.clip(X, min=self.eps, max=1 - self.eps)
            return dOut / (kept * (1.0 - kept)) * indicator(f, f.equal(kept, X), X)

        return dict(X=slope)


class erfinv(Special):
    """The inverse of the error function, for each element; infinite outside of ]-1, 1[."""

    def value(self, xp: Any, x: Any) -> Any:
        square = x * x
        inner = ERFINV(xp, square) * x
        rest = (1 - x) * (1 + x)
        outside = rest <= 0
        u = xp.sqrt(-xp.log(xp.where(outside, 0.5, rest)))
        far = 0.0
        for piece in ERFINV_FAR:
            far = xp.where(u >= piece.low, piece(xp, u), far)
        out = xp.where(square < ERFINV.high, inner, xp.sign(x) * far * u)
        return xp.where(outside, xp.sign(x) * math.inf, out)

    def grad(self, f: Any, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * f.exp(f.square(Out)) * (math.sqrt(math.pi) / 2))
