"""RMSProp: gradients divided by the root of the mean of their squares."""

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
class RMSProp(Optimizer):
    """RMSProp: steps by gradients, each divided by the root of the running mean of its square.

    Tieleman and Hinton, Lecture 6.5: rmsprop, Coursera, 2012.

    Args:
        rho: how much of the running means stays.
        epsilon: keeps the division finite; stands under the root.
        momentum: how much of the last step stays.
        centered: divide by the root of the variance instead: Graves, Generating sequences with
            recurrent neural networks, 2013.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.RMSProp(0.01, rho=0.9).minimize(loss)
    >>> ops[0].input("MeanSquare")
    ['fc_0.w_0_mean_square_0']
    """

    learning_rate: float | Variable
    rho: float = 0.95
    epsilon: float = 1e-6
    momentum: float = 0.0
    centered: bool = False
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "rmsprop"
    states = (
        State("Moment", "momentum"),
        State("MeanSquare", "mean_square"),
        State("MeanGrad", "mean_grad"),
    )
    attributes = "epsilon decay=rho momentum centered"


RMSPropOptimizer = RMSProp
