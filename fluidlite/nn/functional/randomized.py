"""Functions between layers that draw random numbers."""

from __future__ import annotations

from typing import Any

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.arithmetic import add, equal, multiply, subtract, true_divide
from ...functions.elementary import cast, log
from ...functions.noise import uniform_like
from ...functions.reduction import max as largest
from .activation import leaky_relu, softmax


def rrelu(
    x: Tensor,
    lower: float = 1.0 / 8.0,
    upper: float = 1.0 / 3.0,
    training: bool = True,
    name: str | None = None,
) -> Tensor:
    """x where it is not negative, elsewhere x times a slope that is drawn (Xu et al. 2015,
    "Empirical evaluation of rectified activations in convolutional network").

    Args:
        x: a tensor.
        lower, upper: the bounds of the slopes, in [0, 1].
        training: False: the slope is the middle of them.

    Raises:
        ArgumentError: the bounds are out of range.

    >>> x = fluid.to_tensor([-4.0, 2.0])
    >>> fluid.nn.functional.rrelu(x, 0.25, 0.75, training=False).tolist()
    [-2.0, 2.0]
    """
    if not 0 <= lower <= upper <= 1:
        raise ArgumentError(f"expected 0 <= lower <= upper <= 1, got {lower!r} and {upper!r}")
    if not training or lower == upper:
        return leaky_relu(x, (lower + upper) / 2)
    return eager.rrelu(x, lower=lower, upper=upper)[0]


def gumbel_softmax(
    x: Tensor, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Tensor:
    """A class that is drawn by its logits, as a vector that gradients flow through (Jang, Gu and
    Poole 2017, "Categorical reparameterization with Gumbel-softmax").

    Args:
        x: logits.
        temperature: above 0; small ones make the vectors nearly 0 or 1.
        hard: make them 0 or 1; gradients are those of the soft ones.
        axis: the dimension of the classes.

    Raises:
        ArgumentError: ``temperature`` is not above 0.

    >>> y = fluid.nn.functional.gumbel_softmax(fluid.zeros([4, 3]), hard=True)
    >>> y.sum(-1).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    if temperature <= 0:
        raise ArgumentError(f"expected temperature above 0, got {temperature!r}")
    exponential = multiply(log(uniform_like(x, 1e-12, 1.0)), -1.0)
    noise = multiply(log(add(exponential, 1e-20)), -1.0)
    soft = softmax(true_divide(add(x, noise), temperature), axis)
    if not hard:
        return soft
    constant: Any = soft.detach()
    chosen = cast(equal(constant, largest(constant, axis, keepdim=True)), soft.dtype)
    return add(subtract(soft, constant), chosen)
