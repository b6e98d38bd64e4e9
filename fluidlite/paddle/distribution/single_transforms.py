"""Transforms that are one function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ArgumentError
from ...functions.arithmetic import pow as power_of
from ...functions.composed import atanh
from ...functions.creation import full_like
from ...functions.elementary import abs as absolute
from ...functions.elementary import exp, log, log1p, tanh
from ...functions.reduction import cumprod, cumsum
from ...functions.reduction import sum as total
from ...functions.shaping import concat, reshape
from ...ground.aliases import Alias
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...nn.functional import sigmoid, softmax, softplus
from . import constraint, variable
from .distribution import stretched
from .transforming import Transform, Type, need_tensor

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


class AbsTransform(Transform):
    """The absolute values; :meth:`inverse` gives both numbers of each."""

    _type = Type.SURJECTION

    def _forward(self, x: Any) -> Any:
        return absolute(x)

    def _inverse(self, y: Any) -> Any:
        return -y, y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        zero = full_like(reshape(y, [-1])[0], 0)
        return zero, zero

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive


class AffineTransform(Transform):
    """``loc + scale * x``.

    Args:
        loc, scale: tensors.

    Raises:
        ArgumentError: they are none.
    """

    _type = Type.BIJECTION

    def __init__(self, loc: Tensor, scale: Tensor) -> None:
        self._loc: Tensor = need_tensor("AffineTransform", "loc", loc)
        self._scale: Tensor = need_tensor("AffineTransform", "scale", scale)

    loc: Alias[Tensor] = Alias("_loc", "What is added.")
    scale: Alias[Tensor] = Alias("_scale", "What numbers are multiplied by.")

    def _forward(self, x: Any) -> Any:
        return self._loc + self._scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self._loc) / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(absolute(self._scale))

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return _widened(shape, self._loc, self._scale)

    _inverse_shape = _forward_shape


class PowerTransform(Transform):
    """``x ** power``, of numbers from 0.

    Args:
        power: a tensor.

    Raises:
        ArgumentError: it is none.
    """

    _type = Type.BIJECTION

    def __init__(self, power: Tensor) -> None:
        self._power: Tensor = need_tensor("PowerTransform", "power", power)

    @property
    def power(self) -> Tensor:
        """The exponent."""
        return self._power

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return power_of(x, self._power)

    def _inverse(self, y: Any) -> Any:
        return power_of(y, 1.0 / self._power)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return log(absolute(self._power * power_of(x, self._power - 1.0)))

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return _widened(shape, self._power)

    _inverse_shape = _forward_shape


def _widened(shape: tuple[int, ...], *tensors: Any) -> Sequence[int]:
    """What a shape and those of tensors broadcast to."""
    return stretched(*tensors, shape=shape)


class ExpTransform(Transform):
    """``e ** x``."""

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.positive

    def _forward(self, x: Any) -> Any:
        return exp(x)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return x


class SigmoidTransform(Transform):
    """``1 / (1 + e ** -x)``."""

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(0.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """The hyperbolic tangent."""

    _type = Type.BIJECTION

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 0, constraint.Range(-1.0, 1.0))

    def _forward(self, x: Any) -> Any:
        return tanh(x)

    def _inverse(self, y: Any) -> Any:
        return atanh(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class _ToShares(Transform):
    @property
    def _domain(self) -> variable.Variable:
        return variable.Independent(variable.real, 1)

    @property
    def _codomain(self) -> variable.Variable:
        return variable.Variable(False, 1, constraint.simplex)


class SoftmaxTransform(_ToShares):
    """Shares of powers of e, along the last dimension; :meth:`inverse` gives one of the rows."""

    _type = Type.OTHER

    def _forward(self, x: Any) -> Any:
        return softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        if not shape:
            raise ArgumentError("SoftmaxTransform: expected a shape of one size or more, got ()")
        return shape

    _inverse_shape = _forward_shape


class StickBreakingTransform(_ToShares):
    """One number more than there are, which are from 0 and add up to 1, along the last dimension:
    a stick is broken again and again, each time at ``sigmoid(x - log(remaining numbers + 1))``.
    """

    _type = Type.BIJECTION

    def _forward(self, x: Any) -> Any:
        shares = sigmoid(x - log(_countdown(x)))
        rest = cumprod(1.0 - shares, -1)
        one = full_like(x[..., :1], 1)
        return concat([shares, one], -1) * concat([one, rest], -1)

    def _inverse(self, y: Any) -> Any:
        parts = y[..., :-1]
        rest = 1.0 - cumsum(parts, -1)
        return log(parts) - log(rest) + log(_countdown(parts))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        moved = x - log(_countdown(x))
        parts = self._forward(x)[..., :-1]
        return total(log(parts) - softplus(moved), -1)

    def _forward_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._longer(shape, 1)

    def _inverse_shape(self, shape: tuple[int, ...]) -> Sequence[int]:
        return self._longer(shape, -1)

    def _longer(self, shape: tuple[int, ...], by: int) -> Sequence[int]:
        if not shape:
            raise ArgumentError(
                "StickBreakingTransform: expected a shape of one size or more, got ()"
            )
        return (*shape[:-1], shape[-1] + by)


def _countdown(x: Any) -> Any:
    """n, n - 1, ..., 1 along the last dimension, in the shape of x."""
    return cumsum(full_like(x, 1), -1).flip([-1])


list_public_names(globals())
api_boundaries(globals())
