"""Optimizers whose weight decay does not go through the gradients.

I. Loshchilov, F. Hutter: Decoupled weight decay regularization, ICLR 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import layers
from ...errors import ArgumentError
from ...ir.name_scope import name_scope
from ...ir.program import default_main_program, default_startup_program, program_guard
from ...ir.variable import Variable
from ...optimizer.optimizer import Optimizer


class DecoupledWeightDecay:
    """Takes a part of a parameter away before an optimizer's step.

    Args:
        coeff: which part: a number or a variable.
        apply_decay_param_fun: says of a parameter's name whether it decays; all do when None.
        kwargs: of the optimizer.
    """

    def __init__(
        self,
        coeff: Any = 0.0,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(coeff, (float, Variable)):
            raise ArgumentError(f"expected coeff to be a float or a variable, got {coeff!r:.60}")
        self._coeff = coeff
        self._decays = apply_decay_param_fun
        super().__init__(**kwargs)

    def step_of(self, loss: Any, startup_program: Any, *given: Any) -> Any:
        """As of an optimizer."""
        pairs = super().backward(loss, startup_program, *given)  # type: ignore[misc]
        startup = startup_program or default_startup_program()
        with program_guard(loss.block.program, startup):
            self._decay(pairs)
        steps = super().apply_optimize(loss, startup_program, pairs)  # type: ignore[misc]
        return steps, pairs

    def _decay(self, pairs: Any) -> None:
        if not isinstance(self._coeff, Variable) and self._coeff == 0.0:
            return
        taken = []
        with default_main_program()._optimized_guard([]), name_scope("weight_decay"):
            for param, grad in pairs:
                if grad is not None and (self._decays is None or self._decays(param.name)):
                    taken.append((param, param * self._coeff))
            for param, part in taken:
                layers.assign(layers.elementwise_sub(param, part), output=param)


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Optimizer]:
    """A class of optimizers that decay weights, too.

    Args:
        base_optimizer: the class that makes the steps.

    Returns:
        A class with the arguments ``weight_decay`` and ``apply_decay_param_fun`` before its own.

    Raises:
        ArgumentError: it is no class of optimizers.
    """
    if not isinstance(base_optimizer, type) or not issubclass(base_optimizer, Optimizer):
        raise ArgumentError(f"expected a class of optimizers, got {base_optimizer!r:.60}")

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecay, base_optimizer):  # type: ignore[misc, valid-type]
        """Takes a part of a parameter away before each step."""

        def __init__(
            self,
            weight_decay: Any,
            apply_decay_param_fun: Callable[[str], bool] | None = None,
            **kwargs: Any,
        ) -> None:
            super().__init__(weight_decay, apply_decay_param_fun, **kwargs)

    return OptimizerWithDecoupledWeightDecay
