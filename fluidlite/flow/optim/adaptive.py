"""Optimizers whose steps are scaled by running means of the gradient and of its square."""

from __future__ import annotations

import numpy as np

from ...ground.fields import from_fields
from .optimizer import OPTIMIZERS, Array, Arrays, Optimizer, Options, Parameters, running_mean


@from_fields
class _OfMoments(Optimizer):
    """What Adam and similar optimizers have in common."""

    params: Parameters
    lr: float = 0.001
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0


def _direction(gradient: Array, group: Options, kept: Arrays) -> Array:
    """The mean of gradients, divided by the root of the mean of their squares."""
    (beta1, beta2), steps = group["betas"], kept.get("step", 0) + 1
    mean = running_mean(kept, "exp_avg", beta1, gradient)
    square = running_mean(kept, "exp_avg_sq", beta2, gradient, gradient)
    kept["step"] = steps
    if group["amsgrad"]:
        square = np.maximum(kept.get("max_exp_avg_sq", square), square)
        kept["max_exp_avg_sq"] = square
    first, second = 1.0, 1.0
    if group["do_bias_correction"]:
        first, second = 1 - beta1**steps, 1 - beta2**steps
    return mean / first / (np.sqrt(square / second) + group["eps"])


@OPTIMIZERS
@from_fields
class Adam(_OfMoments):
    """Adam, whose decay of weights is a part of the gradient.

    >>> net = fluid.flow.nn.Linear(2, 1)
    >>> adam = fluid.flow.optim.Adam([{"params": [net.weight], "lr": 0.1}, {"params": [net.bias]}])
    >>> net(fluid.flow.ones(3, 2)).sum().backward()
    >>> adam.step()
    >>> [group["lr"] for group in adam.param_groups]
    [0.1, 0.001]
    """

    amsgrad: bool = False
    do_bias_correction: bool = True
    fused: bool = False
    decays_gradients = True

    def updated(self, array: Array, gradient: Array, group: Options, kept: Arrays) -> Array:
        return array - group["lr"] * _direction(gradient, group, kept)


@OPTIMIZERS
@from_fields
class AdamW(_OfMoments):
    """Adam, whose decay of weights is apart from the gradient: lr * weight_decay of each step.

    Args:
        weight_decay: times the rate and the weight is subtracted.
    """

    amsgrad: bool = False
    do_bias_correction: bool = True
    fused: bool = False

    def updated(self, array: Array, gradient: Array, group: Options, kept: Arrays) -> Array:
        smaller = array * (1 - group["lr"] * group["weight_decay"])
        return smaller - group["lr"] * _direction(gradient, group, kept)


@OPTIMIZERS
@from_fields
class LAMB(_OfMoments):
    """Adam with steps as long as weights are, for each parameter.

    Args:
        weight_decay: how much weights are drawn to 0.
        adam_w_mode: the decay is a part of the step; if not, of the gradient.
    """

    adam_w_mode: bool = True
    do_bias_correction: bool = True
    amsgrad: bool = False

    def updated(self, array: Array, gradient: Array, group: Options, kept: Arrays) -> Array:
        decay = group["weight_decay"]
        if not group["adam_w_mode"]:
            gradient = gradient + decay * array
        step = _direction(gradient, group, kept)
        lengths = float(np.linalg.norm(array)), float(np.linalg.norm(step))
        ratio = lengths[0] / lengths[1] if all(lengths) else 1.0
        if group["adam_w_mode"]:
            step = step + decay * array
        return array - group["lr"] * ratio * step
