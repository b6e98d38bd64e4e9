"""LARS: momentum with a rate of its own for every parameter."""

from __future__ import annotations

from collections.abc import Iterable

from ..clip import GradientClipBase
from ..ground.fields import from_fields
from ..ir.variable import Variable
from ..regularizer import WeightDecayRegularizer
from .optimizer import OPTIMIZERS, Optimizer
from .states import State


@OPTIMIZERS
@from_fields
class LarsMomentum(Optimizer):
    """Momentum whose steps have lengths relative to those of the parameters: layer-wise adaptive
    rate scaling.

    You, Gitman and Ginsburg, Large batch training of convolutional networks, 2017.

    Args:
        momentum: how much of the velocity stays.
        lars_coeff: the length of a step, relative to its parameter's.
        lars_weight_decay: what a parameter counts in its gradient.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.LarsMomentum(0.1, momentum=0.9).minimize(loss)
    >>> ops[0].output("VelocityOut")
    ['fc_0.w_0_velocity_0']
    """

    learning_rate: float | Variable
    momentum: float
    lars_coeff: float = 0.001
    lars_weight_decay: float = 0.0005
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "lars_momentum"
    states = (State("Velocity", "velocity"),)
    attributes = "mu=momentum lars_coeff lars_weight_decay"


LarsMomentumOptimizer = LarsMomentum
