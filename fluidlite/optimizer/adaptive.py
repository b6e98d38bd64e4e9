"""Optimizers that scale the gradient by what was seen of its square."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, ClassVar

from ..clip import GradientClipBase
from ..ground.fields import from_fields
from ..ground.protected import answers
from ..ir.variable import Variable
from ..layers.decay import LearningRateDecay
from ..regularizer import WeightDecayRegularizer
from .arguments import OF_LOSS, Pair
from .optimizer import Optimizer
from .states import State


@answers(initial_accumulator_value=attrgetter("_initial_accumulator_value"))
@OF_LOSS
@from_fields
class Adagrad(Optimizer):
    """Adagrad: ``moment += grad^2; param -= learning_rate * grad / (sqrt(moment) + epsilon)``.

    Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic
    optimization, JMLR 2011.  Of gradients of selected rows only these rows are updated.

    Args:
        initial_accumulator_value: what the accumulated squares begin with.

    >>> ops, pairs = fluid.optimizer.Adagrad(0.1).minimize(loss)
    >>> ops[0].output("MomentOut")
    ['fc_0.w_0_moment_0']
    """

    _moment_acc_str = "moment"

    learning_rate: float | Variable | LearningRateDecay
    epsilon: float = 1e-6
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None
    initial_accumulator_value: float = 0.0

    type = "adagrad"
    states: ClassVar[Sequence[State]] = (State("Moment", "moment", "initial_accumulator_value"),)
    attributes = "epsilon"


@OF_LOSS
@from_fields
class DecayedAdagrad(Optimizer):
    """Adagrad with a running mean in place of the sum: ``moment = decay * moment + (1 - decay) *
    grad^2; param -= learning_rate * grad / (sqrt(moment) + epsilon)``.

    Args:
        decay: how much of the mean stays.

    >>> ops, pairs = fluid.optimizer.DecayedAdagrad(0.1, decay=0.9).minimize(loss)
    >>> ops[0].type
    'decayed_adagrad'
    """

    _moment_acc_str = "moment"

    learning_rate: float | Variable | LearningRateDecay
    decay: float = 0.95
    epsilon: float = 1e-6
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "decayed_adagrad"
    states: ClassVar[Sequence[State]] = (State("Moment", "moment"),)
    attributes = "decay epsilon"


@OF_LOSS
@from_fields
class Adadelta(Optimizer):
    """Adadelta: gradients scaled by the ratio of running means, of squared steps and of squared
    gradients.

    Zeiler, ADADELTA: an adaptive learning rate method, 2012.  In paddle 2's words steps are those
    of the paper, times the rate.

    Args:
        learning_rate: in fluid 1.8's words not used, since steps get their size from the last ones,
            and kept for :meth:`~fluidlite.optimizer.optimizer.Optimizer.current_step_lr`; in paddle
            2's 0.001 when None.
        epsilon: keeps the division finite, and gives the first steps their size.
        rho: how much of the running means stays.

    >>> ops, pairs = fluid.optimizer.Adadelta(1.0, rho=0.9).minimize(loss)
    >>> ops[0].input_names
    ['AvgSquaredGrad', 'AvgSquaredUpdate', 'Grad', 'Param']
    """

    _avg_squared_grad_acc_str = "_avg_squared_grad"
    _avg_squared_update_acc_str = "_avg_squared_update"

    learning_rate: float | Variable | LearningRateDecay | None = None
    epsilon: float = 1e-6
    rho: float = 0.95
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "adadelta"
    type_of_paddle2 = "adadelta_v2"
    defaults_of_paddle2: ClassVar[Mapping[str, Any]] = {"learning_rate": 0.001}
    states: ClassVar[Sequence[State]] = (
        State("AvgSquaredGrad", "_avg_squared_grad"),
        State("AvgSquaredUpdate", "_avg_squared_update"),
    )
    attributes = "epsilon rho"

    def _create_param_lr(self, param_and_grad: Pair) -> Variable:
        """The rate of all parameters, where steps read none."""
        if self.by_paddle2:
            return super()._create_param_lr(param_and_grad)
        rate: Variable = self._global_learning_rate(param_and_grad[0].program)
        return rate


@OF_LOSS
@from_fields
class RMSProp(Optimizer):
    """RMSProp: steps by gradients, each divided by the root of the running mean of its square.

    Tieleman and Hinton, Lecture 6.5: rmsprop, Coursera, 2012.

    Args:
        rho: how much of the running means stays.
        epsilon: keeps the division finite; stands under the root.
        momentum: how much of the last step stays.
        centered: divide by the root of the variance instead: Graves, Generating sequences with
            recurrent neural networks, 2013.

    >>> ops, pairs = fluid.optimizer.RMSProp(0.01, rho=0.9).minimize(loss)
    >>> ops[0].input("MeanSquare")
    ['fc_0.w_0_mean_square_0']
    """

    _momentum_acc_str = "momentum"
    _mean_square_acc_str = "mean_square"
    _mean_grad_acc_str = "mean_grad"

    learning_rate: float | Variable | LearningRateDecay
    rho: float = 0.95
    epsilon: float = 1e-6
    momentum: float = 0.0
    centered: bool = False
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "rmsprop"
    states: ClassVar[Sequence[State]] = (
        State("Moment", "momentum"),
        State("MeanSquare", "mean_square"),
        State("MeanGrad", "mean_grad"),
    )
    attributes = "epsilon decay=rho momentum centered"


@OF_LOSS
@from_fields
class Ftrl(Optimizer):
    """FTRL-Proximal, follow the regularized leader: after each step parameters are what minimises
    the slopes of all losses so far and L1 and L2 decay, so that some are exactly 0.

    McMahan et al., Ad click prediction: a view from the trenches, KDD 2013.

    Args:
        l1: what the sum of absolute values counts.
        l2: what the sum of squares counts.
        lr_power: how steps shrink with the sum of the squares of gradients.

    >>> ops, pairs = fluid.optimizer.Ftrl(0.1, l1=0.01, l2=0.02).minimize(loss)
    >>> ops[0].output("SquaredAccumOut")
    ['fc_0.w_0_squared_0']
    """

    _squared_acc_str = "squared"
    _linear_acc_str = "linear"

    learning_rate: float | Variable | LearningRateDecay
    l1: float = 0.0
    l2: float = 0.0
    lr_power: float = -0.5
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "ftrl"
    states: ClassVar[Sequence[State]] = (
        State("SquaredAccumulator", "squared", out="SquaredAccumOut"),
        State("LinearAccumulator", "linear", out="LinearAccumOut"),
    )
    attributes = "l1 l2 lr_power"


AdagradOptimizer = Adagrad
DecayedAdagradOptimizer = DecayedAdagrad
AdadeltaOptimizer = Adadelta
RMSPropOptimizer = RMSProp
FtrlOptimizer = Ftrl
