"""Activations, in OneFlow's spelling."""

from __future__ import annotations

from typing import Any

from ....eager.engine import located
from ....eager.recording import eager
from ....errors import ArgumentError, ShapeError
from ....functions import arithmetic, elementary, shaping
from ....functions.selection import where
from ....nn.functional import activation
from ...elementary import logsigmoid
from ...functions import log_softmax, relu, softmax

__all__ = [
    "celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid",
    "silu", "softmax", "softplus", "softshrink", "softsign", "tanh", "threshold",
]  # fmt: skip

sigmoid = elementary.sigmoid
tanh = elementary.tanh


def relu6(input: Any) -> Any:
    """min(max(x, 0), 6)."""
    return eager.relu6(input)


def silu(input: Any) -> Any:
    """x sigmoid(x)."""
    return activation.silu(input)


def mish(input: Any) -> Any:
    """x tanh(softplus(x))."""
    return activation.mish(input)


def softsign(input: Any) -> Any:
    """x / (1 + |x|)."""
    return activation.softsign(input)


def hardswish(input: Any) -> Any:
    """x min(max(x + 3, 0), 6) / 6."""
    return activation.hardswish(input)


def hardsigmoid(input: Any) -> Any:
    """min(max(x / 6 + 1 / 2, 0), 1)."""
    return activation.hardsigmoid(input, 1.0 / 6.0)


def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """x, or negative_slope x where x is negative."""
    return activation.leaky_relu(input, negative_slope)


def elu(input: Any, alpha: float = 1.0) -> Any:
    """x, or alpha (e^x - 1) where x is negative."""
    return activation.elu(input, alpha)


def selu(input: Any) -> Any:
    """An elu whose scale and alpha keep mean and variance (Klambauer et al., 2017)."""
    return activation.selu(input)


def celu(input: Any, alpha: float = 1.0) -> Any:
    """x, or alpha (e^(x / alpha) - 1) where x is negative."""
    return activation.celu(input, alpha)


def gelu(input: Any, approximate: str = "none") -> Any:
    """x times the probability of a normal number below x.

    Args:
        input: a tensor.
        approximate: "none", or "tanh" for an approximation by that.

    Raises:
        ArgumentError: something else.
    """
    if approximate not in ("none", "tanh"):
        raise located(
            ArgumentError(f"expected approximate 'none' or 'tanh', got {approximate!r:.60}")
        )
    return activation.gelu(input, approximate == "tanh")


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """x, kept in [min_val, max_val].

    >>> fluid.flow.nn.functional.hardtanh(fluid.flow.tensor([-3.0, 1.5]), 0.0, 1.0)
    tensor([0., 1.], dtype=float32)
    """
    if not min_val < max_val:
        raise located(ArgumentError(f"expected min_val below max_val, got {min_val}, {max_val}"))
    return activation.hardtanh(input, min_val, max_val)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x, or 0 where x lies in [-lambd, lambd]."""
    return activation.hardshrink(input, lambd)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x moved towards 0 by lambd, and 0 where x lies in [-lambd, lambd]."""
    return activation.softshrink(input, lambd)


def threshold(input: Any, threshold: float, value: float) -> Any:
    """x where it is above the threshold, and the value elsewhere.

    >>> fluid.flow.nn.functional.threshold(fluid.flow.tensor([0.5, 2.0]), 1.0, -7.0).tolist()
    [-7.0, 2.0]
    """
    above = arithmetic.greater_than(input, threshold)
    return where(above, eager.thresholded_relu(input, threshold=float(threshold)), float(value))


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + e^(beta x)) / beta; x itself where beta x is above the threshold."""
    return activation.softplus(input, beta, threshold)


def prelu(input: Any, weight: Any) -> Any:
    """x, or weight x where x is negative.

    Args:
        input: a tensor.
        weight: one slope, or one for each channel.
    """
    if weight.array.size == 1:
        return eager.prelu(input, shaping.reshape(weight, [1]), mode="all")
    return activation.prelu(input, weight)


def glu(input: Any, dim: int = -1) -> Any:
    """The first half along a dimension, times the sigmoid of the second.

    Raises:
        ShapeError: the dimension has an odd size.
    """
    if input.array.shape[dim] % 2:
        raise located(
            ShapeError(f"expected an even size along {dim}, got {list(input.array.shape)}")
        )
    return activation.glu(input, dim)
