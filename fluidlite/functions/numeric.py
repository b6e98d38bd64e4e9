"""Functions of numbers: quotients, divisors, fractions and exponents, areas, polynomials."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ArgumentError, ShapeError
from ..ground.brain_float import kind_of
from ..ground.callsite import warn_once
from ..ground.spellings import parameters_of
from ..opdef.operand import Operand
from ..opdef.spec import normal_axis
from .arithmetic import add, multiply, operands, pow, true_divide, whole_quotient
from .composed import diff
from .elementary import cast, floats
from .items import get_item
from .mixing import default_float
from .reduction import cumsum, of_number, one_axis
from .reduction import sum as total
from .shaping import reshape, stack

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from .arguments import DTypeLike, Other


def divide(x: Other, y: Other, name: str | None = None) -> Tensor:
    """x / y; that of two tensors of one integer type has this type, rounded towards zero, with a
    warning.

    >>> fluid.divide(fluid.to_tensor([1.0, 6.0]), fluid.to_tensor([2.0, 3.0])).tolist()
    [0.5, 2.0]
    """
    kinds = {each.array.dtype if isinstance(each, Operand) else None for each in (x, y)}
    dtype = kinds.pop()
    if kinds or dtype is None or kind_of(dtype) in "fc":
        return true_divide(x, y)
    warn_once(
        f"divide: that of {dtype} is {dtype}, without a fraction, as in paddle; for the quotient "
        f"write x / y"
    )
    return whole_quotient(x, y)


def gcd(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The greatest divisor that two integers have in common.

    >>> fluid.gcd(fluid.to_tensor([12, -18]), fluid.to_tensor(8)).tolist()
    [4, 2]
    """
    return eager.gcd(*operands(x, y, "gcd"))


