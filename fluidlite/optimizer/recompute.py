"""Training with less memory: forward values between checkpoints are computed again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import ArgumentError
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from .optimizer import Optimizer, Pair


class RecomputeOptimizer(Optimizer):
    """An optimizer that keeps only checkpoints of the forward values; the rest is computed again
    for the gradients.

    Values and gradients are the same to the last bit, those of dropout included.

    Source: Chen, Xu, Zhang and Guestrin, Training Deep Nets with Sublinear Memory Cost, 2016.

    Args:
        optimizer: makes the steps.

    Raises:
        ArgumentError: ``optimizer`` is no optimizer.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> hidden = fluid.layers.fc(x, 8, act="tanh")
    >>> loss = fluid.layers.mean(fluid.layers.fc(hidden, 1))
    >>> optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    >>> optimizer.set_checkpoints([hidden])
    >>> _ = optimizer.minimize(loss)
    """

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentError(
                f"expected an optimizer, such as fluid.optimizer.SGD(0.1), got {optimizer!r:.60}"
            )
        self._optimizer = optimizer

    def set_checkpoints(self, checkpoints: Sequence[Variable | str]) -> None:
        """Say which forward values are kept.

        Args:
            checkpoints: variables of the loss's block, or their names.

        Raises:
            ArgumentError: this is no list, or something else is in it.
        """
        if not isinstance(checkpoints, (list, tuple)):
            raise ArgumentError(
                f"expected checkpoints to be a list of variables, got {checkpoints!r:.60}"
            )
        for each in checkpoints:
            if not isinstance(each, (Variable, str)):
                raise ArgumentError(f"expected checkpoints to be variables, got {each!r:.60}")
        self._optimizer._checkpoints = list(checkpoints)

    _set_checkpoints = set_checkpoints  # fluid 1.8's name

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Iterable[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
        callbacks: Sequence[Callable[..., Any]] | None = None,
    ) -> list[tuple[Variable, Variable]]:
        """Append the gradients of a loss; arguments as of :meth:`Optimizer.backward`.

        Raises:
            ArgumentError: no checkpoints have been set.
        """
        if self._optimizer._checkpoints is None:
            raise ArgumentError("RecomputeOptimizer: call set_checkpoints([...]) first")
        return self._optimizer.backward(
            loss, startup_program, parameter_list, no_grad_set, callbacks
        )

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
        return getattr(self._optimizer, name)

    def __repr__(self) -> str:
        return f"<RecomputeOptimizer of {self._optimizer!r}>"
