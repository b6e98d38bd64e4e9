"""LAMB: Adam with a rate of its own for every parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..clip import GradientClipBase
from ..errors import ArgumentError
from ..ground.fields import from_fields
from ..ir.variable import Variable
from ..regularizer import WeightDecayRegularizer
from .optimizer import OPTIMIZERS, Optimizer
from .states import State


@OPTIMIZERS
@from_fields
class Lamb(Optimizer):
    """Adam whose steps are as long as the parameters, times the learning rate.

    You et al., Large batch optimization for deep learning: training BERT in 76 minutes, ICLR 2020.
    The running means are not corrected for how they begin.

    Args:
        lamb_weight_decay: what a parameter counts in its step.
        beta1: how much of the running mean of the gradient stays.
        beta2: the same for the mean of its square.
        exclude_from_weight_decay_fn: a function that says of a parameter whether it is left out of
            weight decay.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> lamb = fluid.optimizer.Lamb(exclude_from_weight_decay_fn=lambda p: p.name.endswith("b_0"))
    >>> ops, pairs = lamb.minimize(loss)
    >>> [(op.input("Param"), op.attr("weight_decay")) for op in ops]
    [(['fc_0.b_0'], 0.0), (['fc_0.w_0'], 0.009999999776482582)]
    """

    learning_rate: float | Variable = 0.001
    lamb_weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    exclude_from_weight_decay_fn: Callable[[Variable], bool] | None = None
    name: str | None = None

    type = "lamb"
    attributes = "beta1 beta2 epsilon weight_decay=lamb_weight_decay"
    _shown = "exclude_from_weight_decay_fn=_excluded"

    def begin(self, given: dict[str, Any]) -> None:
        excluded = given.pop("exclude_from_weight_decay_fn")
        if excluded is not None and not callable(excluded):
            raise ArgumentError(
                f"Lamb: expected exclude_from_weight_decay_fn to be None or a function of a "
                f"parameter, got {excluded!r:.60}"
            )
        super().begin(given)
        self._excluded = excluded
        self.states = (
            State("Moment1", "moment1"),
            State("Moment2", "moment2"),
            State("Beta1Pow", "beta1_pow_acc", given["beta1"], True, out=None, on_host=True),
            State("Beta2Pow", "beta2_pow_acc", given["beta2"], True, out=None, on_host=True),
        )

    def attrs(self, param: Variable) -> dict[str, Any]:
        excluded = self._excluded is not None and self._excluded(param)
        return {**super().attrs(param), **({"weight_decay": 0.0} if excluded else {})}


LambOptimizer = Lamb
