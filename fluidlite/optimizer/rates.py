"""Learning rates of optimizers: numbers, variables of programs, and schedulers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import unique_name
from ..errors import ArgumentError
from ..ground.arguments import is_finite, refused, said
from ..ground.doubts import number
from ..ground.dtypes import DType
from ..ground.state import builds
from ..initializer import Constant
from ..ir.name_scope import name_scope
from ..ir.operator import OpRole
from ..ir.program import Program, default_main_program, default_startup_program
from ..ir.variable import Parameter, Variable
from ..layers.decay import LearningRateDecay
from ..layers.params import global_variable
from .states import tensor_of

if TYPE_CHECKING:
    from ..ground.weak_tables import WeakTable
    from ..scope import Scope
    from .eager import EagerSteps


class HasRate:
    """What optimizers do with their learning rate."""

    if TYPE_CHECKING:
        _learning_rate: Any
        _eager: EagerSteps | None
        _rates: WeakTable[Program, str]

        @property
        def _kind(self) -> str: ...
        def _needs_scope(self, call: str) -> ArgumentError: ...

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
                f"{kind}: another scheduler is for eager parameters; in programs make the "
                f"optimizer with one, or call set_lr(rate, scope)"
            )
        self._learning_rate = self._eager.rate = scheduler

    def rate_of(self, param: Variable) -> Variable:
        """The learning rate of a parameter, times its own factor, in its element type."""
        rate = self._global_learning_rate(param.program)
        if rate is None:
            rate = self._rate(param.program, default_startup_program(), param.dtype)
        return scaled_rate(rate, param)

    def _rate_first(self, main: Program, startup: Program, dtype: DType) -> None:
        """Make that variable in front of what the optimizer keeps, as paddle 2 does."""
        if builds.get():
            self._rate(main, startup, dtype)

    def _rate(self, main: Program, startup: Program, dtype: DType) -> Variable:
        """The variable of the learning rate in a program; created if it does not exist."""
        there = self._global_learning_rate(main)
        if there is not None:
            return there
        rate = self._learning_rate
        if isinstance(rate, Variable):
            raise ArgumentError(
                f"the learning rate {rate.name!r} of {self._kind} is a variable of another program "
                f"than the loss"
            )
        name = unique_name.generate("learning_rate")
        self._rates.keep(main, name)
        if isinstance(rate, LearningRateDecay):
            main.schedules[name] = rate
            rate = rate.current()
        return global_variable(main, startup, name, (1,), dtype, Constant(rate))

    def _global_learning_rate(self, program: Program | None = None) -> Any:
        """The variable of the learning rate in a program; None when there is none yet.  With eager
        parameters, the rate as a tensor.

        fluid 1.8's name, and what its scripts fetch.

        Args:
            program: the default main program when None.
        """
        if self._eager is not None:
            return self._eager.rate_tensor() if self._eager.parameters else None
        program = default_main_program() if program is None else program
        if isinstance(self._learning_rate, Variable):
            return program.global_block().find_var_recursive(self._learning_rate.name)
        name = self._rates.of(program)
        return None if name is None else program.global_block().vars.get(name)

    def current_step_lr(self, scope: Scope | None = None) -> float:
        """The learning rate of the next step.

        Args:
            scope: where programs are run, as ``fluid.global_scope()``; None gives the number that
                they begin with.

        Raises:
            ArgumentError: without a scope, when the rate is a variable.
            NotInitializedError: the scope has no value of it.
        """
        if self._eager is not None:
            return self._eager.current_rate()
        if scope is None:
            if isinstance(self._learning_rate, Variable):
                raise self._needs_scope("current_step_lr(fluid.global_scope())")
            rate = self._learning_rate
            return rate.current() if isinstance(rate, LearningRateDecay) else rate
        rate = self._global_learning_rate()
        if rate is None:
            rate = self._learning_rate
        if not isinstance(rate, Variable):
            return rate
        tensor = tensor_of(rate.name, scope)
        return float(np.array(tensor).reshape(-1)[0])

    def set_lr(self, value: float, scope: Scope | None = None) -> None:
        """Use another learning rate from now on.

        Args:
            value: the rate.
            scope: where the program is run, as ``fluid.global_scope()``; needed when it has been
                built, since then a variable holds the rate.

        Raises:
            ArgumentError: ``value`` is no number, the rate is a variable of the user's, or the
                scope is missing.
            NotInitializedError: the scope has no value of it.

        >>> sgd = fluid.optimizer.SGD(0.1)
        >>> sgd.set_lr(0.05)
        >>> sgd.current_step_lr()
        0.05
        """
        wanted = self._checked_rate(value)
        if not isinstance(self._learning_rate, float) or not isinstance(wanted, float):
            raise ArgumentError(
                f"{self._kind}: set_lr sets a number in place of a number; "
                f"got {said(value)} in place of {said(self._learning_rate)}"
            )
        if self._eager is not None:
            self._eager.set_rate(wanted)
        rate = None if self._eager is not None else self._global_learning_rate()
        if rate is not None:
            if scope is None:
                raise self._needs_scope(f"set_lr({wanted}, fluid.global_scope())")
            tensor_of(rate.name, scope).set(np.full([1], wanted, rate.dtype.dtype))
        self._learning_rate = wanted

    def _checked_rate(self, given: Any) -> Any:
        if isinstance(given, (Variable, LearningRateDecay)):
            return given
        if not is_finite(given):
            raise refused(self, "the learning rate", "a number or a variable", given)
        return number(self, "the learning rate", given, least=0)


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
    with param.program.as_role(OpRole.OPTIMIZE | OpRole.LRSCHED), name_scope("scale_with_param_lr"):
        if rate.dtype != param.dtype:
            rate = f.cast(rate, in_dtype=rate.dtype, out_dtype=param.dtype)
        return rate if factor == 1.0 else f.scale(rate, scale=float(factor))
