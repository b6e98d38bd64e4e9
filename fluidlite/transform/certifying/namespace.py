"""The array functions that kernels call, on arrays with derivatives.

Whole numbers and truths are arrays of NumPy's; what has fractions is a :class:`Dual`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend import numpy_
from ...errors import FluidError
from .field import PrimeField
from .jets import (
    Dual,
    combined,
    extreme,
    function,
    lifted,
    moved,
    multiplied,
    numbers,
    picked,
    power,
    summed,
)


def _applied(name: str) -> Callable[[Any, Any], Any]:
    """A method: a function of each element, of which :func:`function` knows the derivative."""
    return lambda self, x: self._function(name, x)


class NoMeaningError(FluidError, NotImplementedError):
    """A kernel calls something that derivatives are not known of."""


def _is_dual(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_is_dual(each) for each in value)
    return isinstance(value, Dual)


#: functions that only move, repeat or drop elements of their first argument
_MOVES = (
    "reshape", "transpose", "moveaxis", "swapaxes", "expand_dims", "squeeze", "broadcast_to",
    "take", "take_along_axis", "roll", "flip", "repeat", "tile", "diagonal", "ascontiguousarray",
    "ravel", "windows", "rot90",
)  # fmt: skip
#: functions that ask for numbers alone, and give whole ones or truths
_LOOKS = (
    "argsort", "argmax", "argmin", "argpartition", "argwhere", "flatnonzero", "nonzero", "isnan",
    "isinf", "isfinite", "any", "all", "searchsorted", "lexsort", "segment_argmax", "allclose",
    "shape", "ndim", "size", "count_nonzero", "signbit", "isin", "array_equal", "isclose",
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and",
    "logical_or", "logical_not", "logical_xor",
)  # fmt: skip
#: functions that are constant between their jumps
_STEPS = ("sign", "floor", "ceil", "round", "rint", "trunc")
#: functions that make arrays of what is no array
_MAKES = ("zeros", "ones", "full", "empty", "arange", "linspace", "eye", "tri", "identity")


padded: Any = np.pad


class Namespace:
    """The array namespace that kernels are given.

    Args:
        field: the prime field.
    """

    def __init__(self, field: PrimeField) -> None:
        self.field = field
        field.functions = self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = getattr(numpy_.xp, name)
        if name in _MOVES:
            member = self._mover(known)
        elif name in _LOOKS:
            member = _looker(known)
        elif name in _STEPS:
            member = self._step(known)
        elif name in _MAKES:
            member = self._maker(known)
        elif callable(known) and not isinstance(known, type):
            member = self._other(name, known)
        else:
            member = known
        self.__dict__[name] = member
        return member

    # -- families ----------------------------------------------------------------------------------

    def _mover(self, known: Callable[..., Any]) -> Callable[..., Any]:
        def move(x: Any, *args: Any, **named: Any) -> Any:
            if not isinstance(x, Dual):
                x = self.asarray(x) if _is_dual(x) else x
            if isinstance(x, Dual):
                return moved(x, lambda array: known(array, *args, **named))
            return self._made(known(x, *args, **named))

        return move

    def _step(self, known: Callable[..., Any]) -> Callable[..., Any]:
        def step(x: Any, *args: Any, **named: Any) -> Any:
            if not isinstance(x, Dual):
                return self._made(known(x, *args, **named))
            return lifted(self.field, known(x.real.at, *args, **named))

        return step

    def _maker(self, known: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **named: self._made(known(*args, **named))

    def _other(self, name: str, known: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if _is_dual(args) or _is_dual(list(named.values())):
                raise NoMeaningError(f"the derivative of {name} is not known here")
            return self._made(known(*args, **named))

        return call

    def _made(self, value: Any) -> Any:
        """A result of NumPy's as kernels get it."""
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return tuple(self._made(each) for each in value)
        if isinstance(value, (np.ndarray, np.floating)) and value.dtype.kind == "f":
            return lifted(self.field, value)
        return value

    # -- making ------------------------------------------------------------------------------------

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """A value as an array."""
        if isinstance(value, Dual):
            return value if dtype is None else value.astype(dtype)
        if _is_dual(value):
            made = self.stack([self.asarray(each) for each in value])
            return made if dtype is None else made.astype(dtype)
        array = np.asarray(value) if dtype is None else np.asarray(value, np.float64)
        if dtype is not None and np.dtype(dtype).kind != "f":
            return np.asarray(value, dtype)
        if array.dtype.kind != "f":
            return array
        return lifted(self.field, array)

    array = asarray

    def zeros_like(self, x: Any, dtype: Any = None) -> Any:
        """Zeros in the form of an array."""
        return self._filled(x, 0, dtype)

    def ones_like(self, x: Any, dtype: Any = None) -> Any:
        """Ones in the form of an array."""
        return self._filled(x, 1, dtype)

    def empty_like(self, x: Any, dtype: Any = None) -> Any:
        """Zeros in the form of an array."""
        return self._filled(x, 0, dtype)

    def full_like(self, x: Any, value: Any, dtype: Any = None) -> Any:
        """A number in the form of an array."""
        return self._filled(x, value, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Any:
        """A number in a shape."""
        value = self.asarray(value, dtype)
        return self.broadcast_to(value, shape)

    def _filled(self, x: Any, value: Any, dtype: Any) -> Any:
        if not isinstance(x, (Dual, np.ndarray)):
            return numpy_.xp.zeros_like(x)
        return self.full(x.shape, value, x.dtype if dtype is None else dtype)

    # -- choices -----------------------------------------------------------------------------------

    def where(self, condition: Any, *values: Any) -> Any:
        """One value or the other."""
        condition = numbers(condition)
        if not values:
            return np.where(condition)
        if not _is_dual(values):
            return self._made(np.where(condition, *values))
        return picked(list(values), lambda parts: np.where(condition, *parts))

    def maximum(self, a: Any, b: Any) -> Any:
        """The larger of two; of equal ones that which does not move, or else the first."""
        return self._better(numbers(a) > numbers(b), a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        """The smaller of two; of equal ones that which does not move, or else the first."""
        return self._better(numbers(a) < numbers(b), a, b)

    def _better(self, first: Any, a: Any, b: Any) -> Any:
        if isinstance(b, Dual) and b.real.slope is not None:
            first = first | (numbers(a) == numbers(b))
        return self.where(first, a, b)

    def clip(self, x: Any, least: Any = None, most: Any = None) -> Any:
        """The value, or a bound where it is outside."""
        x = x if least is None else self.maximum(x, least)
        return x if most is None else self.minimum(x, most)

    def concatenate(self, parts: Sequence[Any], axis: int = 0) -> Any:
        """Arrays one after the other."""
        return self._joined(parts, lambda arrays: np.concatenate(arrays, axis=axis))

    def stack(self, parts: Sequence[Any], axis: int = 0) -> Any:
        """Arrays side by side."""
        return self._joined(parts, lambda arrays: np.stack(arrays, axis=axis))

    def append(self, x: Any, more: Any, axis: Any = None) -> Any:
        """Elements behind an array's."""
        return self._joined([x, more], lambda arrays: np.append(arrays[0], arrays[1], axis=axis))

    def _joined(self, parts: Any, join: Callable[[list[Any]], Any]) -> Any:
        listed = list(parts)
        return picked(listed, join) if _is_dual(listed) else self._made(join(listed))

    def pad(self, x: Any, width: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
        """An array with a rim."""
        if not isinstance(x, Dual):
            x = self.asarray(x)
        if not isinstance(x, Dual):
            more = {"constant_values": constant_values} if mode == "constant" else {}
            return padded(x, width, mode, **more)
        if mode != "constant":
            return moved(x, lambda array: padded(array, width, mode))
        inside = np.pad(np.ones(x.shape, bool), width)

        def placed(array: Any) -> Any:
            made = np.zeros(inside.shape, array.dtype)
            made[inside] = array.ravel()
            return made

        around = moved(x, placed)
        return (
            around
            if np.all(constant_values == 0)
            else self.where(inside, around, self.asarray(constant_values, x.dtype))
        )

    def max(self, x: Any, axis: Any = None, keepdims: bool = False, **initial: Any) -> Any:
        """The largest elements."""
        return self._extreme(x, np.argmax, numpy_.xp.max, axis, keepdims, initial)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False, **initial: Any) -> Any:
        """The least elements."""
        return self._extreme(x, np.argmin, numpy_.xp.min, axis, keepdims, initial)

    amax, amin = max, min

    def _extreme(
        self, x: Any, where: Any, known: Any, axis: Any, keepdims: bool, initial: Any
    ) -> Any:
        if isinstance(x, Dual) and (not initial or x.size):
            return extreme(x, where, axis, keepdims)
        return self._made(known(numbers(x), axis=axis, keepdims=keepdims, **initial))

    def sort(self, x: Any, axis: int = -1) -> Any:
        """The elements in order."""
        if not isinstance(x, Dual):
            return np.sort(x, axis)
        order = np.argsort(x.real.at, axis)
        return moved(x, lambda array: np.take_along_axis(array, order, axis))

    def scatter_set(self, x: Any, index: Any, updates: Any) -> Any:
        """A copy with rows in place of others."""
        return self._joined(
            [x, updates], lambda arrays: numpy_.scatter_set(arrays[0], index, arrays[1])
        )

    def triu(self, x: Any, k: int = 0) -> Any:
        """The elements from a diagonal up, zero below."""
        return x * np.triu(np.ones(x.shape[-2:], np.int64), k)

    def tril(self, x: Any, k: int = 0) -> Any:
        """The elements from a diagonal down, zero above."""
        return x * np.tril(np.ones(x.shape[-2:], np.int64), k)

    def segment_max(self, x: Any, offsets: Any) -> Any:
        """The largest of rows that lie together; zero if there are none."""
        rows = numpy_.segment_argmax(numbers(x), np.asarray(offsets))
        found = self.take_along_axis(x, np.maximum(rows, 0), 0)
        return self.where(rows >= 0, found, self.zeros_like(found))

    # -- sums --------------------------------------------------------------------------------------

    def sum(self, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Sums along dimensions."""
        if isinstance(x, Dual):
            return summed(x, axis, keepdims)
        return self._made(np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims))

    def mean(self, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Means along dimensions."""
        if isinstance(x, Dual):
            return x.mean(axis, dtype, keepdims)
        return self._made(np.mean(x, axis=axis, keepdims=keepdims))

    def prod(self, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        """Products along dimensions."""
        if not isinstance(x, Dual):
            return self._made(np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims))
        axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        axes = sorted(each % x.ndim for each in axes)
        rest = [k for k in range(x.ndim) if k not in axes]
        flat = x.transpose([*rest, *axes]).reshape([*(x.shape[k] for k in rest), -1])
        product = lifted(self.field, np.ones(flat.shape[:-1]))
        for k in range(flat.shape[-1]):
            product = product * flat[..., k]
        sizes = [1 if k in axes else n for k, n in enumerate(x.shape)]
        return product.reshape(sizes) if keepdims else product

    def cumsum(self, x: Any, axis: Any = None, dtype: Any = None) -> Any:
        """Sums of all elements up to each."""
        if not isinstance(x, Dual):
            return self._made(np.cumsum(x, axis=axis, dtype=dtype))
        return combined(lambda array: np.cumsum(array, axis=axis), x.size, x)

    def diff(self, x: Any, n: int = 1, axis: int = -1, **named: Any) -> Any:
        """Differences of neighbours."""
        if not isinstance(x, Dual):
            return self._made(np.diff(x, n, axis, **named))
        return combined(lambda array: np.diff(array, n, axis), 2**n, x)

    def matmul(self, a: Any, b: Any) -> Any:
        """The product of matrices."""
        return multiplied(a, b) if _is_dual((a, b)) else self._made(np.matmul(a, b))

    def dot(self, a: Any, b: Any) -> Any:
        """The product of vectors or matrices."""
        return combined(np.dot, a.shape[-1], a, b) if _is_dual((a, b)) else self._made(np.dot(a, b))

    def einsum(self, formula: str, *values: Any) -> Any:
        """Sums of products, as the letters say."""
        if not _is_dual(values):
            return self._made(np.einsum(formula, *values))
        terms = 1
        for each in values:
            terms *= max(int(each.size), 1)
        return combined(lambda *arrays: np.einsum(formula, *arrays), terms, *values)

    def add_at(self, x: Any, index: Any, values: Any) -> Any:
        """An array with values added at an index."""
        return self._added(x, index, values, 2)

    def scatter_add(self, x: Any, index: Any, updates: Any) -> Any:
        """A copy with rows added to others."""
        return self._added(
            x, index, updates, 1 + (len(updates) if np.shape(numbers(updates)) else 1)
        )

    def _added(self, x: Any, index: Any, values: Any, terms: int) -> Any:
        if not _is_dual((x, values)):
            return self._made(numpy_.scatter_add(x, index, values))
        shape = x.shape

        def add(array: Any) -> Any:
            made = np.zeros(shape, array.dtype)
            np.add.at(made, index, array)
            return made

        return x + combined(add, terms, lifted(self.field, values))

    def segment_sum(self, x: Any, offsets: Any) -> Any:
        """The sums of rows that lie together."""
        offsets = np.asarray(offsets)
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        rows = x[offsets[0] : offsets[-1]] if len(offsets) else x
        return self.add_rows(owner, rows, len(offsets) - 1)

    def add_rows(self, index: Any, updates: Any, size: int) -> Any:
        """Zeros with rows added; those at -1 are left out."""
        kept = np.flatnonzero(np.asarray(index) >= 0)
        index, updates = np.asarray(index)[kept], updates[kept]
        return self.scatter_add(
            self.zeros((size, *updates.shape[1:]), updates.dtype), index, updates
        )

    # -- functions ---------------------------------------------------------------------------------

    def _function(self, name: str, x: Any) -> Any:
        return function(name, x if isinstance(x, Dual) else self.asarray(x, np.float32))

    exp, expm1, log, sqrt, sin, cos, tan, tanh, arcsin, arccos, arctan, erf = map(
        _applied,
        ("exp", "expm1", "log", "sqrt", "sin", "cos", "tan", "tanh")
        + ("arcsin", "arccos", "arctan", "erf"),
    )

    def log1p(self, x: Any) -> Any:
        """Logarithms of 1 + x."""
        return self._function("log", x + 1)

    def sinh(self, x: Any) -> Any:
        """Hyperbolic sines."""
        power = self._function("exp", x)
        return (power - 1 / power) / 2

    def cosh(self, x: Any) -> Any:
        """Hyperbolic cosines."""
        power = self._function("exp", x)
        return (power + 1 / power) / 2

    def log2(self, x: Any) -> Any:
        """Logarithms to the base 2."""
        return self._function("log", x) / math.log(2)

    def log10(self, x: Any) -> Any:
        """Logarithms to the base 10."""
        return self._function("log", x) / math.log(10)

    def meshgrid(self, *axes: Any, **named: Any) -> Any:
        """Each axis spread over all others."""
        places = np.meshgrid(*[np.arange(len(axis)) for axis in axes], **named)
        return [axis[place] for axis, place in zip(axes, places)]

    def erfc(self, x: Any) -> Any:
        """1 less the error function."""
        return 1 - self._function("erf", x)

    def logaddexp(self, a: Any, b: Any) -> Any:
        """The logarithm of the sum of two powers of e."""
        return a + self._function("softplus", b - a)

    def abs(self, x: Any) -> Any:
        """What a value is without its sign."""
        return abs(x)

    absolute = abs

    def square(self, x: Any) -> Any:
        """Squares."""
        return x * x

    def reciprocal(self, x: Any) -> Any:
        """One over each."""
        return 1 / x

    def power(self, x: Any, exponent: Any) -> Any:
        """Powers."""
        if not _is_dual((x, exponent)):
            return self._made(np.power(x, exponent))
        return power(lifted(self.field, x), exponent)

    def add(self, a: Any, b: Any) -> Any:
        """Sums."""
        return a + b

    def subtract(self, a: Any, b: Any) -> Any:
        """Differences."""
        return a - b

    def multiply(self, a: Any, b: Any) -> Any:
        """Products."""
        return a * b

    def divide(self, a: Any, b: Any) -> Any:
        """Ratios."""
        return a / b

    true_divide = divide

    def negative(self, x: Any) -> Any:
        """Values with the other sign."""
        return -x

    def mod(self, a: Any, b: Any) -> Any:
        """Remainders with the sign of the divisor."""
        return a % b

    def fmod(self, a: Any, b: Any) -> Any:
        """Remainders with the sign of the dividend."""
        if not _is_dual((a, b)):
            return self._made(np.fmod(a, b))
        return a - lifted(self.field, np.trunc(numbers(a) / numbers(b))) * b

    def copysign(self, x: Any, sign: Any) -> Any:
        """Values with the signs of others."""
        return abs(x) * np.where(np.signbit(numbers(sign)), -1, 1)

    def in_range(self, index: Any, size: int, what: str) -> Any:
        """An index, after a look at its values."""
        return numpy_.in_range(index, size, what)


def _looker(known: Callable[..., Any]) -> Callable[..., Any]:
    def look(*args: Any, **named: Any) -> Any:
        plain = [numbers(each) for each in args]
        return known(*plain, **{name: numbers(each) for name, each in named.items()})

    return look
