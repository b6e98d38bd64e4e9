"""Activations: functions of each element between the layers of a network, and softmax.

Each layer appends one operator of the same name, and gives a variable of the shape of its input.
"""

from __future__ import annotations

from typing import Any

from ..ir.callsite import warn
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .unary import UNARY


@layer(family=UNARY)
def tanh(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """The hyperbolic tangent of ``x``, for each element."""
    return f.tanh(x)


@layer(family=UNARY)
def tanh_shrink(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``x - tanh(x)``, for each element."""
    return f.tanh_shrink(x)


@layer(family=UNARY)
def sigmoid(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``1 / (1 + exp(-x))``, for each element."""
    return f.sigmoid(x)


@layer(family=UNARY)
def logsigmoid(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``-log(1 + exp(-x))``, for each element."""
    return f.logsigmoid(x)


@layer(family=UNARY)
def softplus(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``log(1 + exp(x))``, for each element."""
    return f.softplus(x)


@layer(family=UNARY)
def softsign(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``x / (1 + |x|)``, for each element."""
    return f.softsign(x)


@layer(family=UNARY)
def relu(f: LayerBuilder, x: Variable, name: str | None = None) -> Variable:
    """``x`` where it is positive, else 0, for each element."""
    return f.relu(x)


@layer(family=UNARY)
def relu6(
    f: LayerBuilder, x: Variable, threshold: float = 6.0, name: str | None = None
) -> Variable:
    """``min(max(0, x), threshold)``, for each element.

    Args:
        threshold: the upper bound.
    """
    return f.relu6(x, threshold=threshold)


@layer(family=UNARY)
def brelu(
    f: LayerBuilder, x: Variable, t_min: float = 0.0, t_max: float = 24.0, name: str | None = None
) -> Variable:
    """``min(max(t_min, x), t_max)``, for each element.

    Args:
        t_min, t_max: the bounds.
    """
    return f.brelu(x, t_min=t_min, t_max=t_max)


@layer(family=UNARY)
def leaky_relu(
    f: LayerBuilder, x: Variable, alpha: float = 0.02, name: str | None = None
) -> Variable:
    """``x`` where it is positive, else ``alpha * x``.

    Args:
        alpha: the slope below 0; where it is negative, other operators compute it: the gradient of
            a ``leaky_relu`` follows from the sign of its result.
    """
    if alpha < 0:
        warn(
            f"leaky_relu with alpha={alpha:g} is composed of others: as one operator, its gradient "
            f"cannot be known from its result (fluid 1.8 took the slope 1 everywhere)",
            None,
        )
        below = f.elementwise_min(f.fill_zeros_like(x), x)  # whose slope at 0 is that of x
        return f.elementwise_add(f.relu(x), f.scale(below, scale=alpha))
    return f.leaky_relu(x, alpha=alpha)


@layer(family=UNARY)
def elu(f: LayerBuilder, x: Variable, alpha: float = 1.0, name: str | None = None) -> Variable:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Clevert et al., Fast and accurate deep network learning by exponential linear units, ICLR 2016.

    Args:
        alpha: minus the limit far below 0.
    """
    return f.elu(x, alpha=alpha)


@layer(family=UNARY)
def selu(
    f: LayerBuilder,
    x: Variable,
    scale: float | None = None,
    alpha: float | None = None,
    name: str | None = None,
) -> Variable:
    """``scale * x`` where ``x`` is positive, else ``scale * alpha * (exp(x) - 1)``.

    Klambauer et al., Self-normalizing neural networks, NIPS 2017; the defaults are theirs.

    Args:
        scale: 1.0507009... when None.
        alpha: 1.6732632... when None.
    """
    given = {"scale": scale, "alpha": alpha}
    return f.selu(x, **{key: value for key, value in given.items() if value is not None})


@layer(family=UNARY)
def gelu(f: LayerBuilder, x: Variable, approximate: bool = False) -> Variable:
    """``x`` times the probability that a normal variable lies below ``x``.

    Hendrycks and Gimpel, Gaussian error linear units, 2016.

    Args:
        approximate: take ``1/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`` for the probability.
    """
    return f.gelu(x, approximate=approximate)


@layer(family=UNARY)
def swish(f: LayerBuilder, x: Variable, beta: float = 1.0, name: str | None = None) -> Variable:
    """``x * sigmoid(beta * x)``, for each element.

    Ramachandran et al., Searching for activation functions, 2017.

    Args:
        beta: how steep the sigmoid is.
    """
    return f.swish(x, beta=beta)


@layer(family=UNARY)
def mish(f: LayerBuilder, x: Variable, threshold: float = 20, name: str | None = None) -> Variable:
    """``x * tanh(log(1 + exp(x)))``, for each element.

    Misra, Mish: a self regularized non-monotonic activation function, BMVC 2020.

    Args:
        threshold: accepted; the logarithm is exact everywhere.
    """
    return f.mish(x, threshold=threshold)


@layer(family=UNARY)
def stanh(
    f: LayerBuilder,
    x: Variable,
    scale_a: float = 0.67,
    scale_b: float = 1.7159,
    name: str | None = None,
) -> Variable:
    """``scale_b * tanh(scale_a * x)``, for each element.

    Args:
        scale_a: factor of the input.
        scale_b: factor of the output.
    """
    return f.stanh(x, scale_a=scale_a, scale_b=scale_b)


@layer(family=UNARY)
def soft_relu(
    f: LayerBuilder, x: Variable, threshold: float = 40.0, name: str | None = None
) -> Variable:
    """``log(1 + exp(y))`` for ``y``, which is ``x`` within [-threshold, threshold].

    Args:
        threshold: the bound of ``x``.
    """
    return f.soft_relu(x, threshold=threshold)


@layer(family=UNARY)
def hard_sigmoid(
    f: LayerBuilder, x: Variable, slope: float = 0.2, offset: float = 0.5, name: str | None = None
) -> Variable:
    """``slope * x + offset`` within [0, 1], for each element.

    Args:
        slope: of the straight part.
        offset: the value at 0.
    """
    return f.hard_sigmoid(x, slope=slope, offset=offset)


@layer(family=UNARY)
def hard_swish(
    f: LayerBuilder,
    x: Variable,
    threshold: float = 6.0,
    scale: float = 6.0,
    offset: float = 3.0,
    name: str | None = None,
) -> Variable:
    """``x * min(max(0, x + offset), threshold) / scale``, for each element.

    Howard et al., Searching for MobileNetV3, ICCV 2019.

    Args:
        threshold: the upper bound of the second factor.
        scale: the divisor.
        offset: added to ``x`` in the second factor.
    """
    return f.hard_swish(x, threshold=threshold, scale=scale, offset=offset)


@layer(family=UNARY)
def hard_shrink(f: LayerBuilder, x: Variable, threshold: float | None = None) -> Variable:
    """``x`` where it lies outside of [-threshold, threshold], else 0.

    Args:
        threshold: 0.5 when None.
    """
    given = {} if threshold is None else {"threshold": threshold}
    return f.hard_shrink(x, **given)


@layer(family=UNARY)
def softshrink(f: LayerBuilder, x: Variable, alpha: float | None = None) -> Variable:
    """``x`` moved towards 0 by ``alpha``, and 0 where it is closer than that.

    Args:
        alpha: 0.5 when None.
    """
    given = {} if alpha is None else {"lambda": alpha}
    return f.softshrink(x, **given)


@layer(family=UNARY)
def thresholded_relu(f: LayerBuilder, x: Variable, threshold: float | None = None) -> Variable:
    """``x`` where it is above ``threshold``, else 0.

    Args:
        threshold: 1.0 when None.
    """
    given = {} if threshold is None else {"threshold": threshold}
    return f.thresholded_relu(x, **given)


@layer
def softmax(
    f: LayerBuilder,
    input: Variable,
    use_cudnn: bool = False,
    name: str | None = None,
    axis: int = -1,
) -> Variable:
    """``exp(input)`` divided by its sum along ``axis``: probabilities from logits.

    Args:
        input: a float variable.
        axis: the dimension of the classes; may count from the end.

    Returns:
        A variable of the shape of ``input``; it sums up to 1 along ``axis``.

    >>> fluid.layers.softmax(fluid.data("x", [None, 10])).shape
    (-1, 10)
    """
    return f.softmax(input, axis=axis, use_cudnn=use_cudnn)


@layer
def log_softmax(
    f: LayerBuilder,
    input: Variable,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Variable:
    """The logarithm of the softmax of ``input`` along ``axis``.

    Args:
        input: a float variable.
        axis: the dimension of the classes, the last one when None.
        dtype: element type to compute in; that of ``input`` when None.

    Returns:
        A variable of the shape of ``input``.

    >>> fluid.layers.log_softmax(fluid.data("x", [None, 10])).shape
    (-1, 10)
    """
    if dtype is not None:
        input = f.cast(input, in_dtype=input.dtype, out_dtype=dtype)
    return f.log(f.softmax(input, axis=-1 if axis is None else axis))
