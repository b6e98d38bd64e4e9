"""Steps by curvature: the L-BFGS of paddle 2.6, for all parameters at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...clip import GradientClipBase
from ...errors import ArgumentError, RateConflictError, UnsupportedError
from ...ground.tracebacks import api_boundaries
from ...optimizer.line_search import Point, WolfeSearch
from .optimizer import OPTIMIZERS, Decay, Optimizer, Parameters, Rate

Array = np.ndarray[Any, Any]
#: what is kept between steps, by paddle's names: the directions that were tried as differences of
#: gradients (yk) and of parameters (sk), and the inverses of their products
_HISTORY = "old_yk", "old_sk", "ro"


@OPTIMIZERS
class LBFGS(Optimizer):
    """L-BFGS: each step follows the gradient times an estimate of the inverse of the matrix of
    second derivatives, which follows from the last steps.

    Nocedal, Updating quasi-Newton matrices with limited storage, 1980.

    Args:
        learning_rate: the length of steps; with a line search the first length that is tried.
        max_iter: how many steps one call makes at most.
        max_eval: how often it evaluates the loss at most; 5 / 4 of ``max_iter`` when None.
        tolerance_grad: a gradient whose elements are not larger ends a call.
        tolerance_change: the same of a step, and of a change of the loss.
        history_size: from how many steps the estimate follows.
        line_search_fn: strong_wolfe; None for steps of the given length.
        weight_decay: accepted: losses say their own decay.
        grad_clip: accepted: gradients are not clipped.

    Raises:
        RateConflictError: there is no such line search.

    >>> from fluidlite import paddle
    >>> layer = paddle.nn.Linear(1, 1)
    >>> lbfgs = paddle.optimizer.LBFGS(parameters=layer.parameters(), max_iter=10)
    >>> def closure():
    ...     loss = ((layer(paddle.to_tensor([[1.0], [2.0]])) - 3.0) ** 2).mean()
    ...     lbfgs.clear_grad()
    ...     loss.backward()
    ...     return loss
    >>> first = lbfgs.step(closure)
    >>> float(closure()) < 1e-6
    True
    """

    def __init__(
        self,
        learning_rate: Rate = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: GradientClipBase | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._need_eager("LBFGS")
        if line_search_fn not in (None, "strong_wolfe"):
            raise RateConflictError(
                f"LBFGS: expected line_search_fn to be None or 'strong_wolfe', got "
                f"{line_search_fn!r:.60}"
            )
        self._max_iter = max_iter
        self._max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self._tolerance_grad, self._tolerance_change = tolerance_grad, tolerance_change
        self._history_size, self._line_search_fn = history_size, line_search_fn
        self._state: dict[str, Any] = {}

    def minimize(self, *given: Any, **named: Any) -> Any:
        """Not there: a step evaluates the loss more than once.

        Args:
            given, named: accepted.

        Raises:
            UnsupportedError: always; call ``step(closure)``.
        """
        raise UnsupportedError("LBFGS evaluates the loss several times: call step(closure)")

    def state_dict(self) -> dict[str, Any]:  # type: ignore[override]
        """What is kept between calls: numbers, vectors and lists of them under ``state``."""
        return {"state": dict(self._state)}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:  # type: ignore[override]
        """Go on from what :meth:`state_dict` gave.

        Args:
            state_dict: its result, or one that was saved.
        """
        self._state = dict(state_dict.get("state", {}))

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Make steps until one of the bounds is reached.

        Args:
            closure: evaluates the loss, clears gradients and makes new ones; gives the loss.

        Returns:
            the loss before the steps.

        Raises:
            ArgumentError: ``closure`` is no function.
        """
        if not callable(closure):
            raise ArgumentError(f"LBFGS: expected a function that gives the loss, got {closure!r}")
        return _Steps(self, closure).run()


