"""Steps divided by the root of accumulated squares of gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..clip import GradientClipBase
from ..ground.fields import from_fields
from ..ir.variable import Variable
from ..regularizer import WeightDecayRegularizer
from .optimizer import OPTIMIZERS, Optimizer
from .states import State


@OPTIMIZERS
@from_fields
class Adagrad(Optimizer):
    """Adagrad: ``moment += grad^2; param -= learning_rate * grad / (sqrt(moment) + epsilon)``.

    Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic
    optimization, JMLR 2011.  Of gradients of selected rows only these rows are updated.

    Args:
        initial_accumulator_value: what the accumulated squares begin with.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.Adagrad(0.1).minimize(loss)
    >>> ops[0].output("MomentOut")
    ['fc_0.w_0_moment_0']
    """

    learning_rate: float | Variable
    epsilon: float = 1e-6
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None
    initial_accumulator_value: float = 0.0

    type = "adagrad"
    attributes = "epsilon"

    def begin(self, given: dict[str, Any]) -> None:
        super().begin(given)
        self.states = (State("Moment", "moment", given["initial_accumulator_value"]),)


@OPTIMIZERS
@from_fields
class DecayedAdagrad(Optimizer):
    """Adagrad with a running mean in place of the sum: ``moment = decay * moment + (1 - decay) *
    grad^2; param -= learning_rate * grad / (sqrt(moment) + epsilon)``.

    Args:
        decay: how much of the mean stays.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.DecayedAdagrad(0.1, decay=0.9).minimize(loss)
    >>> ops[0].type
    'decayed_adagrad'
    """

    learning_rate: float | Variable
    decay: float = 0.95
    epsilon: float = 1e-6
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "decayed_adagrad"
    states = (State("Moment", "moment"),)
    attributes = "decay epsilon"


AdagradOptimizer = Adagrad
DecayedAdagradOptimizer = DecayedAdagrad
