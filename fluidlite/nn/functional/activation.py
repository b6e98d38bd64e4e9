"""Functions between layers: sigmoids, rectifiers, and their relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions import elementary, reduction, shaping
from ...functions.arithmetic import greater_than, multiply, subtract
from ...functions.selection import chosen
from ...opdef.conjugation import is_complex

if TYPE_CHECKING:
    from ...functions.arguments import DTypeLike

#: what keeps mean and variance (Klambauer et al. 2017, "Self-normalizing neural networks")
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def relu(x: Tensor, name: str | None = None) -> Tensor:
    """max(x, 0); its gradient at 0 is 0.

    >>> fluid.nn.functional.relu(fluid.to_tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return eager.relu(x)


def relu6(x: Tensor, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6).

    >>> fluid.nn.functional.relu6(fluid.to_tensor([-1.0, 2.0, 8.0])).tolist()
    [0.0, 2.0, 6.0]
    """
    return eager.relu6(x)


def sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """1 / (1 + e^-x).

    >>> fluid.nn.functional.sigmoid(fluid.to_tensor([0.0, 2.0])).numpy().round(4)
    array([0.5   , 0.8808], dtype=float32)
    """
    return eager.sigmoid(x)


def log_sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """The logarithm of 1 / (1 + e^-x).

    >>> fluid.nn.functional.log_sigmoid(fluid.to_tensor([0.0, 2.0])).numpy().round(4)
    array([-0.6931, -0.1269], dtype=float32)
    """
    return eager.logsigmoid(x)


def tanh(x: Tensor, name: str | None = None) -> Tensor:
    """The hyperbolic tangent.

    >>> fluid.nn.functional.tanh(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.7616], dtype=float32)
    """
    return eager.tanh(x)


def tanhshrink(x: Tensor, name: str | None = None) -> Tensor:
    """x - tanh x.

    >>> fluid.nn.functional.tanhshrink(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.2384], dtype=float32)
    """
    return eager.tanh_shrink(x)


def softsign(x: Tensor, name: str | None = None) -> Tensor:
    """x / (1 + |x|).

    >>> fluid.nn.functional.softsign(fluid.to_tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """
    return eager.softsign(x)


def mish(x: Tensor, name: str | None = None) -> Tensor:
    """x tanh(ln(1 + e^x)).

    >>> fluid.nn.functional.mish(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.8651], dtype=float32)
    """
    return eager.mish(x)


def hardswish(x: Tensor, name: str | None = None) -> Tensor:
    """x min(max(x + 3, 0), 6) / 6.

    >>> fluid.nn.functional.hardswish(fluid.to_tensor([-4.0, 0.0, 4.0])).tolist()
    [-0.0, 0.0, 4.0]
    """
    return eager.hard_swish(x)


def swish(x: Tensor, name: str | None = None) -> Tensor:
    """x / (1 + e^-x).

    >>> fluid.nn.functional.swish(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.7311], dtype=float32)
    """
    return eager.swish(x, beta=1.0)


def silu(x: Tensor, name: str | None = None) -> Tensor:
    """x / (1 + e^-x).

    >>> fluid.nn.functional.silu(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.    , 0.7311], dtype=float32)
    """
    return eager.swish(x, beta=1.0)


def leaky_relu(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """x where it is positive, negative_slope x elsewhere.

    >>> fluid.nn.functional.leaky_relu(fluid.to_tensor([-1.0, 2.0])).numpy().round(4)
    array([-0.01,  2.  ], dtype=float32)
    """
    slope = float(negative_slope)
    if slope < 0:  # the sign of x is not that of the result, which the gradient operator reads
        return eager.leaky_relu_v2(x, alpha=slope)
    return eager.leaky_relu(x, alpha=slope, rises_at_0=True)


def elu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """x where it is positive, alpha (e^x - 1) elsewhere.

    >>> fluid.nn.functional.elu(fluid.to_tensor([-1.0, 2.0])).numpy().round(4)
    array([-0.6321,  2.    ], dtype=float32)
    """
    return eager.elu(x, alpha=float(alpha))


def gelu(x: Tensor, approximate: bool = False, name: str | None = None) -> Tensor:
    """x P(x) with the normal distribution P, or an approximation of it.

    >>> fluid.nn.functional.gelu(fluid.to_tensor([-1.0, 2.0])).numpy().round(4)
    array([-0.1587,  1.9545], dtype=float32)
    """
    return eager.gelu(x, approximate=approximate)


def hardsigmoid(
    x: Tensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None
) -> Tensor:
    """slope x + offset, kept in [0, 1].

    >>> fluid.nn.functional.hardsigmoid(fluid.to_tensor([-4.0, 0.0, 4.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return eager.hard_sigmoid(x, slope=float(slope), offset=float(offset))


def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """x, kept in [min, max].

    >>> fluid.nn.functional.hardtanh(fluid.to_tensor([-2.0, 0.5, 2.0])).tolist()
    [-1.0, 0.5, 1.0]
    """
    return eager.brelu(x, t_min=float(min), t_max=float(max))


def hardshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x where |x| is above the threshold, 0 elsewhere.

    >>> fluid.nn.functional.hardshrink(fluid.to_tensor([-1.0, 0.2])).tolist()
    [-1.0, 0.0]
    """
    return eager.hard_shrink(x, threshold=float(threshold))


def softshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x moved towards 0 by the threshold, and 0 below it.

    >>> fluid.nn.functional.softshrink(fluid.to_tensor([-1.0, 0.2])).tolist()
    [-0.5, 0.0]
    """
    if threshold < 0:
        raise ArgumentError(f"expected threshold of at least 0, got {threshold!r}")
    return eager.softshrink(x, **{"lambda": float(threshold)})


def thresholded_relu(x: Tensor, threshold: float = 1.0, name: str | None = None) -> Tensor:
    """x where it is above the threshold, 0 elsewhere.

    >>> fluid.nn.functional.thresholded_relu(fluid.to_tensor([0.5, 2.0])).tolist()
    [0.0, 2.0]
    """
    return eager.thresholded_relu(x, threshold=float(threshold))


def selu(
    x: Tensor, scale: float = SELU_SCALE, alpha: float = SELU_ALPHA, name: str | None = None
) -> Tensor:
    """scale x where it is positive, scale alpha (e^x - 1) elsewhere.

    >>> fluid.nn.functional.selu(fluid.to_tensor([-1.0, 1.0])).numpy().round(4)
    array([-1.1113,  1.0507], dtype=float32)
    """
    if not scale > 1 or alpha < 0:
        raise ArgumentError(f"expected scale above 1 and alpha from 0, got {scale!r}, {alpha!r}")
    return eager.selu(x, scale=float(scale), alpha=float(alpha))


def celu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """x where it is positive, alpha (e^(x / alpha) - 1) elsewhere.

    >>> fluid.nn.functional.celu(fluid.to_tensor([-1.0, 2.0])).numpy().round(4)
    array([-0.6321,  2.    ], dtype=float32)
    """
    return multiply(eager.elu(multiply(x, 1.0 / alpha), alpha=1.0), alpha)


def softplus(x: Tensor, beta: float = 1, threshold: float = 20, name: str | None = None) -> Tensor:
    """ln(1 + e^(beta x)) / beta, without overflow.

    Args:
        x: a tensor.
        beta: how sharp the bend at 0 is.
        threshold: where beta x is above it, the result is x.

    >>> fluid.nn.functional.softplus(fluid.to_tensor([0.0, 1.0])).numpy().round(4)
    array([0.6931, 1.3133], dtype=float32)
    """
    scaled = x if beta == 1 else multiply(x, beta)
    out = eager.softplus(scaled)
    out = out if beta == 1 else multiply(out, 1 / beta)
    if is_complex(x.array):
        return out
    if x.appends is not None:
        return chosen(greater_than(scaled, threshold), x, out)
    straight = scaled.array > threshold
    there: Any = x.results(straight)
    return chosen(there, x, out) if straight.any() else out


def softmax(x: Tensor, axis: int = -1, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """e^x divided by its sum along a dimension.

    Args:
        x: a tensor.
        axis: the dimension.
        dtype: the element type to compute in.

    >>> fluid.nn.functional.softmax(fluid.to_tensor([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    x = x if dtype is None else elementary.cast(x, dtype)
    return eager.softmax(x, axis=axis) if x.array.ndim else reduction.of_number(softmax, x, axis)


def log_softmax(
    x: Tensor, axis: int = -1, dtype: DTypeLike = None, name: str | None = None
) -> Tensor:
    """The logarithm of ``softmax``, without overflow.

    >>> fluid.nn.functional.log_softmax(fluid.to_tensor([0.0, 0.0])).numpy().round(4)
    array([-0.6931, -0.6931], dtype=float32)
    """
    x = x if dtype is None else elementary.cast(x, dtype)
    return subtract(x, reduction.logsumexp(x, axis, True))


def prelu(x: Tensor, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """x where it is positive, weight x elsewhere.

    Args:
        x: a tensor.
        weight: one slope, or one for each channel.
        data_format: NCHW, or NHWC for channels in the last dimension.

    >>> x = fluid.to_tensor([-2.0, 2.0])
    >>> fluid.nn.functional.prelu(x, fluid.to_tensor([0.25])).tolist()
    [-0.5, 2.0]
    """
    if weight.array.size == 1:
        return eager.prelu(x, weight, mode="all")
    if data_format[-1] == "C" and x.array.ndim > 2:
        first = shaping.moveaxis(x, -1, 1)
        return shaping.moveaxis(eager.prelu(first, weight, mode="channel"), 1, -1)
    return eager.prelu(x, weight, mode="channel")


def maxout(x: Tensor, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """The largest element of each group of channels, which are in dimension 1, 3 or -1.

    >>> fluid.nn.functional.maxout(fluid.to_tensor([[[[1.0]], [[3.0]]]]), 2).tolist()
    [[[[3.0]]]]
    """
    if axis not in (1, 3, -1):
        raise ArgumentError(f"expected axis 1, 3 or -1, got {axis!r}")
    return eager.maxout(x, groups=groups, axis=axis)


def glu(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """The first half of x times the sigmoid of the second one.

    >>> fluid.nn.functional.glu(fluid.to_tensor([1.0, 2.0, 0.0, 0.0])).tolist()
    [0.5, 1.0]
    """
    a, b = shaping.split(x, 2, axis)
    return multiply(a, eager.sigmoid(b))
