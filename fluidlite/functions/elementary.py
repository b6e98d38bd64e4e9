"""Functions of each element of a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.recording import eager
from ..errors import ShapeError
from ..ground.brain_float import kind_of
from ..ground.dtypes import as_dtype
from ..opdef.operand import Operand
from .arithmetic import cast_to
from .mixing import default_float, number_type

if TYPE_CHECKING:
    from ..eager.tensor import Tensor
    from ..eager.tensor_core import TensorCore
    from .arguments import DTypeLike, Other


def floats(x: Any) -> Any:
    """A tensor as floats: integers and truth values are cast; complex numbers stay."""
    if isinstance(x, Operand) and kind_of(x.array.dtype) not in "fc":
        return cast_to(x, default_float())
    return x


def exp(x: Tensor, name: str | None = None) -> Tensor:
    """e to the power of x.

    >>> fluid.exp(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([1.    , 2.7183], dtype=float32)
    """
    return eager.exp(floats(x))


def expm1(x: Tensor, name: str | None = None) -> Tensor:
    """e to the power of x, less 1; exact for small x.

    >>> fluid.expm1(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 1.7183], dtype=float32)
    """
    return eager.expm1(floats(x))


def log(x: Tensor, name: str | None = None) -> Tensor:
    """The natural logarithm of x.

    >>> fluid.log(fluid.to_tensor([1.0, 10.0])).numpy().round(4)
    array([0.    , 2.3026], dtype=float32)
    """
    return eager.log(floats(x))


def log2(x: Tensor, name: str | None = None) -> Tensor:
    """The logarithm of x to the base 2.

    >>> fluid.log2(fluid.to_tensor([1.0, 8.0])).numpy().round(4)
    array([0., 3.], dtype=float32)
    """
    return eager.log2(floats(x))


def log10(x: Tensor, name: str | None = None) -> Tensor:
    """The logarithm of x to the base 10.

    >>> fluid.log10(fluid.to_tensor([1.0, 100.0])).numpy().round(4)
    array([0., 2.], dtype=float32)
    """
    return eager.log10(floats(x))


def log1p(x: Tensor, name: str | None = None) -> Tensor:
    """The natural logarithm of 1 + x, exact for small x.

    >>> fluid.log1p(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.6931], dtype=float32)
    """
    return eager.log1p(floats(x))


def sqrt(x: Tensor, name: str | None = None) -> Tensor:
    """The square root of x.

    >>> fluid.sqrt(fluid.to_tensor([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    return eager.sqrt(floats(x))


def rsqrt(x: Tensor, name: str | None = None) -> Tensor:
    """1 over the square root of x.

    >>> fluid.rsqrt(fluid.to_tensor([1.0, 4.0])).tolist()
    [1.0, 0.5]
    """
    return eager.rsqrt(floats(x))


def square(x: Tensor, name: str | None = None) -> Tensor:
    """x * x.

    >>> fluid.square(fluid.to_tensor([2.0, -3.0])).tolist()
    [4.0, 9.0]
    """
    return eager.square(x)


def reciprocal(x: Tensor, name: str | None = None) -> Tensor:
    """1 / x.

    >>> fluid.reciprocal(fluid.to_tensor([2.0, 4.0])).tolist()
    [0.5, 0.25]
    """
    return eager.reciprocal(floats(x))


def sin(x: Tensor, name: str | None = None) -> Tensor:
    """The sine of x.

    >>> fluid.sin(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.8415], dtype=float32)
    """
    return eager.sin(floats(x))


def cos(x: Tensor, name: str | None = None) -> Tensor:
    """The cosine of x.

    >>> fluid.cos(fluid.to_tensor([0.0, 3.1415927])).numpy().round(4)
    array([ 1., -1.], dtype=float32)
    """
    return eager.cos(floats(x))


def tan(x: Tensor, name: str | None = None) -> Tensor:
    """The tangent of x.

    >>> fluid.tan(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 1.5574], dtype=float32)
    """
    return eager.tan(floats(x))


def asin(x: Tensor, name: str | None = None) -> Tensor:
    """The angle in [-pi/2, pi/2] whose sine is x.

    >>> fluid.asin(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 1.5708], dtype=float32)
    """
    return eager.asin(floats(x))


def acos(x: Tensor, name: str | None = None) -> Tensor:
    """The angle in [0, pi] whose cosine is x.

    >>> fluid.acos(fluid.to_tensor([1.0, 0.0])).numpy().round(4)
    array([0.    , 1.5708], dtype=float32)
    """
    return eager.acos(floats(x))


def atan(x: Tensor, name: str | None = None) -> Tensor:
    """The angle in (-pi/2, pi/2) whose tangent is x.

    >>> fluid.atan(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.7854], dtype=float32)
    """
    return eager.atan(floats(x))


def sinh(x: Tensor, name: str | None = None) -> Tensor:
    """The hyperbolic sine of x.

    >>> fluid.sinh(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 1.1752], dtype=float32)
    """
    return eager.sinh(floats(x))


def cosh(x: Tensor, name: str | None = None) -> Tensor:
    """The hyperbolic cosine of x.

    >>> fluid.cosh(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([1.    , 1.5431], dtype=float32)
    """
    return eager.cosh(floats(x))


def tanh(x: Tensor, name: str | None = None) -> Tensor:
    """The hyperbolic tangent of x.

    >>> fluid.tanh(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.7616], dtype=float32)
    """
    return eager.tanh(floats(x))


def erf(x: Tensor, name: str | None = None) -> Tensor:
    """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.

    >>> fluid.erf(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.8427], dtype=float32)
    """
    return eager.erf(floats(x))


def sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """1 / (1 + e^-x).

    >>> fluid.sigmoid(fluid.to_tensor([0.0, 2.0])).numpy().round(4)
    array([0.5   , 0.8808], dtype=float32)
    """
    return eager.sigmoid(floats(x))


def floor(x: Tensor, name: str | None = None) -> Tensor:
    """The largest integer that is not above x.

    >>> fluid.floor(fluid.to_tensor([-1.5, 1.2])).tolist()
    [-2.0, 1.0]
    """
    return eager.floor(floats(x))


def ceil(x: Tensor, name: str | None = None) -> Tensor:
    """The smallest integer that is not below x.

    >>> fluid.ceil(fluid.to_tensor([-1.5, 1.2])).tolist()
    [-1.0, 2.0]
    """
    return eager.ceil(floats(x))


def round(x: Tensor, name: str | None = None) -> Tensor:
    """The integer nearest to x; halves go away from zero.

    >>> fluid.round(fluid.to_tensor([0.5, 1.2, -1.5])).tolist()
    [1.0, 1.0, -2.0]
    """
    return eager.round(floats(x))


def sign(x: Tensor, name: str | None = None) -> Tensor:
    """-1, 0 or 1, the sign of x.

    >>> fluid.sign(fluid.to_tensor([-1.5, 0.0, 2.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    made = eager.sign(floats(x))
    return made if x.array.dtype.kind not in "iu" else cast_to(made, x.array.dtype)


def isfinite(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is a finite number.

    >>> fluid.isfinite(fluid.to_tensor([1.0, np.inf, np.nan])).tolist()
    [True, False, False]
    """
    return eager.isfinite_v2(x)


def isnan(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is not a number.

    >>> fluid.isnan(fluid.to_tensor([1.0, np.inf, np.nan])).tolist()
    [False, False, True]
    """
    return eager.isnan_v2(x)


def isinf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is infinite.

    >>> fluid.isinf(fluid.to_tensor([1.0, np.inf, np.nan])).tolist()
    [False, True, False]
    """
    return eager.isinf_v2(x)


def trunc(input: Tensor, name: str | None = None) -> Tensor:
    """A tensor without its fractions; integers stay integers.

    >>> fluid.trunc(fluid.to_tensor([-1.5, 1.2])).tolist()
    [-1.0, 1.0]
    """
    made: Tensor = eager.trunc(floats(input))
    return cast_to(made, input.array.dtype) if input.array.dtype.kind in "iu" else made


def abs(x: TensorCore, name: str | None = None) -> Tensor:
    """|x|; its gradient at 0 is 0.

    >>> fluid.abs(fluid.to_tensor([-1.5, 2.0])).tolist()
    [1.5, 2.0]
    """
    return eager.abs(x)


def neg(x: TensorCore, name: str | None = None) -> Tensor:
    """-x; truth values stay as they are.

    >>> fluid.neg(fluid.to_tensor([1.0, -2.0])).tolist()
    [-1.0, 2.0]
    """
    dtype = x.array.dtype
    return cast_to(x, dtype) if dtype.kind == "b" else eager.scale(x, scale=-1.0)


def clip(
    x: Tensor, min: Other | None = None, max: Other | None = None, name: str | None = None
) -> Tensor:
    """x, kept in [min, max]; no gradient flows where it is outside.

    Args:
        x: a tensor.
        min, max: numbers or tensors of one element; None for no bound.

    >>> fluid.to_tensor([-1.0, 0.5, 2.0]).clip(0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    dtype = x.array.dtype
    if kind_of(dtype) not in "fc":
        low, high = (None if bound is None else _bound(bound, dtype) for bound in (min, max))
        if x.appends is not None:
            x = x if low is None else eager.maximum(x, low)
            return x if high is None else eager.minimum(x, high)
        return x.results(np.clip(x.array, low, high))
    low = _bound(-np.inf if min is None else min, dtype)
    high = _bound(np.inf if max is None else max, dtype)
    return eager.clip(x, low, high, min=0.0, max=0.0)


def _bound(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, Operand) and value.appends is not None:
        return cast_to(value, dtype)
    return np.asarray(value.array if isinstance(value, Operand) else value, dtype).reshape(())


def scale(
    x: Tensor,
    scale: float | Tensor = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """scale x + bias, or scale (x + bias); of truth values, whether it is not 0.

    Args:
        x: a tensor.
        scale: a number, or a tensor of one element.
        bias: a number.
        bias_after_scale: False: add the bias first.
        act: the operator type of an activation of the result.

    >>> fluid.scale(fluid.to_tensor([1.0, 2.0]), 3.0, bias=1.0).tolist()
    [4.0, 7.0]
    """
    factor = scale if isinstance(scale, Operand) else None
    truths = x.array.dtype.kind == "b" and factor is None
    if truths:  # where the result is not 0
        x, scale, bias = cast(x, "uint8"), scale != 0, bias != 0
    out = eager.scale(
        x,
        factor,
        scale=1.0 if factor is not None else float(scale),
        bias=float(bias),
        bias_after_scale=bias_after_scale,
    )
    out = cast(out, "bool") if truths else out
    return out if act is None else getattr(eager, act)(out)


def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """x, which becomes x + value.

    Args:
        x: of one element.
        value: a number.

    Raises:
        ShapeError: x has several elements.

    >>> x = fluid.to_tensor([1.0])
    >>> fluid.increment(x) is x, x.tolist()
    (True, [2.0])
    """
    shape = x.array.shape
    if any(+n > 1 for n in shape):
        raise ShapeError(f"expected x of one element, got shape {list(shape)}")
    number = np.asarray(value, number_type(x.array.dtype, value)).astype(x.array.dtype)
    written: Tensor = x.write(lambda old: eager.elementwise_add(old, number))
    return written


def cast(x: Tensor, dtype: DTypeLike) -> Tensor:
    """x in another element type.

    Args:
        x: a tensor.
        dtype: the element type: "float64", ``fluidlite.int32``, ...

    >>> fluid.cast(fluid.to_tensor([1.7, -1.7]), "int64").tolist()
    [1, -1]
    """
    return eager.cast(x, in_dtype=as_dtype(x.array.dtype), out_dtype=as_dtype(dtype))


def clone(x: Tensor, name: str | None = None) -> Tensor:
    """A copy of x that gradients flow through.

    >>> fluid.clone(fluid.to_tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return eager.assign(x)
