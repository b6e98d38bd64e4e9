"""Adam: steps scaled by running means of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..clip import GradientClipBase
from ..ground.fields import from_fields
from ..ir.variable import Variable
from ..opdef.arithmetic import Arithmetic
from ..regularizer import WeightDecayRegularizer
from .optimizer import OPTIMIZERS, Optimizer
from .states import State


@OPTIMIZERS
@from_fields
class Adam(Optimizer):
    """Adam: steps scaled by running means of the gradient and of its square.

    Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015.

    Args:
        beta1: how much of the running mean of the gradient stays; a number in [0, 1), or a variable
            of one element, for which the correction of the first steps begins with 0.9.
        beta2: the same for the mean of its square; 0.999.
        lazy_mode: update only the rows that a gradient of selected rows has.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> adam = fluid.optimizer.Adam(0.01)
    >>> ops, pairs = adam.minimize(loss)
    >>> adam.get_opti_var_name_list()[:2]
    ['fc_0.w_0_moment1_0', 'fc_0.w_0_moment2_0']
    """

    learning_rate: float | Variable = 0.001
    beta1: float | Variable = 0.9
    beta2: float | Variable = 0.999
    epsilon: float = 1e-8
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None
    lazy_mode: bool = False

    type = "adam"
    attributes = "epsilon lazy_mode"

    def begin(self, given: dict[str, Any]) -> None:
        super().begin(given)
        betas = {name: given[name] for name in _USUAL}
        self._beta_variables: dict[str, Any] = {
            n: b for n, b in betas.items() if isinstance(b, Arithmetic)
        }
        self._betas = {**betas, **{n: _USUAL[n] for n in self._beta_variables}}
        self.states = (
            State("Moment1", "moment1"),
            State("Moment2", "moment2"),
            State("Beta1Pow", "beta1_pow_acc", self._betas["beta1"], True, on_host=True),
            State("Beta2Pow", "beta2_pow_acc", self._betas["beta2"], True, on_host=True),
        )

    def attrs(self, param: Variable) -> dict[str, Any]:
        given = {n: b for n, b in self._betas.items() if n not in self._beta_variables}
        return {**given, **super().attrs(param)}

    def inputs(self, param: Variable) -> dict[str, Variable]:
        return {f"{name.capitalize()}Tensor": v for name, v in self._beta_variables.items()}


#: what the corrections begin with where a variable says how much stays
_USUAL = {"beta1": 0.9, "beta2": 0.999}

AdamOptimizer = Adam
