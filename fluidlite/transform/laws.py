"""Algebraic laws, one a line: what may stand for what, and whether every bit stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ground.dtypes import DType
from ..layers import abs as absolute
from ..layers import (
    elementwise_max,
    elementwise_min,
    exp,
    log,
    matmul,
    reciprocal,
    relu,
    scale,
    sqrt,
    square,
    transpose,
    zeros_like,
)
from ..opdef.attribute import single_precision
from .rules import Rule, attributes


@dataclass(frozen=True)
class Law:
    """A law with its name.

    Args:
        name: the law, as one writes it.
        rule: what is found, and what stands for it.
        exact: whether every bit stays, but for the sign of zero; other laws hold but for rounding,
            where all values are finite.
    """

    name: str
    rule: Rule
    exact: bool

    def __str__(self) -> str:
        return self.name if self.exact else f"{self.name}, but for rounding"


def _law(
    name: str,
    pattern: Callable[..., Any],
    replacement: Callable[..., Any],
    where: Callable[..., Any] | None = None,
    *,
    exact: bool = False,
) -> Law:
    return Law(name, Rule(pattern, replacement, where=where, name=name), exact)


def _scaled(x: Any, a: str, b: str) -> Any:
    return attributes(scale(x), **{a: "scale", b: "bias"})


def _filled(f: Any) -> Any:
    return attributes(
        f.fill_constant(shape=[1], dtype="float32", value=2.0), ..., c="value", sizes="shape"
    )


def _is_within(sizes: Any, shape: Any) -> bool:
    """Whether a constant of some sizes times a value of a shape has that shape."""
    aligned = zip(reversed(sizes), reversed(shape))
    return len(sizes) <= len(shape) and all(size in (1, whole) for size, whole in aligned)


def _fits(x: Any, *factors: float) -> bool:
    """Whether numbers may be attributes beside a value: of integers each product is cut, and single
    precision, which attributes have, rounds numbers beside doubles.
    """
    if x.dtype is DType.FP64:
        return all(single_precision(factor) == factor for factor in factors)
    return x.dtype.is_float or all(float(factor).is_integer() for factor in factors)


def _turned(x: Any, name: str) -> Any:
    return attributes(transpose(x, [0]), **{name: "axis"})


def _after(first: Any, second: Any) -> list[int]:
    return [first[k] for k in second]


#: in the order in which they are tried
LAWS: tuple[Law, ...] = (
    _law("1 x + 0 = x", lambda x: scale(x, 1.0), lambda x: x, exact=True),
    _law("x + x = 2 x", lambda x: x + x, lambda x: scale(x, 2.0), exact=True),
    _law("relu(relu(x)) = relu(x)", lambda x: relu(relu(x)), lambda x: relu(x), exact=True),
    _law("||x|| = |x|", lambda x: absolute(absolute(x)), lambda x: absolute(x), exact=True),
    _law("max(x, x) = x", lambda x: elementwise_max(x, x), lambda x: x, exact=True),
    _law("min(x, x) = x", lambda x: elementwise_min(x, x), lambda x: x, exact=True),
    _law("-x + y = y - x", lambda x, y: scale(x, -1.0) + y, lambda x, y: y - x,
         lambda x, y: x.shape == y.shape, exact=True),
    _law("x - (-y) = x + y", lambda x, y: x - scale(y, -1.0), lambda x, y: x + y,
         lambda x, y: x.shape == y.shape, exact=True),
    _law("x - x = 0", lambda x: x - x, lambda x: zeros_like(x)),
    _law("b (a x + c) + d = (a b) x + (b c + d)",
         lambda x: _scaled(_scaled(x, "a", "c"), "b", "d"),
         lambda x, a, b, c, d: scale(x, a * b, b * c + d),
         lambda x, a, b, c, d: (
             _fits(x, a, b, c, d, a * b, b * c + d) and abs(a * b) < 1e30 and abs(b * c + d) < 1e30
         )),
    _law("(a x) y = a (x y)", lambda x, y: attributes(scale(x), a="scale") * y,
         lambda x, y, a: scale(x * y, a),
         lambda x, y, a: _fits(x, a) and x.shape == y.shape),
    _law("constant(c) x = c x", lambda f, x: _filled(f) * x, lambda x, c: scale(x, c),
         lambda x, c, sizes: _fits(x, c) and _is_within(sizes, x.shape)),
    _law("1 / (1 / x) = x", lambda x: reciprocal(reciprocal(x)), lambda x: x),
    _law("log(exp(x)) = x", lambda x: log(exp(x)), lambda x: x),
    _law("exp(log(x)) = x", lambda x: exp(log(x)), lambda x: x),
    _law("sqrt(x)^2 = x", lambda x: square(sqrt(x)), lambda x: x),
    _law("exp(x) exp(y) = exp(x + y)", lambda x, y: exp(x) * exp(y), lambda x, y: exp(x + y),
         lambda x, y: x.shape == y.shape),
    _law("x y + x z = x (y + z)", lambda x, y, z: x * y + x * z, lambda x, y, z: x * (y + z),
         lambda x, y, z: x.shape == y.shape == z.shape),
    _law("(xᵀ)ᵀ = x", lambda x: _turned(_turned(x, "p"), "q"),
         lambda x, p, q: x if _after(p, q) == sorted(p) else transpose(x, _after(p, q)),
         exact=True),
    _law("xᵀ @ y", lambda x, y: matmul(transpose(x, [1, 0]), y),
         lambda x, y: matmul(x, y, transpose_x=True)),
    _law("x @ yᵀ", lambda x, y: matmul(x, transpose(y, [1, 0])),
         lambda x, y: matmul(x, y, transpose_y=True)),
)  # fmt: skip
