"""Functions of single elements that paddle's spelling lacks, or spells otherwise."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..eager import engine
from ..eager.flat import kinked
from ..eager.function import PyLayer
from ..eager.recording import eager
from ..errors import ArgumentError
from ..functions import arithmetic, composed, elementary, mixing, selection, shaping
from ..functions.elementary import floats, rsqrt, square
from ..opdef.operand import Operand
from .spelling import ONEFLOW

if TYPE_CHECKING:
    from ..functions.arguments import Other
    from .spelling import Function
    from .tensor import Tensor


def _smooth(
    compute: Callable[[Any], Any],
    slope: Callable[[Any], Any],
    composition: Callable[..., Any],
    name: str,
    doc: str,
) -> Function:
    """A function of tensors, from one of arrays, its derivative, one of tensors, and the same
    composed of others, which variables of programs take.
    """

    def forward(ctx: Any, x: Any) -> Tensor:
        ctx.save_for_backward(x)
        return x.results(np.asarray(compute(x.array), x.array.dtype))

    def backward(ctx: Any, gradient: Any) -> Tensor:
        (x,) = ctx.saved_tensor()
        return arithmetic.multiply(gradient, slope(x))

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    at_once: Any = type(name, (PyLayer,), members)

    def smooth(input: Tensor) -> Tensor:
        x = floats(input)
        return at_once.apply(x) if x.appends is None else composition(x)

    smooth.__name__ = smooth.__qualname__ = name
    smooth.__doc__ = inspect.cleandoc(doc)
    return smooth


def _more(x: Any, number: float) -> Tensor:
    return arithmetic.add(x, number)


asinh: Function = _smooth(
    np.arcsinh,
    lambda x: rsqrt(_more(square(x), 1.0)),
    composed.asinh,
    "asinh",
    """The number whose hyperbolic sine is x.

    >>> fluid.flow.asinh(fluid.flow.tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.8814], dtype=float32)
    """,
)
acosh: Function = _smooth(
    np.arccosh,
    lambda x: rsqrt(_more(square(x), -1.0)),
    composed.acosh,
    "acosh",
    """The number whose hyperbolic cosine is x; NaN below 1.

    >>> fluid.flow.acosh(fluid.flow.tensor([1.0, 2.0])).numpy().round(4)
    array([0.   , 1.317], dtype=float32)
    """,
)
atanh: Function = _smooth(
    np.arctanh,
    lambda x: 1.0 / _more(-square(x), 1.0),
    composed.atanh,
    "atanh",
    """The number whose hyperbolic tangent is x; NaN outside of [-1, 1].

    >>> fluid.flow.atanh(fluid.flow.tensor([0.0, 0.5])).numpy().round(4)
    array([0.    , 0.5493], dtype=float32)
    """,
)
exp2: Function = _smooth(
    np.exp2,
    lambda x: arithmetic.multiply(exp2(x), math.log(2.0)),
    lambda x: arithmetic.pow(2.0, x),
    "exp2",
    """2 to the power of x.

    >>> fluid.flow.exp2(fluid.flow.tensor([3.0]))
    tensor([8.], dtype=oneflow.float32)
    """,
)
log10: Function = ONEFLOW(elementary.log10)
mul: Function = ONEFLOW(arithmetic.multiply, "mul")
atan2: Function = ONEFLOW(arithmetic.atan2)
maximum: Function = ONEFLOW(arithmetic.shared_maximum)
minimum: Function = ONEFLOW(arithmetic.shared_minimum)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow.

    >>> fluid.flow.logsigmoid(fluid.flow.tensor([0.0, 2.0])).numpy().round(4)
    array([-0.6931, -0.1269], dtype=float32)
    """
    return eager.logsigmoid(floats(input))


def erfc(input: Tensor) -> Tensor:
    """1 - erf(x), which stays exact where that is small.

    >>> float(fluid.flow.erfc(fluid.flow.tensor(3.0)))
    2.209...e-05
    """
    return eager.erfc(floats(input))


def clamp(
    input: Tensor, min: Tensor | float | None = None, max: Tensor | float | None = None
) -> Tensor:
    """The elements kept in [min, max]; what lies outside becomes the bound, and has no gradient.

    Args:
        input: a tensor.
        min, max: numbers, or tensors; None for no bound, but not both.

    Raises:
        ArgumentError: there is no bound.

    >>> fluid.flow.clamp(fluid.flow.tensor([-2.0, 0.5, 3.0]), min=-1.0, max=1.0).tolist()
    [-1.0, 0.5, 1.0]
    """
    if min is None and max is None:
        raise engine.located(ArgumentError, "clamp: expected min, max or both, got neither")
    several = any(isinstance(bound, Operand) and bound.array.size != 1 for bound in (min, max))
    if not several:
        if input.array.dtype.kind != "f":
            return elementary.clip(input, min, max)
        input, min, max = kinked(input), _number(min, input), _number(max, input)
    low = input if min is None else selection.chosen(arithmetic.less_than(input, min), min, input)
    return low if max is None else selection.chosen(arithmetic.greater_than(low, max), max, low)


def _number(bound: Any, beside: Tensor) -> Any:
    """A bound of one element without dimensions, in the element type of what it bounds."""
    if not isinstance(bound, Operand):
        return bound
    return shaping.reshape(elementary.cast(bound, beside.array.dtype), [])


