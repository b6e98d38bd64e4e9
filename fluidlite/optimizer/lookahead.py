"""Lookahead: fast parameters that return to slow ones."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ArgumentError
from ..ground.arguments import integer
from ..ground.doubts import number
from ..ground.reprs import Described
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program, program_guard
from ..ir.rollback import all_or_nothing
from ..ir.variable import Parameter, Variable
from ..layers.branch import Switch
from ..layers.creation import assign, fill_constant
from ..layers.elementwise import elementwise_add, elementwise_mod, elementwise_mul, elementwise_sub
from ..layers.math import cast
from ..layers.variables import create_global_var, increment
from .arguments import OF_LOSS, programs_of, stepping_within
from .optimizer import Optimizer
from .wrapped import an_optimizer


@OF_LOSS
class LookaheadOptimizer(Described):
    """An optimizer whose parameters go back, every ``k`` steps, to between where they are and where
    they were: ``slow = alpha * fast + (1 - alpha) * slow; fast = slow``.

    Zhang, Lucas, Hinton and Ba, Lookahead optimizer: k steps forward, 1 step back, NeurIPS 2019.

    Args:
        inner_optimizer: makes the steps in between.
        alpha: how much of the way stays.
        k: the number of steps in between.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> sgd = fluid.optimizer.SGD(0.1)
    >>> ops, pairs = fluid.optimizer.LookaheadOptimizer(sgd, alpha=0.5, k=5).minimize(loss)
    >>> loss.block.var("fc_0.w_0@SLOW").shape
    (3, 1)
    """

    #: whether the slow parameters begin behind the first step, as in paddle 2
    begins_late: ClassVar[bool] = False

    def __init__(self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5) -> None:
        self.inner_optimizer: Optimizer = an_optimizer("LookaheadOptimizer", inner_optimizer)
        self.k: int = integer(self, "k", k)
        self.alpha: float = number("LookaheadOptimizer", "alpha", alpha, least=0)
        if self.alpha > 1:
            raise ArgumentError(f"LookaheadOptimizer: expected alpha in [0, 1], got {alpha}")
        self.type = "lookahead"

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        *,
        memory: str | float | None = None,
        batch_size: int | None = None,
    ) -> tuple[list[Operator], list[tuple[Variable, Variable]]]:
        """Append gradients, steps of the inner optimizer, and the way back every ``k`` steps.

        When it fails, the programs are as they were.

        Args:
            loss: a variable of one element.
            startup_program: where variables get their first values; the default one when None.
            memory, batch_size: as of :meth:`Optimizer.minimize`.

        Returns:
            what the inner optimizer's ``minimize`` returns.

        Raises:
            ArgumentError: an argument is of another kind.
            NoGradientError: an operator on the way has no gradient rule.
        """
        main, startup = programs_of(loss, startup_program)
        with all_or_nothing(main, startup), stepping_within(loss, startup, memory, batch_size):
            result = self.inner_optimizer.minimize(loss, startup)
            slow = [(p, _slow(p, startup.global_block())) for p in main.all_parameters()]
            with program_guard(main, startup):
                self._go_back(slow)
        return result

    def _go_back(self, parameters: list[tuple[Parameter, Variable]]) -> None:
        """Append what returns to the slow parameters when it is time."""
        k = _kept_number("lookahead_k", self.k, "int32")
        alpha = _kept_number("lookahead_alpha", self.alpha, "float32")
        step = _kept_number("lookahead_step", 0, "int32")
        increment(step, value=1.0)
        zero = fill_constant([1], "float32", 0.0)
        one = fill_constant([1], "float32", 1.0)
        over = elementwise_mod(step, k)
        equal: Any = over == zero  # a variable, in two operators
        if self.begins_late:
            begins: Any = step == fill_constant([1], "int32", 1)
            with Switch() as switch, switch.case(begins):
                for fast, slow in parameters:
                    assign(fast, slow)
        with Switch() as switch:
            with switch.case(equal):
                for fast, slow in parameters:
                    between = _between(fast, slow, alpha, one)
                    assign(between, slow)
                    assign(between, fast)
            with switch.default():
                pass


def _slow(param: Parameter, startup: Block) -> Variable:
    """The slow form of a parameter, which begins where it does."""
    slow, first = (
        block.create_var(
            name=f"{param.name}@SLOW", shape=param.shape, dtype=param.dtype, persistable=True
        )
        for block in (param.block, startup)
    )
    startup.append_op("assign", {"X": param.name}, {"Out": first})
    return slow


def _between(fast: Variable, slow: Variable, alpha: Variable, one: Variable) -> Variable:
    """alpha * fast + (1 - alpha) * slow."""
    if fast.dtype is not alpha.dtype:
        alpha, one = cast(alpha, fast.dtype), cast(one, fast.dtype)
    moved = elementwise_mul(fast, alpha)
    stays = elementwise_mul(slow, elementwise_sub(one, alpha))
    return elementwise_add(moved, stays)


def _kept_number(name: str, value: float, dtype: str) -> Variable:
    return create_global_var([1], value, dtype, persistable=True, name=name)
