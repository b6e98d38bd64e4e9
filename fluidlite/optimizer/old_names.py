"""Names by which optimizers that users derived from fluid 1.8's say how they make a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from ..ground.protected import answers
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program, default_main_program, default_startup_program
from ..ir.variable import Variable, is_tensor
from ..layer_helper import LayerHelper
from .arguments import Pair
from .states import State


def _states(optimizer: Any) -> Any:
    return optimizer._states if optimizer._eager is None else optimizer._eager.states


class _Rates(dict[Program, Any]):
    """The learning rates of an optimizer's programs; one that is set is used there."""

    def __init__(self, optimizer: Any) -> None:
        programs = [default_main_program(), *(known() for known, _ in optimizer._rates.items())]
        rates = [(each, optimizer._global_learning_rate(each)) for each in programs if each]
        super().__init__((program, rate) for program, rate in rates if rate is not None)
        self._kept = optimizer._rates

    def __setitem__(self, program: Program, rate: Variable) -> None:
        self._kept.keep(program, rate.name)
        super().__setitem__(program, rate)


@answers(
    _accumulators=lambda self: defaultdict(dict, _states(self).by_name()),
    _opti_name_list=lambda self: _states(self).names(),
    _learning_rate_map=_Rates,
    _dtype=lambda self: next((rate.dtype for rate in _Rates(self).values()), None),
    helper=lambda self: LayerHelper(type(self).__name__) if _Rates(self) else None,
)
class OldOptimizer:
    """What a subclass may write anew, and what it may call there."""

    def _create_accumulators(self, block: Block, parameters: Iterable[Variable]) -> None:
        """Make what is kept for parameters, by ``_add_accumulator``."""

    def _append_optimize_op(self: Any, block: Block, param_and_grad: Pair) -> Operator:
        """Append the operator of a parameter's step; make it, of a tensor."""
        if is_tensor(param_and_grad[0]):
            return self._eager.make([param_and_grad])
        made: Operator = self.append_step(
            block, *param_and_grad, self._create_param_lr(param_and_grad)
        )
        return made

    def _finish_update(self: Any, block: Block, parameters_and_grads: Sequence[Pair]) -> None:
        """Append what follows when all parameters have been updated."""
        self.finish(block, parameters_and_grads)

    def _add_accumulator(
        self: Any,
        name: str,
        param: Variable,
        dtype: Any = None,
        fill_value: float = 0.0,
        shape: Sequence[int] | None = None,
        type: Any = None,
        device: str | None = None,
    ) -> Variable:
        one = shape is not None and list(shape) == [1]
        state = State("", name, fill_value, one, dtype=dtype, on_host=device == "cpu")
        if is_tensor(param):
            return self._eager.states.added(state, param)
        main, startup = default_main_program(), default_startup_program()
        made: Variable = self._states.make(main, startup, state, param)
        return made

    def _get_accumulator(self: Any, name: str, param: Variable) -> Variable:
        found: Variable = self.state_of(name, param)
        return found

    def _create_param_lr(self: Any, param_and_grad: Pair) -> Variable:
        param = param_and_grad[0]
        return self._eager.rate_of(param) if is_tensor(param) else self.rate_of(param)

    @classmethod
    def steps_by_itself(cls) -> bool:
        """Whether a user's class says in ``_append_optimize_op`` how a parameter's step is made."""
        return cls._append_optimize_op is not OldOptimizer._append_optimize_op
