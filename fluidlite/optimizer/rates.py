"""Learning rates of optimizers, by paddle 2's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..ground.arguments import refused
from ..ir.name_scope import name_scope
from ..ir.operator import OpRole
from ..ir.variable import Parameter, Variable
from ..layers.decay import LearningRateDecay

if TYPE_CHECKING:
    from ..scope import Scope
    from .eager import EagerSteps


class HasRate:
    """What optimizers have by paddle 2's names for their learning rate."""

    if TYPE_CHECKING:
        _learning_rate: Any
        _eager: EagerSteps | None

        def current_step_lr(self, scope: Scope | None = None) -> float: ...

    def get_lr(self) -> float:
        """The learning rate of the next step; in programs the number that they begin with.

        Raises:
            ArgumentError: the rate is a variable of a program.
        """
        return self.current_step_lr()

    def set_lr_scheduler(self, scheduler: LearningRateDecay) -> None:
        """Take the learning rate from a scheduler from now on.

        Args:
            scheduler: one of ``fluid.optimizer.lr``, or a decay of ``fluid.dygraph``.

        Raises:
            ArgumentError: it is something else, or this is an optimizer of programs.

        >>> w = fluid.create_parameter([2], "float32")
        >>> sgd = fluid.optimizer.SGD(0.1, parameters=[w])
        >>> sgd.set_lr_scheduler(fluid.optimizer.lr.StepDecay(0.5, 10))
        >>> sgd.get_lr()
        0.5
        """
        kind = type(self).__name__
        if not isinstance(scheduler, LearningRateDecay):
            wanted = "one such as fluid.optimizer.lr.StepDecay(0.1, 10)"
            raise refused(kind, "scheduler", wanted, scheduler)
        if self._eager is None:
            raise ArgumentError(
                f"{kind}: a scheduler is for eager parameters; in programs give the optimizer a "
                f"schedule of fluid.layers, or call set_lr(rate, scope)"
            )
        self._learning_rate = self._eager.rate = scheduler


def scaled_rate(rate: Variable, param: Variable) -> Variable:
    """The rate for a parameter: times its own factor, in its element type.

    Args:
        rate: the optimizer's.
        param: the parameter.
    """
    factor = param.optimize_attr["learning_rate"] if isinstance(param, Parameter) else 1.0
    if isinstance(factor, Variable):
        return factor
    if factor == 1.0 and rate.dtype == param.dtype:
        return rate
    f = param.program.current_block().builder("tmp")
    with (
        param.program.as_role(OpRole.OPTIMIZE | OpRole.LRSCHED),
        name_scope("scale_with_param_lr"),
    ):
        if rate.dtype != param.dtype:
            rate = f.cast(rate, in_dtype=rate.dtype, out_dtype=param.dtype)
        return rate if factor == 1.0 else f.scale(rate, scale=float(factor))
