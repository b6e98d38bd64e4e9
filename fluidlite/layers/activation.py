"""Activations: functions of each element between the layers of a network, and softmax.

Each layer appends one operator of the same name, and gives a variable of the shape of its input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ground.callsite import warn
from ..ir.variable import Variable
from .layer import LayerBuilder, layer
from .operator_layers import Layer, LayerCall, OperatorLayers, operator_layer
from .unary import UNARY

if TYPE_CHECKING:
    pass

_unary = OperatorLayers(UNARY)


tanh, tanh_shrink, sigmoid, logsigmoid, softplus, softsign, relu = _unary.each(
    "tanh tanh_shrink sigmoid logsigmoid softplus softsign relu", "x, name"
)
relu6: Layer = _unary("relu6(x, threshold, name)")
brelu: Layer = _unary("brelu(x, t_min, t_max, name)")


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


elu: Layer = _unary("elu(x, alpha, name)")
selu: Layer = _unary("selu(x, scale=None, alpha=None, name)")
gelu: Layer = _unary("gelu(x, approximate)")
swish: Layer = _unary("swish(x, beta, name)")
mish: Layer = _unary("mish(x, threshold=20, name)")
stanh: Layer = _unary("stanh(x, scale_a, scale_b, name)")
soft_relu: Layer = _unary("soft_relu(x, threshold, name)")
hard_sigmoid: Layer = _unary("hard_sigmoid(x, slope, offset, name)")
hard_swish: Layer = _unary("hard_swish(x, threshold, scale, offset, name)")
hard_shrink: Layer = _unary("hard_shrink(x, threshold=None)")
softshrink: Layer = _unary("softshrink(x, alpha: lambda = None)")
thresholded_relu: Layer = _unary("thresholded_relu(x, threshold=None)")
softmax: Layer = operator_layer("""
    softmax(input: X, use_cudnn, name, axis)

    >>> fluid.layers.softmax(fluid.data("x", [None, 10])).shape
    (-1, 10)
""")


@operator_layer.signature(
    "log_softmax(input: X, axis: int | None, dtype: DTypeLike = None, name) -> softmax",
    stem="log_softmax",
)
def log_softmax(f: LayerBuilder, call: LayerCall) -> Variable:
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
    input = call.input
    if call.dtype is not None:
        input = f.cast(input, in_dtype=input.dtype, out_dtype=call.dtype)
    return f.log(f.softmax(input, axis=-1 if call.axis is None else call.axis))
