"""Arithmetic in a prime field, with bounds of degrees.

A polynomial that is not zero is zero at a random point of a field of p elements with a probability
of at most its degree over p (Schwartz, Fast probabilistic algorithms for verification of polynomial
identities, J. ACM 27, 1980; Zippel 1979).  A function that is no ratio of polynomials, as ``exp``,
is an unknown of its own for each argument: what is equal whatever these are is equal.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from ...errors import FluidError

#: exponents of Mersenne's primes, 2^k - 1
EXPONENTS = (61, 127, 521, 1279, 2203, 4423)
#: bounds numerator times denominator of what a number of single precision may stand for
_SIMPLE = 1 << 20
#: numbers beyond have no single precision
_LEAST, _MOST = 1e-37, 3e38


class NotExactError(FluidError, ArithmeticError):
    """A value has no meaning in the field."""


class ZeroDivisorError(FluidError, ZeroDivisionError):
    """The point that was drawn is a pole: another one is to be drawn."""


class Degree(NamedTuple):
    """Bounds of the degrees of the two polynomials whose ratio a value is."""

    above: int
    below: int

    def plus(self, other: Degree) -> Degree:
        """Of a sum."""
        if not self.below and not other.below:
            return Degree(max(self.above, other.above), 0)
        above = max(self.above + other.below, other.above + self.below)
        return Degree(above, self.below + other.below)

    def times(self, other: Degree) -> Degree:
        """Of a product."""
        return Degree(self.above + other.above, self.below + other.below)

    def over(self, other: Degree) -> Degree:
        """Of a ratio."""
        return Degree(self.above + other.below, self.below + other.above)

    def either(self, other: Degree) -> Degree:
        """Of one of two values."""
        return Degree(max(self.above, other.above), max(self.below, other.below))

    def added(self, count: int) -> Degree:
        """Of a sum of as many values."""
        more = max(count - 1, 0) * self.below
        return Degree(self.above + more, self.below + more)

    @property
    def most(self) -> int:
        """The larger one."""
        return max(self)


CONSTANT, UNKNOWN = Degree(0, 0), Degree(1, 0)


class PrimeField:
    """The integers modulo a prime, and what was drawn of them.

    Args:
        exponent: the prime is 2^exponent - 1.
        seed: of what is drawn.
    """

    def __init__(self, exponent: int, seed: int) -> None:
        self.exponent = exponent
        self.prime: int = (1 << exponent) - 1
        self.seed = seed
        self.unknowns: set[int] = set()  #: the values of functions that are no ratios
        self.widest = 0  #: the largest degree of an argument of these
        self.functions: Any = None  #: the namespace that arrays of the field are computed with
        self._draws = 0

    def drawn(self, key: str) -> int:
        """A residue that follows from the seed and a key."""
        size = self.exponent // 8 + 16  # so that all residues are equally likely, but for 2^-120
        bits = b""
        for k in range(-(-size // 64)):
            bits += blake2b(f"{self.seed}/{k}/{key}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(bits[:size], "little") % self.prime

    def draw(self, shape: tuple[int, ...]) -> Exact:
        """Unknowns, one for each element; others at every call."""
        self._draws += 1
        flat = [self.drawn(f"draw/{self._draws}/{k}") for k in range(int(np.prod(shape)))]
        return Exact(self, _objects(flat, shape), UNKNOWN)

    def constant(self, array: Any) -> Exact:
        """Numbers, each as the fraction that it stands for.

        Raises:
            NotExactError: one of them is not finite.
        """
        array = np.asarray(array)
        if array.dtype.kind in "biu":
            values = [each % self.prime for each in array.ravel().tolist()]
        else:
            values = [self._residue(x) for x in array.ravel().tolist()]
        return Exact(self, _objects(values, array.shape), CONSTANT)

    def _residue(self, number: float) -> int:
        ratio = _fraction(number)
        return ratio.numerator * pow(ratio.denominator, -1, self.prime) % self.prime

    def function(self, name: str, *arguments: Exact) -> Exact:
        """The values of a function that is no ratio: an unknown for each list of arguments."""
        shape = np.broadcast_shapes(*[each.values.shape for each in arguments])
        columns = [np.broadcast_to(each.values, shape).ravel().tolist() for each in arguments]
        values = [self.drawn(f"{name}{row}") for row in zip(*columns)]
        self.unknowns.update(values)
        self.widest = max(self.widest, *[2 * each.degree.most for each in arguments])
        return Exact(self, _objects(values, shape), UNKNOWN)

    def exponential(self, x: Exact) -> Exact:
        """Unknowns for ``exp``, of which that of -x is one over that of x."""
        half = self.prime >> 1
        turned = np.asarray(x.values > half, bool)
        there = np.where(turned, -x.values % self.prime, x.values)
        positive = self.function("exp", Exact(self, _array(there), x.degree))
        values = np.where(turned, positive.inverse().values, positive.values)
        return Exact(self, _array(values), Degree(1, 1))


def fraction_of(number: float) -> Fraction:
    """The fraction that a number stands for: the simplest one that it is the nearest number of
    single precision to, or else that number's own value.  Attributes of operators are of single
    precision, so constants that differ by less are equal.

    Args:
        number: a float.

    Raises:
        NotExactError: it is not finite.
    """
    if not np.isfinite(number):
        raise NotExactError(f"expected a finite number, got {number}")
    if number and not _LEAST < abs(number) < _MOST:
        return Fraction(number)
    single = np.float32(number)
    exact = Fraction(float(single))
    before, ratio, rest = (1, 0), (int(exact // 1), 1), exact % 1
    while abs(ratio[0]) * ratio[1] < _SIMPLE:
        if np.float32(ratio[0] / ratio[1]) == single:
            return Fraction(*ratio)
        if not rest:
            break
        whole, rest = divmod(1 / rest, 1)  # the next term of the continued fraction
        before, ratio = ratio, (whole * ratio[0] + before[0], whole * ratio[1] + before[1])
    return exact


_fraction = lru_cache(maxsize=4096)(fraction_of)


class Exact:
    """An array of residues, and a bound of the degree of what they are values of.

    Args:
        field: that they belong to.
        values: Python's integers, from 0 to below the prime.
        degree: of every element.
    """

    __slots__ = ("degree", "field", "values")

    def __init__(self, field: PrimeField, values: Any, degree: Degree) -> None:
        self.field = field
        self.values = values
        self.degree = degree

    def _made(self, values: Any, degree: Degree) -> Exact:
        return Exact(self.field, _array(_array(values) % self.field.prime), degree)

    def __add__(self, other: Exact) -> Exact:
        return self._made(self.values + other.values, self.degree.plus(other.degree))

    def __sub__(self, other: Exact) -> Exact:
        return self._made(self.values - other.values, self.degree.plus(other.degree))

    def __mul__(self, other: Exact) -> Exact:
        return self._made(self.values * other.values, self.degree.times(other.degree))

    def __neg__(self) -> Exact:
        return self._made(-self.values, self.degree)

    def inverse(self) -> Exact:
        """One over each element.

        Raises:
            ZeroDivisorError: one of them is zero.
        """
        prime = self.field.prime
        flat = self.values.ravel().tolist()
        if 0 in flat:
            raise ZeroDivisorError("the point that was drawn is a pole of the program")
        inverses = _objects(_inverses(flat, prime), self.values.shape)
        return Exact(self.field, inverses, Degree(0, 0).over(self.degree))

    def moved(self, move: Callable[[Any], Any]) -> Exact:
        """What a function that only moves, repeats or drops elements makes of them."""
        return Exact(self.field, _array(move(self.values)), self.degree)

    def combined(self, combine: Callable[[Any], Any], terms: int, *others: Exact) -> Exact:
        """What a function makes that is linear in each of its arguments, of integers.

        Args:
            combine: takes the values, and those of the others.
            terms: how many products are added for one element.
            others: further arguments.
        """
        degree = self.degree
        for each in others:
            degree = degree.times(each.degree)
        made = combine(self.values, *[each.values for each in others])
        return self._made(made, degree.added(terms))


def chosen(parts: list[Exact], choose: Callable[[list[Any]], Any]) -> Exact:
    """What a function makes each element of which is one of some arrays'.

    Args:
        parts: the arrays.
        choose: takes their values.
    """
    degree = parts[0].degree
    for each in parts[1:]:
        degree = degree.either(each.degree)
    return Exact(parts[0].field, _array(choose([each.values for each in parts])), degree)


def _inverses(numbers: list[int], prime: int) -> list[int]:
    """One over each number, at the price of one inverse and three products a number."""
    products, product = [], 1
    for number in numbers:
        products.append(product)
        product = product * number % prime
    inverse = pow(product, -1, prime)
    inverses = [0] * len(numbers)
    for k in range(len(numbers) - 1, -1, -1):
        inverses[k] = inverse * products[k] % prime
        inverse = inverse * numbers[k] % prime
    return inverses


def _objects(values: list[int], shape: tuple[int, ...]) -> Any:
    made = np.empty(len(values), object)
    made[:] = values
    return made.reshape(shape)


def _array(values: Any) -> Any:
    """An array of objects; NumPy gives a bare integer for an array of no dimensions."""
    if isinstance(values, np.ndarray):
        return values if values.dtype == object else values.astype(object)
    made = np.empty((), object)
    made[()] = values
    return made