def round(input: Tensor) -> Tensor:
    """The integer nearest to each element; halves go to the even one.

    >>> fluid.flow.round(fluid.flow.tensor([0.5, 1.5, 2.5])).tolist()
    [0.0, 2.0, 2.0]
    """
    x = floats(input)
    fraction = elementary.abs(arithmetic.subtract(x, elementary.trunc(x)))
    even = arithmetic.multiply(elementary.round(arithmetic.multiply(x, 0.5)), 2.0)
    return selection.chosen(arithmetic.equal(fraction, 0.5), even, elementary.round(x))


def _clamp_on(side: str, other: str, said: str, example: str) -> Function:
    """A function that keeps elements on one side of a number."""
    call = f"fluid.flow.clamp_{side}(fluid.flow.tensor([0.0, 2.0]), 1.0).tolist()"
    doc = f"The elements, but at {said} a number.\n\n>>> {call}\n{example}"
    one_sided = {"fixed": {other: None}, "defaults": {side: ...}}
    return ONEFLOW(clamp, f"clamp_{side}", doc, scope=globals(), **one_sided)


clamp_min: Function = _clamp_on("min", "max", "least", "[1.0, 2.0]")
clamp_max: Function = _clamp_on("max", "min", "most", "[0.0, 1.0]")


def add(input: Tensor, other: Other = 0, *more: Other, alpha: float = 1) -> Tensor:
    """input + alpha * other.

    Args:
        input: a tensor or a number; or a list of tensors, which are summed up.
        other: a tensor or a number.
        more: further ones, which are added as they are.
        alpha: a factor of ``other``.

    Raises:
        ArgumentError: alpha is a fraction, and both tensors hold integers.

    >>> x = fluid.flow.ones(2)
    >>> fluid.flow.add(x, x, alpha=3), fluid.flow.add(x, x, x)
    (tensor([4., 4.], dtype=oneflow.float32), tensor([3., 3.], dtype=oneflow.float32))
    """
    if isinstance(input, (list, tuple)):
        return composed.add_n(list(input))
    total = arithmetic.add(input, _times(input, other, alpha))
    for each in more:
        total = arithmetic.add(total, each)
    return total


def sub(input: Tensor, other: Other, *, alpha: float = 1) -> Tensor:
    """input - alpha * other.

    >>> x = fluid.flow.tensor([3.0, 4.0])
    >>> fluid.flow.sub(x, fluid.flow.tensor([1.0, 1.0]), alpha=2).tolist()
    [1.0, 2.0]
    """
    return arithmetic.subtract(input, _times(input, other, alpha))


def _times(input: Any, other: Any, alpha: float) -> Any:
    if alpha == 1:
        return other
    kinds = [each.array.dtype.kind for each in (input, other) if isinstance(each, Operand)]
    if isinstance(alpha, float) and "f" not in kinds and isinstance(other, Operand):
        raise engine.located(
            ArgumentError, f"expected alpha to be an integer for tensors of integers, got {alpha!r}"
        )
    return other * alpha


def div(input: Tensor, other: Other, *, rounding_mode: str | None = None) -> Tensor:
    """input / other.

    Args:
        input, other: tensors or numbers.
        rounding_mode: "floor" rounds the quotient down, "trunc" towards 0.

    Raises:
        ArgumentError: there is no such mode.

    >>> fluid.flow.div(fluid.flow.tensor([7.0, -7.0]), 2.0, rounding_mode="floor").tolist()
    [3.0, -4.0]
    """
    quotient = arithmetic.true_divide(input, other)
    modes = {None: lambda x: x, "floor": elementary.floor, "trunc": elementary.trunc}
    if rounding_mode not in modes:
        raise engine.located(
            ArgumentError,
            f"expected rounding_mode None, 'floor' or 'trunc', got {rounding_mode!r:.60}",
        )
    return modes[rounding_mode](quotient)


@overload
def where(condition: Tensor, x: None = None, y: None = None) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Tensor, x: Other, y: Other) -> Tensor: ...
def where(
    condition: Tensor, x: Other | None = None, y: Other | None = None
) -> Tensor | tuple[Tensor, ...]:
    """x where a condition holds, y elsewhere; the places where it holds when they are left out.

    Args:
        condition: truth values.
        x, y: tensors or numbers.

    >>> fluid.flow.where(fluid.flow.tensor([True, False]), 1.0, 2.0).tolist()
    [1.0, 2.0]
    """
    if x is None and y is None:
        return selection.indices_of(condition)
    if not isinstance(x, Operand) and not isinstance(y, Operand):
        kind = np.result_type(*[np.asarray(each) for each in (x, y)])
        kind = mixing.default_float() if kind.kind == "f" else kind
        x, y = (condition.results(np.asarray(each, kind)) for each in (x, y))
    return selection.where(arithmetic.truths(condition), x, y)


absolute: Function = elementary.abs
arccos: Function = elementary.acos
arcsin: Function = elementary.asin
arctan: Function = elementary.atan
negative: Function = elementary.neg
arccosh: Function = acosh
arcsinh: Function = asinh
arctanh: Function = atanh
clip: Function = clamp