class _Steps:
    """One call of ``step``."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any]) -> None:
        self._of = optimizer
        self._closure = closure
        self._parameters = optimizer._need_eager("step").parameters
        self._state = optimizer._state
        self._evaluations = 0

    def run(self) -> Any:
        first, state = self._evaluated(), self._state
        value, gradient = float(first), self._gradient()
        for number in range(1, self._of._max_iter + 1):
            if not abs(gradient).max(initial=0) > self._of._tolerance_grad:
                break
            state["n_iter"] = state.get("n_iter", 0) + 1
            direction, step = self._direction(gradient)
            before = value
            state.update(d=direction, prev_flat_grad=gradient, prev_loss=value)
            slope = float(gradient @ direction)
            if slope > -self._of._tolerance_change:
                break
            last = number == self._of._max_iter
            value, gradient, step = self._moved(
                Point(0.0, value, gradient, slope), direction, step, last
            )
            state["alpha"] = step
            moved = float(abs(direction * step).max())
            if last or self._evaluations >= self._of._max_eval:
                break
            if moved <= self._of._tolerance_change:
                break
            if abs(value - before) < self._of._tolerance_change:
                break
        return first

    def _moved(
        self, start: Point, direction: Array, step: float, last: bool
    ) -> tuple[float, Array, float]:
        """Search along a direction; the loss there, its gradient, and how far it was."""
        origin = [p.array for p in self._parameters]
        if self._of._line_search_fn is not None:
            at = partial(self._at, origin, direction)
            search = WolfeSearch(at, start, length=float(abs(direction).max()))
            found = search.run(step)
            self._place(origin, direction, found.step)
            return found.value, found.gradient, found.step
        self._place(origin, direction, step)
        if last:
            return start.value, start.gradient, step
        value = float(self._evaluated())
        return value, self._gradient(), step

    def _direction(self, gradient: Array) -> tuple[Array, float]:
        """Where to go, and how far at first."""
        state, rate = self._state, self._of.get_lr()
        if state["n_iter"] == 1 or "d" not in state:
            state.update({name: [] for name in _HISTORY}, H_diag=1.0, al=[])
            return -gradient, min(1.0, 1.0 / float(abs(gradient).sum())) * rate
        change, moved = gradient - state["prev_flat_grad"], state["d"] * state["alpha"]
        product = float(change @ moved)
        if product > 1e-10:
            for name, value in zip(_HISTORY, (change, moved, 1.0 / product)):
                kept = state[name] = [*state[name], value]
                del kept[: -self._of._history_size]
            state["H_diag"] = product / float(change @ change)
        return -self._curved(gradient), rate

    def _curved(self, gradient: Array) -> Array:
        """The gradient times the estimate of the inverse: the recursion in two loops."""
        state = self._state
        history = list(zip(*(state[name] for name in _HISTORY)))
        shares = []
        for change, moved, weight in reversed(history):
            shares.append(float(moved @ gradient) * weight)
            gradient = gradient - shares[-1] * change
        state["al"] = shares[::-1]
        found = gradient * state["H_diag"]
        for (change, moved, weight), share in zip(history, state["al"]):
            found = found + (share - float(change @ found) * weight) * moved
        return found.astype(gradient.dtype)

    def _at(self, origin: list[Array], direction: Array, step: float) -> Point:
        self._place(origin, direction, step)
        value = float(self._evaluated())
        gradient = self._gradient()
        return Point(step, value, gradient, float(gradient @ direction))

    def _evaluated(self) -> Any:
        self._evaluations += 1
        self._state["func_evals"] = self._state.get("func_evals", 0) + 1
        return self._closure()

    def _gradient(self) -> Array:
        """The gradients of all parameters in a vector; zeros if there are none."""
        parts = [
            np.zeros(p.array.size, p.array.dtype) if p.grad is None else p.grad.array.reshape(-1)
            for p in self._parameters
        ]
        return np.concatenate(parts)

    def _place(self, origin: list[Array], direction: Array, step: float) -> None:
        """Set the parameters to a point along a direction."""
        begin = 0
        for parameter, array in zip(self._parameters, origin):
            part = direction[begin : begin + array.size].reshape(array.shape)
            parameter.set_value((array + step * part).astype(array.dtype))
            begin += array.size


api_boundaries(globals())
