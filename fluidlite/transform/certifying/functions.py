"""Functions that are no ratios of polynomials, and their derivatives, in numbers and residues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels.special import erf
from .field import Exact, PrimeField

_TO_ERF = 2 / np.sqrt(np.pi)


def _one(field: PrimeField) -> Exact:
    return field.constant(1)


def _exact_exp(field: PrimeField, x: Exact) -> tuple[Exact, Exact]:
    value = field.exponential(x)
    return value, value


def _exact_tanh(field: PrimeField, x: Exact) -> tuple[Exact, Exact]:
    square = field.exponential(x) * field.exponential(x)
    value = (square - _one(field)) * (square + _one(field)).inverse()
    return value, _one(field) - value * value


def _exact_softplus(field: PrimeField, x: Exact) -> tuple[Exact, Exact]:
    value = field.exponential(x)
    return field.function("softplus", x), value * (value + _one(field)).inverse()


def _exact_sqrt(field: PrimeField, x: Exact) -> tuple[Exact, Exact]:
    value = field.function("sqrt", x)
    return value, (value + value).inverse()


def _exact_erf(field: PrimeField, x: Exact) -> tuple[Exact, Exact]:
    return field.function("erf", x), field.exponential(-(x * x)) * field.constant(_TO_ERF)


def _exact_tan(field: PrimeField, x: Exact) -> tuple[Exact, Exact]:
    value = field.function("sin", x) * field.function("cos", x).inverse()
    return value, value * value + _one(field)


def _root(field: PrimeField, x: Exact) -> Exact:
    """The square root of 1 - x x."""
    return field.function("sqrt", _one(field) - x * x)


def _symbol(
    name: str, slope: Callable[[PrimeField, Exact], Exact]
) -> Callable[[PrimeField, Exact], tuple[Exact, Exact]]:
    return lambda field, x: (field.function(name, x), slope(field, x))


#: name -> the function of numbers, its derivative there of argument and value, and both in the
#: field
FUNCTIONS: dict[str, tuple[Any, Callable[[Any, Any], Any], Callable[..., Any]]] = {
    "exp": (np.exp, lambda x, y: y, _exact_exp),
    "expm1": (
        np.expm1,
        lambda x, y: y + 1,
        lambda field, x: (field.exponential(x) - _one(field), field.exponential(x)),
    ),
    "log": (np.log, lambda x, y: 1 / x, _symbol("log", lambda field, x: x.inverse())),
    "sqrt": (np.sqrt, lambda x, y: 0.5 / y, _exact_sqrt),
    "tanh": (np.tanh, lambda x, y: 1 - y * y, _exact_tanh),
    "softplus": (
        lambda x: np.logaddexp(0, x),
        lambda x, y: np.exp(-np.logaddexp(0, -x)),
        _exact_softplus,
    ),
    "sin": (
        np.sin,
        lambda x, y: np.cos(x),
        _symbol("sin", lambda field, x: field.function("cos", x)),
    ),
    "cos": (
        np.cos,
        lambda x, y: -np.sin(x),
        _symbol("cos", lambda field, x: -field.function("sin", x)),
    ),
    "erf": (erf, lambda x, y: _TO_ERF * np.exp(-x * x), _exact_erf),
    "tan": (np.tan, lambda x, y: 1 + y * y, _exact_tan),
    "arcsin": (
        np.arcsin,
        lambda x, y: 1 / np.sqrt(1 - x * x),
        _symbol("arcsin", lambda field, x: _root(field, x).inverse()),
    ),
    "arccos": (
        np.arccos,
        lambda x, y: -1 / np.sqrt(1 - x * x),
        _symbol("arccos", lambda field, x: -_root(field, x).inverse()),
    ),
    "arctan": (
        np.arctan,
        lambda x, y: 1 / (1 + x * x),
        _symbol("arctan", lambda field, x: (x * x + _one(field)).inverse()),
    ),
}
