"""Optimizers around others, which make their steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import ArgumentError
from ..ground.protected import raise_refused
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from .arguments import Pair, Pairs
from .optimizer import Optimizer


def an_optimizer(owner: str, value: Any) -> Optimizer:
    """What has to be an optimizer.

    Args:
        owner: what takes it.
        value: what was given.

    Raises:
        ArgumentError: it is something else.
    """
    if not isinstance(value, Optimizer):
        raise ArgumentError(
            f"{owner}: expected an optimizer, such as fluid.optimizer.SGD(0.1), got "
            f"{value!r:.60} of type {type(value).__name__}"
        )
    return value


class Delegates:
    """What is like the optimizer that it has around it, but for what it does itself."""

    def __getattr__(self, name: str) -> Any:
        """What the optimizer has by that name."""
        if name.startswith("__") or "_optimizer" not in vars(self):
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._optimizer!r})"


class WrappedOptimizer(Optimizer):
    """An optimizer that has another one make the steps, and is like that one otherwise.

    Args:
        optimizer: the other one.

    Raises:
        ArgumentError: ``optimizer`` is no optimizer.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = an_optimizer(self._kind, optimizer)

    def check(self) -> None:
        """Refuse to find gradients where something is missing.

        Raises:
            ArgumentError: it is.
        """

    def gradients_of(self, loss: Variable, startup_program: Program | None, *given: Any) -> Pairs:
        self.check()
        return self._optimizer.backward(loss, startup_program, *given)

    def apply_gradients(self, params_grads: Iterable[Pair]) -> list[Operator]:
        """Append one step; arguments as of :meth:`Optimizer.apply_gradients`."""
        return self._optimizer.apply_gradients(params_grads)

    def apply_optimize(
        self, loss: Variable, startup_program: Program | None, params_grads: Iterable[Pair]
    ) -> list[Operator]:
        """Append one step; arguments as of :meth:`Optimizer.apply_optimize`."""
        return self._optimizer.apply_optimize(loss, startup_program, params_grads)

    def __getattr__(self, name: str) -> Any:
        if name == "_optimizer":
            raise AttributeError(name)
        raise_refused(type(self), name)
        return getattr(self._optimizer, name)

    def __repr__(self) -> str:
        return f"<{self._kind} of {self._optimizer!r}>"
