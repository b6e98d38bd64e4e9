"""Functions of each element of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..ground.dtypes import as_dtype
from ..opdef.operand import Operand
from .arithmetic import cast_to, default_float, number_type

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from ..eager.tensor_core import TensorCore


def exp(x: Tensor, name: str | None = None) -> Tensor:
    """e to the power of x."""
    return eager.exp(floats(x))


def expm1(x: Tensor, name: str | None = None) -> Tensor:
    """e to the power of x, less 1; exact for small x."""
    return eager.expm1(floats(x))


def log(x: Tensor, name: str | None = None) -> Tensor:
    """The natural logarithm of x."""
    return eager.log(floats(x))


def log2(x: Tensor, name: str | None = None) -> Tensor:
    """The logarithm of x to the base 2."""
    return eager.log2(floats(x))


def log10(x: Tensor, name: str | None = None) -> Tensor:
    """The logarithm of x to the base 10."""
    return eager.log10(floats(x))


def log1p(x: Tensor, name: str | None = None) -> Tensor:
    """The natural logarithm of 1 + x, exact for small x."""
    return eager.log1p(floats(x))


def sqrt(x: Tensor, name: str | None = None) -> Tensor:
    """The square root of x."""
    return eager.sqrt(floats(x))


def rsqrt(x: Tensor, name: str | None = None) -> Tensor:
    """1 over the square root of x."""
    return eager.rsqrt(floats(x))


def square(x: Tensor, name: str | None = None) -> Tensor:
    """x * x."""
    return eager.square(floats(x))


def reciprocal(x: Tensor, name: str | None = None) -> Tensor:
    """1 / x."""
    return eager.reciprocal(floats(x))


def sin(x: Tensor, name: str | None = None) -> Tensor:
    """The sine of x."""
    return eager.sin(floats(x))


def cos(x: Tensor, name: str | None = None) -> Tensor:
    """The cosine of x."""
    return eager.cos(floats(x))


def tan(x: Tensor, name: str | None = None) -> Tensor:
    """The tangent of x."""
    return eager.tan(floats(x))


def asin(x: Tensor, name: str | None = None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose sine is x."""
    return eager.asin(floats(x))


def acos(x: Tensor, name: str | None = None) -> Tensor:
    """The angle in [0, pi] whose cosine is x."""
    return eager.acos(floats(x))


def atan(x: Tensor, name: str | None = None) -> Tensor:
    """The angle in (-pi/2, pi/2) whose tangent is x."""
    return eager.atan(floats(x))


def sinh(x: Tensor, name: str | None = None) -> Tensor:
    """The hyperbolic sine of x."""
    return eager.sinh(floats(x))


def cosh(x: Tensor, name: str | None = None) -> Tensor:
    """The hyperbolic cosine of x."""
    return eager.cosh(floats(x))


def tanh(x: Tensor, name: str | None = None) -> Tensor:
    """The hyperbolic tangent of x."""
    return eager.tanh(floats(x))


def erf(x: Tensor, name: str | None = None) -> Tensor:
    """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""
    return eager.erf(floats(x))


def sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """1 / (1 + e^-x)."""
    return eager.sigmoid(floats(x))


def floor(x: Tensor, name: str | None = None) -> Tensor:
    """The largest integer that is not above x."""
    return eager.floor(floats(x))


def ceil(x: Tensor, name: str | None = None) -> Tensor:
    """The smallest integer that is not below x."""
    return eager.ceil(floats(x))


def round(x: Tensor, name: str | None = None) -> Tensor:
    """The integer nearest to x; halves go away from zero."""
    return eager.round(floats(x))


def trunc(x: Tensor, name: str | None = None) -> Tensor:
    """x without its fraction."""
    return eager.trunc(floats(x))


def floats(x: Any) -> Any:
    """A tensor as floats: integers and truth values are cast."""
    if isinstance(x, Operand) and x.array.dtype.kind != "f":
        return cast_to(x, default_float())
    return x


def abs(x: TensorCore, name: str | None = None) -> Tensor:
    """|x|; its gradient at 0 is 0.

    >>> fluid.abs(fluid.to_tensor([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return eager.abs(x)


def sign(x: Tensor, name: str | None = None) -> Tensor:
    """-1, 0 or 1, the sign of x."""
    return eager.sign(floats(x))


def neg(x: TensorCore, name: str | None = None) -> Tensor:
    """-x."""
    return eager.scale(x, scale=-1.0)


def clip(x: Tensor, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
    """x, kept in [min, max]; no gradient flows where it is outside.

    Args:
        x: a tensor.
        min, max: numbers or tensors of one element; None for no bound.

    >>> fluid.to_tensor([-1.0, 0.5, 2.0]).clip(0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    dtype = x.array.dtype
    if dtype.kind != "f":
        low, high = (None if bound is None else _bound(bound, dtype) for bound in (min, max))
        if x.appends is not None:
            x = x if low is None else eager.maximum(x, low)
            return x if high is None else eager.minimum(x, high)
        return x.results(np.clip(x.array, low, high))  # type: ignore[return-value]
    low = _bound(-np.inf if min is None else min, dtype)
    high = _bound(np.inf if max is None else max, dtype)
    return eager.clip(x, low, high, min=0.0, max=0.0)


def _bound(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, Operand) and value.appends is not None:
        return cast_to(value, dtype)
    return np.asarray(value.array if isinstance(value, Operand) else value, dtype).reshape(())


def scale(
    x: Tensor,
    scale: Any = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """scale x + bias, or scale (x + bias).

    Args:
        x: a tensor.
        scale: a number, or a tensor of one element.
        bias: a number.
        bias_after_scale: False: add the bias first.
        act: the operator type of an activation of the result.
    """
    given = scale if isinstance(scale, Operand) else None
    out = eager.scale(
        x,
        given,
        scale=1.0 if given is not None else float(scale),
        bias=float(bias),
        bias_after_scale=bias_after_scale,
    )
    return out if act is None else getattr(eager, act)(out)


def isfinite(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is a finite number."""
    return eager.isfinite_v2(x)


def isnan(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is not a number."""
    return eager.isnan_v2(x)


def isinf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is infinite."""
    return eager.isinf_v2(x)


def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """x + value, for x of one element."""
    kind = number_type(x.array.dtype, value)
    return eager.elementwise_add(x, np.asarray(value, kind).astype(x.array.dtype))


def cast(x: Tensor, dtype: Any) -> Tensor:
    """x in another element type.

    Args:
        x: a tensor.
        dtype: the element type: "float64", ``fluidlite.int32``, ...

    >>> fluid.cast(fluid.to_tensor([1.7, -1.7]), "int64").tolist()
    [1, -1]
    """
    return eager.cast(x, in_dtype=as_dtype(x.array.dtype), out_dtype=as_dtype(dtype))


def clone(x: Tensor, name: str | None = None) -> Tensor:
    """A copy of x that gradients flow through."""
    return eager.assign(x)
