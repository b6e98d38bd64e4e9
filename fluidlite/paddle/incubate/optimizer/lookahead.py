"""Lookahead in both modes: fast parameters that return to slow ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ground.arguments import integer, refused
from ....ground.docstrings import Family
from ....ground.tracebacks import api_boundaries
from ....ir.program import Program
from ....ir.variable import Variable
from ....optimizer import LookaheadOptimizer
from ....optimizer.wrapped import WrappedOptimizer, an_optimizer
from ...optimizer import Optimizer


def _share(alpha: float) -> float:
    if not isinstance(alpha, (int, float)) or not 0 <= alpha <= 1:
        raise refused("LookAhead", "alpha", "a number in [0, 1]", alpha)
    return float(alpha)


class _Late(LookaheadOptimizer):
    begins_late = True


@Family().like(LookaheadOptimizer)
class LookAhead(WrappedOptimizer, Optimizer):
    """
    >>> from fluidlite import paddle
    >>> layer = paddle.nn.Linear(2, 1)
    >>> sgd = paddle.optimizer.SGD(0.1, layer.parameters())
    >>> lookahead = paddle.incubate.LookAhead(sgd, alpha=0.2, k=5)
    >>> layer(paddle.ones([1, 2])).sum().backward()
    >>> lookahead.step()
    >>> lookahead.clear_grad()
    """

    def __init__(
        self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None
    ) -> None:
        super().__init__(an_optimizer("LookAhead", inner_optimizer))
        self.inner_optimizer: Optimizer = inner_optimizer
        self.alpha: float = _share(alpha)
        self.k: int = integer("LookAhead", "k", k)
        self._programs = _Late(inner_optimizer, alpha, k)
        self.name: str | None = name
        self._steps = 0
        self._slow: dict[int, Any] = {}  #: arrays, by the places of parameters

    def get_lr(self) -> float:
        """How much of the way stays."""
        return self.alpha

    def step(self) -> None:
        """Let the inner optimizer make its step; every ``k`` of them, go back."""
        self.inner_optimizer.step()
        self._go_back()

    def step_of(self, loss: Variable, startup_program: Program | None, *given: Any) -> Any:
        """Make a step, or append gradients of a loss, a step and the way back to its program, for
        all trainable parameters; the result is that of the inner optimizer's ``minimize``.
        """
        if isinstance(loss, Variable):
            return self._programs.minimize(loss, startup_program)
        found = self.inner_optimizer.minimize(loss, startup_program, *given)
        self._go_back()
        return found

    def state_dict(self) -> dict[str, Any]:  # type: ignore[override]
        """The slow parameters, by their names."""
        return {
            f"{p.name}_slow_0": p.results(self._slow[place])
            for place, p in enumerate(self._need_eager("state_dict").parameters)
            if place in self._slow
        }

    def set_state_dict(self, state_dict: Any) -> None:  # type: ignore[override]
        """Go on from what :meth:`state_dict` gave.

        Args:
            state_dict: it; the count of steps begins anew behind the first one.
        """
        for place, p in enumerate(self._need_eager("set_state_dict").parameters):
            value = state_dict.get(f"{p.name}_slow_0")
            if value is not None:
                self._slow[place] = np.array(getattr(value, "array", value))
                self._steps = max(self._steps, 1)

    def _go_back(self) -> None:
        self._steps += 1
        for place, p in enumerate(self._need_eager("step").parameters):
            if p.raw_gradient is None:
                continue
            slow = p.array if self._steps == 1 else self._slow.get(place, p.array)
            if self._steps % self.k == 0:
                alpha = np.asarray(self.alpha, p.array.dtype)
                slow = alpha * p.array + (1 - alpha) * slow
                p.set_value(slow)
            self._slow[place] = slow


api_boundaries(globals())
