"""LAMB: Adam with a rate of its own for every parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..clip import GradientClipBase
from ..errors import ArgumentError
from ..ir.variable import Variable
from ..regularizer import WeightDecayRegularizer
from .arguments import number
from .optimizer import OPTIMIZERS, Optimizer
from .states import State


@OPTIMIZERS
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

    _shown = "lamb_weight_decay=_weight_decay weight_decay= exclude_from_weight_decay_fn=_excluded"

    type = "lamb"

    def __init__(
        self,
        learning_rate: float | Variable = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameter_list: Iterable[Variable | str] | None = None,
        regularization: WeightDecayRegularizer | None = None,
        grad_clip: GradientClipBase | None = None,
        exclude_from_weight_decay_fn: Callable[[Variable], bool] | None = None,
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
        self._weight_decay = number("Lamb", "lamb_weight_decay", lamb_weight_decay)
        self._beta1 = number("Lamb", "beta1", beta1, least=0, below=1)
        self._beta2 = number("Lamb", "beta2", beta2, least=0, below=1)
        self._epsilon = number("Lamb", "epsilon", epsilon, least=0)
        excluded = exclude_from_weight_decay_fn
        if excluded is not None and not callable(excluded):
            raise ArgumentError(
                f"Lamb: expected exclude_from_weight_decay_fn to be None or a function of a "
                f"parameter, got {excluded!r:.60}"
            )
        self._excluded = excluded
        self.states = (
            State("Moment1", "moment1"),
            State("Moment2", "moment2"),
            State("Beta1Pow", "beta1_pow_acc", self._beta1, True, out=None, on_host=True),
            State("Beta2Pow", "beta2_pow_acc", self._beta2, True, out=None, on_host=True),
        )

    def attrs(self, param: Variable) -> dict[str, Any]:
        excluded = self._excluded is not None and self._excluded(param)
        return {
            "beta1": self._beta1,
            "beta2": self._beta2,
            "epsilon": self._epsilon,
            "weight_decay": 0.0 if excluded else self._weight_decay,
        }


LambOptimizer = Lamb
