"""Functions between layers that write their result in the place of what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...eager.tensor import Tensor
from . import activation


def _written(x: Tensor, function: Callable[..., Any], *options: Any) -> Any:
    return x.write(lambda old: function(old, *options))


def relu_(x: Tensor, name: str | None = None) -> Tensor:
    """max(x, 0), in place.

    >>> x = fluid.to_tensor([-1.0, 2.0])
    >>> fluid.nn.functional.relu_(x) is x, x.tolist()
    (True, [0.0, 2.0])
    """
    return _written(x, activation.relu)


def tanh_(x: Tensor, name: str | None = None) -> Tensor:
    """The hyperbolic tangent, in place."""
    return _written(x, activation.tanh)


def elu_(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """x where it is positive, alpha (e^x - 1) elsewhere, in place."""
    return _written(x, activation.elu, alpha)


def hardtanh_(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """x, kept in [min, max], in place."""
    return _written(x, activation.hardtanh, min, max)


def leaky_relu_(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """x where it is positive, negative_slope x elsewhere, in place."""
    return _written(x, activation.leaky_relu, negative_slope)


def softmax_(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """e^x divided by its sum along a dimension, in place."""
    return _written(x, activation.softmax, axis, dtype)


def thresholded_relu_(x: Tensor, threshold: float = 1.0, name: str | None = None) -> Tensor:
    """x where it is above the threshold, 0 elsewhere, in place."""
    return _written(x, activation.thresholded_relu, threshold)
