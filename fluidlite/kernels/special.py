"""Mathematical functions that NumPy lacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# In single precision erf(x) is tanh(x g(x^2)), with g(s) = artanh(erf(sqrt s)) / sqrt s, which
# is so smooth that eight coefficients do, lowest power last: tanh has little left of an error of g
# where x is large. They are the best for the relative error of erf up to _FLAT (Lawson's weights).
_SINGLE = tuple(
    np.float32(number)
    for number in (
        5.422138560398969e-09,
        2.7562133231631388e-08,
        -4.7944705981674515e-06,
        8.459597449756822e-05,
        -0.000614836888503104,
        -0.00019528956922724452,
        0.10276986470733177,
        1.1283792471240883,
    )
)
_FLAT = np.float32(4.0)  # from here on the function is 1 in single precision

# W. J. Cody, Rational Chebyshev approximations for the error function, Mathematics of Computation
# 23 (1969): numerators and denominators, highest power first.
_ERF = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (
        1.0,
        2.36012909523441209e1,
        2.44024637934444173e2,
        1.28261652607737228e3,
        2.84423683343917062e3,
    ),
)
_ERFC = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594e0,
        6.61191906371416295e1,
        2.98635138197400131e2,
        8.81952221241769090e2,
        1.71204761263407058e3,
        2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0,
        1.57449261107098347e1,
        1.17693950891312499e2,
        5.37181101862009858e2,
        1.62138957456669019e3,
        3.29079923573345963e3,
        4.36261909014324716e3,
        3.43936767414372164e3,
        1.23033935480374942e3,
    ),
)
_CENTRE = 0.46875  # up to here the first approximation is meant
_ONE = 6.0  # from here on the function is 1 in double precision
#: bytes of a part of an array that lies in the cache, with what is made from it
BLOCK = 1 << 17
#: bytes that the error function works in at most
SPACE = 4 * BLOCK


def erf(x: Any, out: Any = None) -> Any:
    """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to ``x``, within four units in the last
    place.

    Args:
        x: numbers; those that are no floating-point ones count as float64.
        out: where the result goes, a contiguous array; it may be ``x``.
    """
    x = np.asarray(x)
    kind = x.dtype.type if x.dtype.kind == "f" else np.float64
    if kind is np.float16:
        wide = erf(x.astype(np.float32)).astype(np.float16)
        return wide if out is None else _filled(out, wide)
    flat = np.ascontiguousarray(x, kind).reshape(-1)
    result = np.empty(x.shape, kind) if out is None else out
    into = result.reshape(-1)
    part, step = (_single, BLOCK // 4) if kind is np.float32 else (_double, BLOCK // 8)
    space = np.empty((2 if part is _single else 4, min(step, flat.size)), kind)
    for begin in range(0, flat.size, step):
        some = flat[begin : begin + step]
        part(some, into[begin : begin + step], *space[:, : some.size])
    return result if x.ndim or out is not None else result[()]


def erfc(x: Any) -> Any:
    """1 - erf(x), exact where that is small.

    Args:
        x: floating-point numbers.
    """
    values = map(math.erfc, x.ravel().tolist())
    return np.fromiter(values, "float64", x.size).reshape(x.shape).astype(x.dtype)


def _filled(out: Any, values: Any) -> Any:
    out[...] = values
    return out


def _single(x: Any, out: Any, square: Any, slope: Any, *_: Any) -> None:
    np.clip(x, -_FLAT, _FLAT, out=out)
    np.multiply(out, out, out=square)
    _polynomial(_SINGLE, square, slope)
    np.multiply(out, slope, out=out)
    np.tanh(out, out=out)


def _double(x: Any, out: Any, size: Any, near: Any, top: Any, bottom: Any) -> None:
    np.abs(x, out=size)
    is_far = size > _CENTRE
    np.maximum(x, -_CENTRE, out=near)
    np.minimum(near, _CENTRE, out=near)
    sign = np.signbit(x)  # before it may be written
    np.multiply(near, near, out=out)
    _ratio(_ERF, out, top, bottom)
    np.multiply(near, top, out=near)
    if not is_far.any():  # what is no number lies here, too
        np.copyto(out, near)
        return
    np.maximum(size, _CENTRE, out=size)
    np.minimum(size, _ONE, out=size)
    _ratio(_ERFC, size, top, bottom)
    np.multiply(size, size, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.multiply(out, top, out=out)
    np.subtract(1.0, out, out=out)
    np.negative(out, out=out, where=sign)
    np.copyto(out, near, where=~is_far)


def _polynomial(coefficients: tuple[Any, ...], x: Any, out: Any) -> None:
    """By Horner's rule."""
    np.multiply(x, coefficients[0], out=out)
    for number in coefficients[1:-1]:
        np.add(out, number, out=out)
        np.multiply(out, x, out=out)
    np.add(out, coefficients[-1], out=out)


def _ratio(coefficients: tuple[tuple[float, ...], ...], x: Any, out: Any, bottom: Any) -> None:
    """A quotient of two polynomials."""
    _polynomial(coefficients[0], x, out)
    _polynomial(coefficients[1], x, bottom)
    np.divide(out, bottom, out=out)
