"""Arrays of values with their derivative along one direction, in numbers and in a prime field.

The numbers say which branch a kink takes, and how large things are; the field says what is equal.
Products, ratios and functions have their textbook derivatives here and nowhere else, so what is
found knows nothing of the rules of operators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ...ground.values import Elements
from .field import Exact, NotExactError, PrimeField, chosen
from .functions import FUNCTIONS

#: an array of numbers, or of residues
Part: TypeAlias = Any


class Jet:
    """An array, and its derivative along the direction; None where it does not move."""

    __slots__ = ("at", "slope")

    def __init__(self, at: Part, slope: Part = None) -> None:
        self.at = at
        self.slope = slope

    def times(self, factor: Part) -> Part:
        """The derivative times a factor."""
        return None if self.slope is None else self.slope * factor


def _of_arrays(method: Callable[[Dual, Any], Any]) -> Callable[[Dual, Any], Any]:
    """A method of two operands that leaves values of other kinds, as tapes have, to these."""

    @wraps(method)
    def either(self: Dual, other: Any) -> Any:
        is_array = isinstance(other, (Dual, np.ndarray, np.generic, Real))
        return method(self, other) if is_array else NotImplemented

    return either


def _reflected(method: Callable[[Dual, Any], Any]) -> Callable[[Dual, Any], Any]:
    """The method of two operands where the dual number is the second one."""

    @_of_arrays
    def reflected(self: Dual, other: Any) -> Any:
        return method(lifted(self.field, other), self)

    return reflected


class Dual(Elements):
    """An array of numbers that kernels compute with as with NumPy's.

    Args:
        field: the prime field.
        real: what it is in numbers.
        exact: what it is in the field; None where it has no meaning there.
    """

    __slots__ = ("exact", "field", "real")
    #: whatever a program says: constants that kernels make are not rounded to single precision
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)
    __array_ufunc__ = None  # NumPy's arrays leave operators to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, field: PrimeField, real: Jet, exact: Jet | None) -> None:
        self.field = field
        self.real = real
        self.exact = exact

    # -- as an array -------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return tuple(self.real.at.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.real.at.ndim)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self.real.at.size)

    @property
    def nbytes(self) -> int:
        """The bytes that a program's array has."""
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> Dual:
        """The array with its dimensions in reverse."""
        return moved(self, np.transpose)

    def __len__(self) -> int:
        return len(self.real.at)

    def __getitem__(self, index: Any) -> Dual:
        return moved(self, lambda array: array[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        def place(arrays: list[Any]) -> Any:
            changed = np.array(arrays[0])
            changed[index] = arrays[1]
            return changed

        changed = picked([self, value], place)
        self.real, self.exact = changed.real, changed.exact

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def reshape(self, *shape: Any) -> Dual:
        """The elements in another shape."""
        sizes = shape[0] if len(shape) == 1 else shape
        return moved(self, lambda array: array.reshape(sizes))

    def transpose(self, *axes: Any) -> Dual:
        """The dimensions in another order."""
        return moved(self, lambda array: array.transpose(*axes))

    def swapaxes(self, one: int, other: int) -> Dual:
        """Two dimensions in each other's place."""
        return moved(self, lambda array: array.swapaxes(one, other))

    def ravel(self) -> Dual:
        """The elements in a row."""
        return self.reshape(-1)

    def squeeze(self, axis: Any = None) -> Dual:
        """The array without dimensions of size 1."""
        return moved(self, lambda array: array.squeeze(axis))

    def repeat(self, repeats: Any, axis: Any = None) -> Dual:
        """Elements several times."""
        return moved(self, lambda array: array.repeat(repeats, axis))

    def copy(self) -> Dual:
        """The array itself, since nothing changes it."""
        return self

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The array under another element type; plain numbers where that has no fractions."""
        wanted = np.dtype(dtype)
        if wanted.kind in "fc":
            return self
        return self.real.at.astype(wanted)

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Dual:
        """Sums along dimensions."""
        return summed(self, axis, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Dual:
        """Means along dimensions."""
        found = summed(self, axis, keepdims)
        return found * lifted(self.field, np.float64(found.size / max(self.size, 1)))

    def max(self, axis: Any = None, keepdims: bool = False) -> Dual:
        """The largest elements along dimensions."""
        return extreme(self, np.argmax, axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Dual:
        """The least elements along dimensions."""
        return extreme(self, np.argmin, axis, keepdims)

    def argmax(self, axis: Any = None) -> Any:
        """Where the largest elements are."""
        return self.real.at.argmax(axis)

    def argsort(self, axis: int = -1, kind: Any = None) -> Any:
        """The order of the elements."""
        return self.real.at.argsort(axis, kind)

    def any(self, axis: Any = None) -> Any:
        """Whether elements are not zero."""
        return self.real.at.any(axis)

    def all(self, axis: Any = None) -> Any:
        """Whether no element is zero."""
        return self.real.at.all(axis)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.real.slope is not None:
            raise TypeError("an array that moves has no plain elements")
        return np.asarray(self.real.at, dtype)

    def __array_function__(self, called: Any, types: Any, args: Any, named: Any) -> Any:
        return getattr(self.field.functions, called.__name__)(*args, **named)

    # -- arithmetic --------------------------------------------------------------------------------

    @_of_arrays
    def __add__(self, other: Any) -> Dual:
        return _both(_plus, self, other)

    @_of_arrays
    def __sub__(self, other: Any) -> Dual:
        return _both(_plus, self, -lifted(self.field, other))

    @_of_arrays
    def __mul__(self, other: Any) -> Dual:
        return _both(_times, self, other)

    @_of_arrays
    def __truediv__(self, other: Any) -> Dual:
        return _both(_over, self, other)

    @_of_arrays
    def __matmul__(self, other: Any) -> Dual:
        return multiplied(self, other)

    def __neg__(self) -> Dual:
        return _both(_negative, self)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        return self * np.sign(self.real.at).astype(np.int64)  # 0 where it has a kink

    @_of_arrays
    def __pow__(self, other: Any) -> Dual:
        return power(self, other)

    __radd__, __rsub__, __rmul__ = map(_reflected, (__add__, __sub__, __mul__))
    __rtruediv__, __rmatmul__, __rpow__ = map(_reflected, (__truediv__, __matmul__, __pow__))

    @_of_arrays
    def __floordiv__(self, other: Any) -> Dual:
        return lifted(self.field, np.floor_divide(self.real.at, numbers(other)))

    @_of_arrays
    def __mod__(self, other: Any) -> Dual:
        return self - (self // other) * other

    @_of_arrays
    def __lt__(self, other: Any) -> Any:
        return self.real.at < numbers(other)

    @_of_arrays
    def __le__(self, other: Any) -> Any:
        return self.real.at <= numbers(other)

    @_of_arrays
    def __gt__(self, other: Any) -> Any:
        return self.real.at > numbers(other)

    @_of_arrays
    def __ge__(self, other: Any) -> Any:
        return self.real.at >= numbers(other)

    def __eq__(self, other: object) -> Any:
        return self.real.at == numbers(other)

    def __ne__(self, other: object) -> Any:
        return self.real.at != numbers(other)


# -- making ----------------------------------------------------------------------------------------


def numbers(value: Any) -> Any:
    """What a value is in numbers."""
    return value.real.at if isinstance(value, Dual) else value


def lifted(field: PrimeField, value: Any) -> Dual:
    """A value that does not move, as an array here.

    Args:
        field: the prime field.
        value: a number, or an array of NumPy's.
    """
    if isinstance(value, Dual):
        return value
    array = np.asarray(value)
    try:
        exact = Jet(field.constant(array))
    except NotExactError:
        exact = None
    return Dual(field, Jet(array.astype(np.float64)), exact)


def _both(formula: Callable[..., Jet], *values: Any) -> Dual:
    """A formula of jets, in numbers and in the field."""
    field = next(each.field for each in values if isinstance(each, Dual))
    duals = [lifted(field, each) for each in values]
    known = [each.exact for each in duals]
    exact = None
    if None not in known:
        exact = formula(*known)
    return Dual(field, formula(*[each.real for each in duals]), exact)


# -- formulas --------------------------------------------------------------------------------------


def _shaped(part: Part, like: Part) -> Part:
    """A derivative in the shape of its value."""
    shape = (like.values if isinstance(like, Exact) else like).shape
    if isinstance(part, Exact):
        return part.moved(lambda array: np.broadcast_to(array, shape))
    return np.broadcast_to(part, shape)


def _joined(one: Part, other: Part, like: Part) -> Part:
    """The sum of two derivatives, of which any may be none."""
    if one is None or other is None:
        moving = other if one is None else one
        return None if moving is None else _shaped(moving, like)
    return _shaped(one + other, like)


def _plus(a: Jet, b: Jet) -> Jet:
    at = a.at + b.at
    return Jet(at, _joined(a.slope, b.slope, at))


def _negative(a: Jet) -> Jet:
    return Jet(-a.at, None if a.slope is None else -a.slope)


def _times(a: Jet, b: Jet) -> Jet:
    at = a.at * b.at
    return Jet(at, _joined(a.times(b.at), b.times(a.at), at))


def _over(a: Jet, b: Jet) -> Jet:
    inverse = inverted(b.at)
    at = a.at * inverse
    return Jet(at, _joined(a.times(inverse), b.times(-(at * inverse)), at))


def inverted(part: Part) -> Part:
    """One over each element."""
    return part.inverse() if isinstance(part, Exact) else 1.0 / part


def moved(x: Dual, move: Callable[[Any], Any]) -> Dual:
    """What a function that only moves, repeats or drops elements makes of an array."""
    slopes = x.real.slope
    real = Jet(np.asarray(move(x.real.at)), None if slopes is None else np.asarray(move(slopes)))
    exact = None
    if x.exact is not None:
        slope = x.exact.slope
        exact = Jet(x.exact.at.moved(move), None if slope is None else slope.moved(move))
    return Dual(x.field, real, exact)


def picked(values: list[Any], choose: Callable[[list[Any]], Any]) -> Dual:
    """What a function makes each element of which is one of some arrays'.

    Args:
        values: the arrays.
        choose: takes a list of plain ones.
    """
    field = next(each.field for each in values if isinstance(each, Dual))
    duals = [lifted(field, each) for each in values]

    def select(parts: list[Part]) -> Part:
        if isinstance(parts[0], Exact):
            return chosen(parts, choose)
        return np.asarray(choose(parts))

    known = [each.exact for each in duals]
    exact = None if None in known else _picked(known, select)
    return Dual(field, _picked([each.real for each in duals], select), exact)


def _picked(jets: list[Any], select: Callable[[list[Part]], Part]) -> Jet:
    at = select([each.at for each in jets])
    if all(each.slope is None for each in jets):
        return Jet(at)
    slopes = [_nothing(each.at) if each.slope is None else each.slope for each in jets]
    return Jet(at, select(slopes))


def _nothing(part: Part) -> Part:
    """Zeros in the form of an array."""
    if isinstance(part, Exact):
        return part.field.constant(np.zeros(part.values.shape, np.int64))
    return np.zeros(part.shape)


def combined(combine: Callable[..., Any], terms: int, *values: Any) -> Dual:
    """A function that is linear in each of its arguments.

    Args:
        combine: takes plain arrays, of numbers or of integers.
        terms: how many products are added for one element.
        values: the arguments.
    """

    def of_parts(*parts: Part) -> Part:
        if isinstance(parts[0], Exact):
            return parts[0].combined(combine, terms, *parts[1:])
        return np.asarray(combine(*parts))

    def formula(*jets: Jet) -> Jet:
        at = of_parts(*[each.at for each in jets])
        slope = None
        for k, jet in enumerate(jets):
            if jet.slope is not None:
                parts = [each.at for each in jets]
                parts[k] = jet.slope
                slope = _joined(slope, of_parts(*parts), at)
        return Jet(at, slope)

    return _both(formula, *values)


def summed(x: Dual, axis: Any, keepdims: bool) -> Dual:
    """Sums along dimensions."""
    axis = axis if axis is None or isinstance(axis, int) else tuple(axis)
    kept = np.sum(np.empty(x.shape, bool), axis=axis).size
    terms = x.size // max(kept, 1)
    return combined(lambda array: np.sum(array, axis=axis, keepdims=keepdims), terms, x)


def multiplied(a: Any, b: Any) -> Dual:
    """The product of matrices."""
    return combined(np.matmul, a.shape[-1], a, b)


def extreme(x: Dual, where: Callable[..., Any], axis: Any, keepdims: bool) -> Dual:
    """The largest or least elements along dimensions, the first of equal ones."""
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted(each % max(x.ndim, 1) for each in axes)
    rest = [k for k in range(x.ndim) if k not in axes]
    flat = x.transpose([*rest, *axes]).reshape([*(x.shape[k] for k in rest), -1])
    best = where(flat.real.at, axis=-1)[..., None]
    found = moved(flat, lambda array: np.take_along_axis(array, best, -1)[..., 0])
    return (
        found.reshape([1 if k in axes else n for k, n in enumerate(x.shape)]) if keepdims else found
    )


# -- functions -------------------------------------------------------------------------------------


def function(name: str, x: Dual) -> Dual:
    """A function of each element that is no ratio of polynomials."""
    numeric, slope, formula = FUNCTIONS[name]
    at = numeric(x.real.at)
    real = Jet(at, None if x.real.slope is None else x.real.slope * slope(x.real.at, at))
    exact = None
    if x.exact is not None:
        value, factor = formula(x.field, x.exact.at)
        exact = Jet(value, x.exact.times(factor))
    return Dual(x.field, real, exact)


def power(x: Dual, exponent: Any) -> Dual:
    """Powers of each element."""
    if not isinstance(exponent, Dual):
        exponent = lifted(x.field, exponent)
    at = exponent.real.at
    whole = at.flat[0] if at.size else 1.0
    if exponent.real.slope is None and (at == whole).all() and whole == int(whole) <= _POWERS:
        return _whole_power(x, int(whole)) * lifted(x.field, np.ones(at.shape))
    root = exponent.real.slope is None and (at == 0.5).all()
    return function("sqrt", x) if root and not at.ndim else _both(_power, x, exponent)


_POWERS = 64  #: powers up to it are products


def _whole_power(x: Dual, count: int) -> Dual:
    if count < 0:
        return 1.0 / _whole_power(x, -count)
    product, square = lifted(x.field, np.ones(x.shape)), x
    while count:
        product = product * square if count & 1 else product
        count >>= 1
        square = square * square if count else square
    return product


def _power(x: Jet, exponent: Jet) -> Jet:
    if isinstance(x.at, Exact):
        field = x.at.field
        at = field.function("power", x.at, exponent.at)
        logarithm = field.function("log", x.at)
    else:
        at, logarithm = np.power(x.at, exponent.at), np.log(x.at)
    by_base = x.times(at * exponent.at * inverted(x.at))
    by_exponent = exponent.times(at * logarithm)
    return Jet(at, _joined(by_base, by_exponent, at))
