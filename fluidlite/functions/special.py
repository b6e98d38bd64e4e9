"""Functions of the gamma function's family, Bessel's, the inverse of the error function."""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING

from ..eager.recording import eager
from ..errors import ArgumentError
from .arithmetic import add, subtract
from .elementary import floats

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


def lgamma(x: Tensor, name: str | None = None) -> Tensor:
    """The natural logarithm of the absolute value of the gamma function.

    >>> fluid.lgamma(fluid.to_tensor([1.0, 2.0, 3.0])).numpy().round(4).tolist()
    [0.0, 0.0, 0.6930999755859375]
    """
    return eager.lgamma(floats(x))


def digamma(x: Tensor, name: str | None = None) -> Tensor:
    """The derivative of ``lgamma``; NaN at 0 and at negative integers.

    >>> fluid.digamma(fluid.to_tensor([1.0, 2.0])).numpy().round(4)
    array([-0.5772,  0.4228], dtype=float32)
    """
    return eager.digamma(floats(x))


def erfinv(x: Tensor, name: str | None = None) -> Tensor:
    """The number whose ``erf`` is x; infinite outside of ]-1, 1[.

    >>> fluid.erfinv(fluid.to_tensor([0.0, 0.5])).numpy().round(4)
    array([0.    , 0.4769], dtype=float32)
    """
    return eager.erfinv(floats(x))


def polygamma(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """The n-th derivative of ``digamma``.

    Args:
        x: a tensor of fractions.
        n: an integer from 0.

    Raises:
        ArgumentError: n is no integer, or negative.

    >>> fluid.polygamma(fluid.to_tensor([1.0]), 1).numpy().round(4).tolist()
    [1.6448999643325806]
    """
    if not isinstance(n, int) or n < 0:
        raise ArgumentError(f"polygamma: expected n to be an integer from 0, got {n!r}")
    x = floats(x)
    return eager.polygamma(x, n=n) if n else eager.digamma(x)


def multigammaln(x: Tensor, p: int, name: str | None = None) -> Tensor:
    """The logarithm of the gamma function of symmetric positive matrices with p rows.

    Args:
        x: numbers above (p - 1) / 2.
        p: an integer from 1.

    Raises:
        ArgumentError: p is below 1.

    >>> fluid.multigammaln(fluid.to_tensor([3.0]), 2).numpy().round(4)
    array([1.5502], dtype=float32)
    """
    if p < 1:
        raise ArgumentError(f"multigammaln: expected p from 1, got {p!r}")
    x = floats(x)
    out = add(eager.lgamma(x), p * (p - 1) / 4 * log(pi))
    for k in range(1, p):
        out = add(out, eager.lgamma(subtract(x, k / 2)))
    return out


def i0(x: Tensor, name: str | None = None) -> Tensor:
    """Bessel's modified function of the first kind, of order 0.

    >>> fluid.i0(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([1.    , 1.2661], dtype=float32)
    """
    return eager.i0(floats(x))


def i0e(x: Tensor, name: str | None = None) -> Tensor:
    """``i0(x)`` times ``e^-|x|``.

    >>> fluid.i0e(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([1.    , 0.4658], dtype=float32)
    """
    return eager.i0e(floats(x))


def i1(x: Tensor, name: str | None = None) -> Tensor:
    """Bessel's modified function of the first kind, of order 1.

    >>> fluid.i1(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.5652], dtype=float32)
    """
    return eager.i1(floats(x))


def i1e(x: Tensor, name: str | None = None) -> Tensor:
    """``i1(x)`` times ``e^-|x|``.

    >>> fluid.i1e(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.2079], dtype=float32)
    """
    return eager.i1e(floats(x))
