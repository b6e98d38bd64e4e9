"""Adadelta: steps whose size follows from the last ones."""

from __future__ import annotations

from collections.abc import Iterable

from ..clip import GradientClipBase
from ..ground.fields import from_fields
from ..ir.variable import Variable
from ..regularizer import WeightDecayRegularizer
from .arguments import Pair
from .optimizer import OPTIMIZERS, Optimizer
from .states import State


@OPTIMIZERS
@from_fields
class Adadelta(Optimizer):
    """Adadelta: gradients scaled by the ratio of running means, of squared steps and of squared
    gradients.

    Zeiler, ADADELTA: an adaptive learning rate method, 2012.

    Args:
        learning_rate: not used, since steps get their size from the last ones; kept for
            :meth:`~fluidlite.optimizer.optimizer.Optimizer.current_step_lr`.
        epsilon: keeps the division finite, and gives the first steps their size.
        rho: how much of the running means stays.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.Adadelta(1.0, rho=0.9).minimize(loss)
    >>> ops[0].input_names
    ['Param', 'Grad', 'AvgSquaredGrad', 'AvgSquaredUpdate']
    """

    learning_rate: float | Variable
    epsilon: float = 1e-6
    rho: float = 0.95
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "adadelta"
    states = (
        State("AvgSquaredGrad", "_avg_squared_grad"),
        State("AvgSquaredUpdate", "_avg_squared_update"),
    )
    attributes = "epsilon rho"

    def _create_param_lr(self, param_and_grad: Pair) -> Variable:
        """The rate of all parameters: steps read none."""
        rate: Variable = self._global_learning_rate(param_and_grad[0].program)
        return rate


AdadeltaOptimizer = Adadelta
