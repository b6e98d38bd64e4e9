"""Comparisons under their short names, and of whole tensors."""

from __future__ import annotations

from typing import Any

from ..functions import arithmetic

eq = arithmetic.equal
ne = arithmetic.not_equal
gt = arithmetic.greater_than
ge = arithmetic.greater_equal
lt = arithmetic.less_than
le = arithmetic.less_equal


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have one shape and the same elements.

    >>> fluid.flow.equal(fluid.flow.ones(2), fluid.flow.ones(2))
    True
    """
    return _truth(arithmetic.equal_all(input, other))


def allclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements of two tensors are close to each other; see :func:`isclose`."""
    return _truth(arithmetic.allclose(input, other, rtol, atol, equal_nan))


def _truth(found: Any) -> Any:
    """A truth value; what a program computes stays a variable."""
    return bool(found.array) if found.appends is None else found


def isclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Where two tensors differ by at most ``atol + rtol |other|``.

    Args:
        input, other: tensors.
        rtol, atol: the bounds.
        equal_nan: NaN is close to NaN.
    """
    return arithmetic.isclose(input, other, rtol, atol, equal_nan)
