"""Mathematical functions that NumPy lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def erf(x: Any) -> Any:
    """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to ``x``, within three units in the last
    place.
    """
    size = np.abs(x)
    inner = np.clip(x, -_CENTRE, _CENTRE)
    outer = np.clip(size, _CENTRE, _ONE)
    near = inner * _ratio(_ERF, inner * inner)
    far = 1 - np.exp(-outer * outer) * _ratio(_ERFC, outer)
    return np.where(size <= _CENTRE, near, np.copysign(far, x))


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    """A quotient of two polynomials, by Horner's rule."""
    above, below = coefficients
    top, bottom = above[0], below[0]
    for a, b in zip(above[1:], below[1:], strict=True):
        top, bottom = top * x + a, bottom * x + b
    return top / bottom
