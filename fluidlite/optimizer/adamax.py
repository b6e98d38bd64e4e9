"""Adamax: Adam with the largest gradient in place of the mean of squares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..clip import GradientClipBase
from ..ground.fields import from_fields
from ..ir.block import Block
from ..ir.name_scope import name_scope
from ..ir.operator import OpRole
from ..ir.variable import Variable
from ..regularizer import WeightDecayRegularizer
from .eager import EagerSteps
from .optimizer import OPTIMIZERS, Optimizer
from .states import State


@OPTIMIZERS
@from_fields
class Adamax(Optimizer):
    """Adamax: steps by the running mean of the gradient, divided by a decaying maximum of its size.

    Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, section 7.1.

    Args:
        beta1: how much of the running mean stays.
        beta2: how much of the maximum stays.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> ops, pairs = fluid.optimizer.Adamax(0.01).minimize(loss)
    >>> [op.type for op in ops]
    ['adamax', 'scale']
    """

    learning_rate: float | Variable = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "adamax"
    attributes = "beta1 beta2 epsilon"

    def begin(self, given: dict[str, Any]) -> None:
        super().begin(given)
        self.states = (
            State("Moment", "moment"),
            State("InfNorm", "inf_norm"),
            State("Beta1Pow", "beta1_pow_acc", given["beta1"], one_number=True, out=None),
        )

    def finish(self, block: Block, pairs: Sequence[tuple[Variable, Variable]]) -> None:
        for param, grad in pairs:
            beta1 = self.attrs(param)["beta1"]
            power = self.state_of("beta1_pow_acc", param)
            # "adamx": fluid's programs spell it so
            with block.program.as_role(OpRole.OPTIMIZE, (param, grad)), name_scope("adamx"):
                block.append_op("scale", {"X": power}, {"Out": power}, {"scale": beta1})

    def finish_eagerly(self, steps: EagerSteps, parameters: Sequence[Any]) -> None:
        for param in parameters:
            power = steps.of("beta1_pow_acc", param)
            power.array = power.array * self.attrs(param)["beta1"]


AdamaxOptimizer = Adamax
