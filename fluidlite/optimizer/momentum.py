"""Gradient descent with momentum."""

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
class Momentum(Optimizer):
    """Gradient descent with momentum: ``velocity = momentum * velocity + grad`` and
    ``param -= learning_rate * velocity``.

    Args:
        momentum: how much of the velocity stays.
        use_nesterov: look ahead: ``param -= learning_rate * (grad + momentum * velocity)``.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.Momentum(0.1, momentum=0.9).minimize(loss)
    >>> ops[0].output("VelocityOut")
    ['fc_0.w_0_velocity_0']
    """

    learning_rate: float | Variable
    momentum: float
    parameter_list: Iterable[Variable | str] | None = None
    use_nesterov: bool = False
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "momentum"
    states = (State("Velocity", "velocity"),)
    attributes = "mu=momentum use_nesterov"


MomentumOptimizer = Momentum
