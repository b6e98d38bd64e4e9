"""Functions of elements, of one tensor or of several."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ..building import need_room
from ..forms import operator, operators
from ..types import numpy_type
from ..widened import BFLOAT16, HELD, Widened, bare, magnitudes, wrapped
from .gathering import gather

# -- of one tensor ---------------------------------------------------------------------------------

#: operators that fluid has under another name
_SAME = {
    "Acos": "acos",
    "Asin": "asin",
    "Atan": "atan",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Log": "log",
    "Reciprocal": "reciprocal",
    "Sigmoid": "sigmoid",
    "Sin": "sin",
    "Sinh": "sinh",
    "Asinh": "asinh",
    "Acosh": "acosh",
    "Atanh": "atanh",
    "Softsign": "softsign",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
    "Not": "logical_not",
}


def _direct(name: str) -> Callable[..., Any]:
    return lambda f, x: getattr(f, name)(x)


operators({type: _direct(name) for type, name in _SAME.items()})


def is_float(f: Any, x: Any) -> bool:
    """Whether a value is of a floating-point type."""
    return f.type_of(x).kind == "f"


operators(
    {
        "Identity": lambda f, x: x,
        "Floor": lambda f, x: f.floor(x) if is_float(f, x) else x,
        "Ceil": lambda f, x: f.ceil(x) if is_float(f, x) else x,
        "IsNaN": lambda f, x: f.isnan_v2(x),
        "BitwiseNot": lambda f, x: f.bitwise_xor(x, np.invert(f.like(0, x))),
        "Max": lambda f, *xs: reduce(f.maximum, xs),
        "Min": lambda f, *xs: reduce(f.minimum, xs),
        "Mean": lambda f, *xs: f.scale(total(f, *xs), scale=1.0 / len(xs)),
    }
)


@operator("Neg")
def neg(f: Any, x: Any) -> Any:
    return f.scale(x, scale=-1.0) if is_float(f, x) else f.elementwise_sub(f.like(0, x), x)


@operator("Abs")
def absolute(f: Any, x: Any) -> Any:
    if is_float(f, x):
        return f.abs(x)
    return x if f.type_of(x).kind == "u" else f.maximum(x, neg(f, x))


@operator("Sign")
def sign(f: Any, x: Any) -> Any:
    if is_float(f, x):
        return f.sign(x)
    zero, kind = f.like(0, x), f.type_of(x)
    return f.elementwise_sub(f.to(f.greater_than(x, zero), kind), f.to(f.less_than(x, zero), kind))


@operator("Round")
def rounded(f: Any, x: Any) -> Any:
    """To the nearest integer, halves to the even one."""
    half = f.like(0.5, x)
    down = f.floor(x)
    rest = f.elementwise_sub(x, down)
    odd = f.elementwise_sub(down, f.scale(f.floor(f.scale(down, scale=0.5)), scale=2.0))
    is_half = f.to(f.equal(rest, half), f.type_of(x))
    above = f.to(f.greater_than(rest, half), f.type_of(x))
    return f.elementwise_add(down, f.elementwise_add(above, f.elementwise_mul(is_half, odd)))


@operator("IsInf")
def is_inf(f: Any, x: Any, *, detect_negative: int = 1, detect_positive: int = 1) -> Any:
    infinite = f.isinf_v2(x)
    if not detect_negative:
        infinite = f.logical_and(infinite, f.greater_than(x, f.like(0, x)))
    if not detect_positive:
        infinite = f.logical_and(infinite, f.less_than(x, f.like(0, x)))
    return infinite


@operator("Cast", unread=["round_mode"])
def cast(f: Any, x: Any, *, to: int, saturate: int = 1) -> Any:
    return cast_to(f, x, numpy_type(to) if to not in HELD else to, saturate)


def cast_to(f: Any, x: Any, kind: Any, saturate: int = 1) -> Any:
    """A value in another element type; what is not zero is true.

    Args:
        kind: the type, or the number of one that variables have not.
        saturate: whether what is too large becomes the largest number of a type of short floats.
    """
    if isinstance(x, Widened) and x.number == kind:
        return x
    x = bare(x)
    if kind == BFLOAT16:
        return Widened(f.to(x, "float32"), kind)
    if isinstance(kind, int):
        short = HELD[kind][0].kind == "f"
        return to_short_floats(f, x, kind, saturate) if short else wrapped(f, x, kind)
    if np.dtype(kind).kind == "b" and f.type_of(x).kind != "b":
        return f.not_equal(x, f.like(0, x))
    return f.to(x, kind)


def to_short_floats(f: Any, x: Any, number: int, saturate: int = 1) -> Widened:
    """The nearest numbers of a type that has few, halves to the even one: the place of each is how
    many of the middles between neighbours lie below it.
    """
    values = magnitudes(number)
    need_room(*(max(n, 1) for n in f.sizes(x)), len(values))
    x = f.to(x, "float32")
    size, most = f.abs(x), values[-1]
    if saturate:
        size = f.minimum(size, f.like(most, size))
    beyond = np.float32(2 * most - values[-2])
    ends = np.append(values, beyond)
    middles = (ends[:-1] + ends[1:]) / 2
    wide = f.added(size, f.ndim(size))
    to_next = np.where(np.arange(len(middles)) % 2, middles, np.float32(np.inf))
    above = f.logical_or(f.greater_than(wide, middles), f.equal(wide, to_next))
    place = f.summed(f.to(above, "int64"), [f.ndim(size)], keep=False)
    table = np.append(values, np.float32(np.inf if number == 19 else np.nan))
    nearest = gather(f, table, place)
    nearest = f.where(f.spread(f.less_than(x, f.like(0, x)), nearest), neg(f, nearest), nearest)
    if len(values) > 8:  # there are others than numbers
        nearest = f.where(f.equal(x, x), nearest, x)
    return Widened(nearest, number)


@operator("CastLike", unread=["round_mode"])
def cast_like(f: Any, x: Any, like: Any, *, saturate: int = 1) -> Any:
    kind = like.number if isinstance(like, Widened) else f.type_of(like)
    return cast_to(f, x, kind, saturate)


# -- of two ----------------------------------------------------------------------------------------


def _pair(name: str) -> Callable[..., Any]:
    def build(f: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
        return getattr(f, name)(x, y, axis=axis) if axis != -1 else getattr(f, name)(x, y)

    return build


operators(
    {
        "Add": _pair("elementwise_add"),
        "Sub": _pair("elementwise_sub"),
        "Mul": _pair("elementwise_mul"),
        "Less": _pair("less_than"),
        "LessOrEqual": _pair("less_equal"),
        "Greater": _pair("greater_than"),
        "GreaterOrEqual": _pair("greater_equal"),
        **{f"Bitwise{name}": _pair(f"bitwise_{name.lower()}") for name in ("And", "Or", "Xor")},
    },
    unread=["broadcast"],
)


@operator("Equal", unread=["broadcast"])
def equal(f: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
    if f.type_of(x).kind == "b":
        x, y = f.to(x, "int32"), f.to(y, "int32")
    return f.equal(x, y, axis=axis)


@operator("Div", unread=["broadcast"])
def div(f: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
    return (f.elementwise_div if is_float(f, x) else f.elementwise_floordiv)(x, y, axis=axis)


@operator("Pow", unread=["broadcast"])
def power(f: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
    kind, exponent = f.type_of(x), f.elements(y)
    if exponent is not None and exponent.size == 1 and is_float(f, x) and f.ndim(y) <= f.ndim(x):
        return f.pow(x, factor=float(exponent.reshape(-1)[0]))
    if f.type_of(y) == kind:
        return f.elementwise_pow(x, y, axis=axis)
    if kind.kind == "f" or f.type_of(y).kind != "f":
        return f.elementwise_pow(x, f.to(y, kind))
    return f.to(f.elementwise_pow(f.to(x, "float64"), f.to(y, "float64")), kind)


@operator("Mod")
def mod(f: Any, x: Any, y: Any, *, fmod: int = 0) -> Any:
    """The rest has the sign of y, or that of x for ``fmod``."""
    if not fmod:
        return f.remainder(x, y)
    if is_float(f, x):
        whole = f.trunc(f.elementwise_div(x, y))
        return f.elementwise_sub(x, f.elementwise_mul(y, whole))
    return f.elementwise_sub(x, f.elementwise_mul(f.elementwise_floordiv(x, y), y))


@operator("BitShift")
def bit_shift(f: Any, x: Any, y: Any, *, direction: str) -> Any:
    """Shifts by at least the width, or by less than 0, leave nothing but the sign."""
    kind = f.type_of(x)
    width = kind.itemsize * 8 - (kind.kind == "i")
    if direction == "LEFT":
        return f.elementwise_mul(x, f.elementwise_pow(f.like(2, x), y))
    inside = f.logical_and(f.greater_equal(y, f.like(0, y)), f.less_than(y, f.like(width, y)))
    inside = f.to(inside, kind)
    factor = f.elementwise_pow(f.like(2, x), f.elementwise_mul(y, inside))
    sign = f.elementwise_sub(f.like(0, x), f.to(f.less_than(x, f.like(0, x)), kind))
    beyond = f.elementwise_sub(f.like(1, x), inside)
    return f.elementwise_add(
        f.elementwise_mul(f.floor_divide(x, factor), inside), f.elementwise_mul(sign, beyond)
    )


def _logical(name: str) -> Callable[..., Any]:
    def build(f: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
        if axis != -1:
            y = f.added(y, *range(f.ndim(y), f.ndim(x) - axis))
        return getattr(f, name)(f.spread(x, y), f.spread(y, x))

    return build


operators(
    {name: _logical(f"logical_{name.lower()}") for name in ("And", "Or", "Xor")},
    unread=["broadcast"],
)


@operator("PRelu")
def prelu(f: Any, x: Any, slope: Any, *, opset: int) -> Any:
    if opset < 7 and f.ndim(slope) == 1:  # one for each channel
        slope = f.reshaped(slope, [-1, *[1] * (f.ndim(x) - 2)])
    if not is_float(f, x):
        return f.elementwise_add(
            f.maximum(x, f.like(0, x)), f.elementwise_mul(slope, f.minimum(x, f.like(0, x)))
        )
    negative = f.scale(f.relu(f.scale(x, scale=-1.0)), scale=-1.0)
    return f.elementwise_add(f.relu(x), f.elementwise_mul(negative, slope))


# -- of several ------------------------------------------------------------------------------------


@operator("Sum")
def total(f: Any, *xs: Any) -> Any:
    return reduce(f.elementwise_add, xs)


@operator("Where")
def where(f: Any, condition: Any, x: Any, y: Any) -> Any:
    condition, x, y = (f.spread(v, condition, x, y) for v in (condition, x, y))
    return f.where(condition, x, y)


def clipped(f: Any, x: Any, low: Any, high: Any) -> Any:
    """The elements of a value within bounds, which may be absent."""
    known = [f.elements(b) for b in (low, high) if b is not None]
    if is_float(f, x) and len(known) == 2 and all(b is not None and b.size == 1 for b in known):
        least, most = (float(b.reshape(-1)[0]) for b in known)
        if least <= most:
            return f.clip(x, min=least, max=most)
    out = x if low is None else f.maximum(x, low)
    return out if high is None else f.minimum(out, high)


@operator("Clip", fixed=["min", "max"], moved=["min", "max"])
def clip(f: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    return clipped(f, x, *(None if v is None else f.to(v, f.type_of(x)) for v in (min, max)))


def lowest(dtype: Any) -> Any:
    """The smallest element of a type."""
    if dtype.kind == "f":
        return -math.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def highest(dtype: Any) -> Any:
    """The largest element of a type."""
    if dtype.kind == "f":
        return math.inf
    return True if dtype.kind == "b" else np.iinfo(dtype).max
