"""Gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..clip import GradientClipBase
from ..ir.variable import Variable
from ..regularizer import WeightDecayRegularizer
from .arguments import number
from .optimizer import OPTIMIZERS, Optimizer
from .states import State


@OPTIMIZERS
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

    type = "momentum"
    states = (State("Velocity", "velocity"),)

    def __init__(
        self,
        learning_rate: float | Variable,
        momentum: float,
        parameter_list: Iterable[Variable | str] | None = None,
        use_nesterov: bool = False,
        regularization: WeightDecayRegularizer | None = None,
        grad_clip: GradientClipBase | None = None,
        name: str | None = None,
        *,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameter_list,
            regularization,
            grad_clip,
            name,
            parameters=parameters,
            weight_decay=weight_decay,
        )
        self._momentum = number("Momentum", "momentum", momentum)
        self._use_nesterov = bool(use_nesterov)

    def attrs(self, param: Variable) -> dict[str, Any]:
        return {"mu": self._momentum, "use_nesterov": self._use_nesterov}


MomentumOptimizer = Momentum