def lcm(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The least multiple that two integers have in common.

    >>> fluid.lcm(fluid.to_tensor([12, 6]), fluid.to_tensor(8)).tolist()
    [24, 24]
    """
    return eager.lcm(*operands(x, y, "lcm"))


def nextafter(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The next number after x towards y that its element type has.

    >>> fluid.nextafter(fluid.to_tensor([1.0]), fluid.to_tensor([2.0])).item() - 1
    1.1920928955078125e-07
    """
    return eager.nextafter(*operands(x, y, "nextafter"))


def frexp(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Fractions in [0.5, 1), with the sign of x, and the powers of 2 that make x of them.

    >>> fraction, exponent = fluid.frexp(fluid.to_tensor([3.0, -0.5]))
    >>> fraction.tolist(), exponent.tolist()
    ([0.75, -0.5], [2.0, 0.0])
    """
    fraction, exponent = eager.frexp(x)
    return fraction, exponent


def ldexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """x times 2 to the power of y.

    Args:
        x: a tensor; integers count as fractions.
        y: a tensor of exponents.

    >>> fluid.ldexp(fluid.to_tensor([1.0, 3.0]), fluid.to_tensor([2, -1])).tolist()
    [4.0, 1.5]
    """
    for each in (x, y):
        if not isinstance(each, Operand):
            raise ArgumentError(f"ldexp: expected two tensors, got {each!r:.60}")
    wide = "float64" in (x.array.dtype.name, y.array.dtype.name)
    dtype = "float64" if wide else default_float().name
    exponent = cast(y, dtype)
    two: Any = eager.fill_any_like(exponent, value=2.0)
    return multiply(cast(x, dtype), pow(two, exponent))


def heaviside(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """0 where x is negative, 1 where it is positive, and y where it is 0.

    >>> x = fluid.to_tensor([-1.0, 0.0, 2.0])
    >>> fluid.heaviside(x, fluid.to_tensor(0.5)).tolist()
    [0.0, 0.5, 1.0]
    """
    return eager.elementwise_heaviside(*operands(x, y, "heaviside"))


def logcumsumexp(
    x: Tensor, axis: int | None = None, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """The logarithms of the sums of e^x up to each element, without overflow.

    Args:
        x: a tensor of fractions.
        axis: along which dimension; when None, x is flattened.
        dtype: the element type to compute in.

    >>> fluid.logcumsumexp(fluid.to_tensor([0.0, 0.0])).numpy().round(4).tolist()
    [0.0, 0.6930999755859375]
    """
    x = floats(x) if dtype is None else cast(x, dtype)
    if axis is None:
        return eager.logcumsumexp(x, flatten=True)
    if not x.array.ndim:
        return of_number(logcumsumexp, x, axis)
    return eager.logcumsumexp(x, axis=one_axis(x, axis))


def trapezoid(
    y: Tensor,
    x: Tensor | None = None,
    dx: float | Tensor | None = None,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """The area under a curve, whose points are joined by straight lines.

    Args:
        y: the height of points, fractions.
        x: where they stand: of y's shape, or a vector for one dimension.
        dx: the distance between them where ``x`` is not given; 1 when None.
        axis: the dimension that points lie along.

    Raises:
        ArgumentError: both x and dx are given, or the tensors hold no fractions.

    >>> float(fluid.trapezoid(fluid.to_tensor([1.0, 3.0, 5.0]), dx=2.0))
    12.0
    """
    return total(_strips(y, x, dx, axis), axis)


@parameters_of(trapezoid)
def cumulative_trapezoid(y: Tensor, x: Any, dx: Any, axis: int, *given: Any) -> Tensor:
    """The areas under a curve up to each point but the first.

    >>> fluid.cumulative_trapezoid(fluid.to_tensor([1.0, 3.0, 5.0])).tolist()
    [2.0, 6.0]
    """
    return cumsum(_strips(y, x, dx, axis), axis)


def _strips(y: Any, x: Any, dx: Any, axis: int) -> Any:
    """The areas between neighbouring points."""
    if x is not None and dx is not None:
        raise ArgumentError("expected x or dx, got both")
    for each in (y, x):
        if each is not None and each.array.dtype.kind != "f":
            raise ArgumentError(f"expected tensors of fractions, got {each.array.dtype}")
    along = normal_axis(axis, y.array.ndim)
    before = (slice(None),) * along
    ends = [get_item(y, (*before, s)) for s in (slice(1, None), slice(None, -1))]
    width = (1.0 if dx is None else dx) if x is None else _widths(y, x, along)
    return multiply(multiply(add(*ends), width), 0.5)


def _widths(y: Any, x: Any, along: int) -> Any:
    if x.array.ndim != 1:
        return diff(x, axis=along)
    widths = diff(x)
    after = y.array.ndim - along - 1
    return reshape(widths, [-1, *[1] * after]) if after else widths


def vander(
    x: Tensor, n: int | None = None, increasing: bool = False, name: str | None = None
) -> Tensor:
    """The powers of the elements of a vector, a row for each.

    Args:
        x: a vector.
        n: how many powers, from 0; as many as elements when None.
        increasing: from the smallest power on, not from the largest.

    Raises:
        ArgumentError: n is negative.
        ShapeError: x is no vector.

    >>> fluid.vander(fluid.to_tensor([2.0, 3.0]), 3).tolist()
    [[4.0, 2.0, 1.0], [9.0, 3.0, 1.0]]
    """
    if x.array.ndim != 1:
        raise ShapeError(f"vander: expected a vector, got shape {list(x.array.shape)}")
    count = +x.array.shape[0] if n is None else n
    if count < 0:
        raise ArgumentError(f"vander: expected n from 0, got {n}")
    if not count:
        return reshape(get_item(x, slice(0)), [+x.array.shape[0], 0])
    powers: list[Any] = [eager.fill_any_like(x, value=1.0)]
    while len(powers) < count:
        powers.append(multiply(powers[-1], x) if len(powers) > 1 else x)
    return stack(powers if increasing else powers[::-1], 1)


def combinations(
    x: Tensor, r: int = 2, with_replacement: bool = False, name: str | None = None
) -> Tensor:
    """All choices of some elements of a vector, a row for each.

    Args:
        x: a vector.
        r: how many elements are chosen.
        with_replacement: whether an element may be chosen again.

    Raises:
        ArgumentError: x is no vector, or r no integer from 0.

    >>> fluid.combinations(fluid.to_tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    if x.array.ndim != 1:
        raise ArgumentError(f"combinations: expected a vector, got shape {list(x.array.shape)}")
    if not isinstance(r, int) or r < 0:
        raise ArgumentError(f"combinations: expected r to be an integer from 0, got {r!r}")
    if not r:
        return get_item(x, slice(0))
    ways = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array([*ways(range(+x.array.shape[0]), r)], "int64").reshape(-1, r)
    return get_item(x, places)
