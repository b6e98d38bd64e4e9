"""Large batches in parts: gradients are added up over several runs, and then make one step."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import ArgumentError
from ..ground.arguments import integer
from ..initializer import Constant
from ..ir.operator import Operator, OpRole
from ..ir.program import Program, default_startup_program, program_guard
from ..ir.rollback import all_or_nothing
from ..ir.variable import Variable
from ..layers.compare import equal
from ..layers.creation import assign, fill_constant
from ..layers.driving import append_conditional, new_block
from ..layers.elementwise import elementwise_mod
from ..layers.math import scale, sums
from ..layers.params import global_variable
from ..layers.variables import create_global_var, increment
from .arguments import OF_LOSS
from .optimizer import Optimizer, Pair
from .wrapped import WrappedOptimizer


@OF_LOSS
class GradientMergeOptimizer(WrappedOptimizer):
    """An optimizer that makes one step of the gradients of ``k_steps`` runs.

    Until then gradients are added up, in variables called ``<parameter>@GRAD@GradientMerge``, and
    parameters and what the optimizer keeps stay as they are.  Clipping and regularization see the
    sum, or the mean.  The name is that of Paddle 2.

    Args:
        inner_optimizer: makes the steps.
        k_steps: the number of runs for a step.
        avg: use the mean of the gradients, as of one batch of all examples; else their sum.

    Raises:
        ArgumentError: an argument is of another kind, or the optimizer is one of eager parameters.

    >>> adam = fluid.optimizer.Adam(0.01)
    >>> _ = fluid.optimizer.GradientMergeOptimizer(adam, k_steps=4).minimize(loss)
    >>> loss.block.var("fc_0.w_0@GRAD@GradientMerge").persistable
    True
    """

    def __init__(self, inner_optimizer: Optimizer, k_steps: int = 1, avg: bool = True) -> None:
        super().__init__(inner_optimizer)
        if inner_optimizer._eager is not None:
            raise ArgumentError(
                "GradientMergeOptimizer: gradients of eager parameters are added up by backward(); "
                "call step() and clear_grad() after several of them"
            )
        self.inner_optimizer = inner_optimizer
        self.k_steps: int = integer(self, "k_steps", k_steps)
        self.avg: bool = bool(avg)
        self.type = "gradient_merge"

    def apply_gradients(self, params_grads: Iterable[Pair]) -> list[Operator]:
        """Append what adds gradients up, and a step that is made every ``k_steps`` runs; arguments
        as of :meth:`Optimizer.apply_gradients`.
        """
        pairs = [(param, grad) for param, grad in params_grads if grad is not None]
        if self.k_steps == 1 or not pairs:
            return self.inner_optimizer.apply_gradients(pairs)
        main, startup = pairs[0][0].program, default_startup_program()
        with (
            all_or_nothing(main, startup),
            program_guard(main, startup),
            main.as_role(OpRole.OPTIMIZE),
        ):
            return self._append(main, pairs)

    def _append(self, main: Program, pairs: list[tuple[Variable, Variable]]) -> list[Operator]:
        block = main.current_block()
        totals = []
        for param, grad in pairs:
            with main.as_role(OpRole.OPTIMIZE, (param, grad)):
                totals.append(_added(param, grad))
        due = self._is_due()
        with new_block("conditional_block", main) as steps:
            share = 1.0 / self.k_steps if self.avg else 1.0
            merged = [scale(total, scale=share) for total in totals]
            params = [param for param, _ in pairs]
            updates = self.inner_optimizer.apply_gradients(list(zip(params, merged, strict=True)))
            for total in totals:
                zeros = fill_constant(list(total.shape), total.dtype, 0.0)
                assign(zeros, total)
        append_conditional(block, steps, [due], scalar=True)
        return updates

    def apply_optimize(
        self, loss: Variable, startup_program: Program | None, params_grads: Iterable[Pair]
    ) -> list[Operator]:
        return Optimizer.apply_optimize(self, loss, startup_program, params_grads)

    def _apply(self, pairs: list[Pair], main: Program, startup: Program) -> list[Operator]:
        with all_or_nothing(main, startup), program_guard(main, startup):
            return self.apply_gradients(pairs)

    def _is_due(self) -> Variable:
        """Append a count of runs, and whether this one makes a step."""
        runs = create_global_var([1], 0, "int32", persistable=True, name="gradient_merge_step")
        increment(runs, value=1)
        k = fill_constant([1], "int32", self.k_steps)
        over = elementwise_mod(runs, k)
        assign(over, runs)
        return equal(over, fill_constant([1], "int32", 0))

    def __repr__(self) -> str:
        return f"<GradientMergeOptimizer of {self.inner_optimizer!r}: k_steps={self.k_steps}>"


def _added(param: Variable, grad: Variable) -> Variable:
    """Append the addition of a gradient to those of the runs before."""
    main, startup = param.program, default_startup_program()
    name = f"{param.name}@GRAD@GradientMerge"
    total = global_variable(main, startup, name, param.shape, param.dtype, Constant(0.0))
    sums([total, grad], out=total)
    return total
