"""FTRL: the parameters that were best for all gradients so far."""

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
class Ftrl(Optimizer):
    """FTRL-Proximal, follow the regularized leader: after each step parameters are what minimises
    the slopes of all losses so far and L1 and L2 decay, so that some are exactly 0.

    McMahan et al., Ad click prediction: a view from the trenches, KDD 2013.

    Args:
        l1: what the sum of absolute values counts.
        l2: what the sum of squares counts.
        lr_power: how steps shrink with the sum of the squares of gradients.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.Ftrl(0.1, l1=0.01, l2=0.02).minimize(loss)
    >>> ops[0].output("SquaredAccumOut")
    ['fc_0.w_0_squared_0']
    """

    learning_rate: float | Variable
    l1: float = 0.0
    l2: float = 0.0
    lr_power: float = -0.5
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "ftrl"
    states = (
        State("SquaredAccumulator", "squared", out="SquaredAccumOut"),
        State("LinearAccumulator", "linear", out="LinearAccumOut"),
    )
    attributes = "l1 l2 lr_power"


FtrlOptimizer = Ftrl
