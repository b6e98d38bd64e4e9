"""Optimizers that scale the gradient by what was seen of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.engine import located
from ...errors import ArgumentError
from ...ground.fields import from_fields
from .optimizer import OPTIMIZERS, Array, Arrays, Optimizer, Options, Parameters, running_mean


@OPTIMIZERS
@from_fields
class SGD(Optimizer):
    """Steps against the gradient, or a running sum of it.

    Args:
        momentum: how much of the sum stays.
        dampening: how much of the gradient does not enter the sum.
        nesterov: look ahead along the sum.

    Raises:
        ArgumentError: ``nesterov`` without a momentum, or with a dampening.

    >>> w = fluid.flow.tensor([1.0, 2.0], requires_grad=True)
    >>> sgd = fluid.flow.optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> sgd.step()
    >>> w.detach().numpy().round(2).tolist()
    [0.800000011920929, 1.600000023841858]
    """

    params: Parameters
    lr: float = 0.001
    momentum: float = 0.0
    dampening: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False
    maximize: bool = False
    fused: bool = False
    decays_gradients = True

    def begin(self, given: dict[str, Any]) -> None:
        if given["nesterov"] and (given["momentum"] <= 0 or given["dampening"] != 0):
            raise located(ArgumentError, "nesterov needs a momentum, and no dampening")
        super().begin(given)

    def updated(self, array: Array, gradient: Array, group: Options, kept: Arrays) -> Array:
        momentum = group["momentum"]
        if momentum:
            share = (1 - group["dampening"]) * gradient
            kept["momentum_buffer"] = kept.get("momentum_buffer", 0.0) * momentum + share
            buffer = kept["momentum_buffer"]
            gradient = gradient + momentum * buffer if group["nesterov"] else buffer
        return array - group["lr"] * gradient


@OPTIMIZERS
@from_fields
class RMSprop(Optimizer):
    """Steps against the gradient divided by the root of a running mean of its square.

    Args:
        alpha: how much of the mean stays.
        eps: added under the root.
        momentum: how much of a running sum of steps stays.
        centered: subtract the square of the mean gradient under the root.
    """

    params: Parameters
    lr: float = 0.001
    alpha: float = 0.99
    eps: float = 1e-8
    weight_decay: float = 0.0
    momentum: float = 0.0
    centered: bool = False
    decays_gradients = True

    def updated(self, array: Array, gradient: Array, group: Options, kept: Arrays) -> Array:
        alpha = group["alpha"]
        square = running_mean(kept, "square_avg", alpha, gradient, gradient)
        if group["centered"]:
            square = square - running_mean(kept, "grad_avg", alpha, gradient) ** 2
        step = gradient / np.sqrt(square + group["eps"])
        if group["momentum"]:
            kept["momentum_buffer"] = kept.get("momentum_buffer", 0.0) * group["momentum"] + step
            step = kept["momentum_buffer"]
        return array - group["lr"] * step


@OPTIMIZERS
@from_fields
class Adagrad(Optimizer):
    """Steps against the gradient divided by the root of the sum of its squares.

    Args:
        lr_decay: the rate is divided by 1 + lr_decay times the number of steps before.
        initial_accumulator_value: what the sum begins with.
    """

    params: Parameters
    lr: float = 0.001
    lr_decay: float = 0.0
    weight_decay: float = 0.0
    initial_accumulator_value: float = 0.0
    eps: float = 1e-10
    decays_gradients = True

    def updated(self, array: Array, gradient: Array, group: Options, kept: Arrays) -> Array:
        steps = kept.get("step", 0)
        before = kept.get("sum", group["initial_accumulator_value"])
        kept["step"], kept["sum"] = steps + 1, before + gradient * gradient
        rate = group["lr"] / (1 + steps * group["lr_decay"])
        return array - rate * gradient / (np.sqrt(kept["sum"]) + group["eps"])


@OPTIMIZERS
@from_fields
class Adadelta(Optimizer):
    """Steps scaled by running means of the squares of gradients and of steps.

    Args:
        lr: what steps are multiplied with.
        rho: how much of the means stays.
        eps: added under the roots.
    """

    params: Parameters
    lr: float = 1.0
    rho: float = 0.9
    eps: float = 1e-6
    weight_decay: float = 0.0
    maximize: bool = False
    decays_gradients = True

    def updated(self, array: Array, gradient: Array, group: Options, kept: Arrays) -> Array:
        rho, eps = group["rho"], group["eps"]
        square = running_mean(kept, "square_avg", rho, gradient, gradient)
        step = np.sqrt(kept.get("acc_delta", 0.0) + eps) / np.sqrt(square + eps) * gradient
        running_mean(kept, "acc_delta", rho, step, step)
        return array - group["lr"] * step
