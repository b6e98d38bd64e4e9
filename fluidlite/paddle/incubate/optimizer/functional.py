"""Functions whose least values are found by their curvature: BFGS, and L-BFGS.

Nocedal and Wright, Numerical optimization, 2006, chapters 3, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ....eager.engine import grad
from ....eager.tensor import Tensor
from ....errors import ArgumentError, UnsupportedError
from ....ground.arguments import refused
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....ground.spellings import Spelling
from ....ground.tracebacks import api_boundaries
from ....optimizer.line_search import LineSearch, Point, cubic_minimum
from ...holders import hold

__all__ = ["minimize_bfgs", "minimize_lbfgs"]

Array = np.ndarray[Any, Any]

_MINIMIZERS = Family(
    {
        "objective_func": "a function of a tensor [n] that gives a tensor of one element.",
        "initial_position": "where it begins: a tensor [n].",
        "history_size": "from how many steps curvature follows.",
        "max_iters": "how many steps are made at most.",
        "tolerance_grad": "a gradient whose elements are all smaller ends it.",
        "tolerance_change": "a step whose elements are all smaller, too.",
        "initial_inverse_hessian_estimate": "a symmetric and positive definite matrix [n, n]; the "
        "unit matrix when None.",
        "line_search_fn": "strong_wolfe.",
        "max_line_search_iters": "how many lengths of a step are tried at most.",
        "initial_step_length": "the first that is tried.",
        "dtype": "float32 or float64.",
        "name": "accepted.",
    },
    raises="ArgumentError: an element type, or the matrix, is of another kind.\n"
    "UnsupportedError: there is no such line search.",
)


class _Estimate(Protocol):
    """What is known of the inverse of the matrix of second derivatives."""

    def times(self, gradient: Array) -> Array: ...

    def learn(self, moved: Array, change: Array) -> None: ...


@dataclass
class _Matrix:
    """All of it."""

    inverse: Array

    def times(self, gradient: Array) -> Array:
        product: Array = self.inverse @ gradient
        return product

    def learn(self, moved: Array, change: Array) -> None:
        weight = moved.dtype.type(1 / (moved @ change))
        left = np.eye(len(moved), dtype=moved.dtype) - weight * np.outer(moved, change)
        self.inverse = left @ self.inverse @ left.T + weight * np.outer(moved, moved)


@dataclass
class _History:
    """What follows from the last steps."""

    inverse: Array
    size: int
    steps: list[tuple[Array, Array, Any]] = field(default_factory=list)

    def times(self, gradient: Array) -> Array:
        shares = []
        for moved, change, weight in reversed(self.steps):
            shares.append(weight * (moved @ gradient))
            gradient = gradient - shares[-1] * change
        found: Array = self.inverse @ gradient
        for (moved, change, weight), share in zip(self.steps, reversed(shares)):
            found = found + (share - weight * (change @ found)) * moved
        return found

    def learn(self, moved: Array, change: Array) -> None:
        weight = moved.dtype.type(1 / (moved @ change))
        self.steps = [*self.steps, (moved, change, weight)][-self.size :]


class _Search(LineSearch):
    """A search along a line for a point that satisfies the strong conditions of Wolfe."""

    def run(self, step: float) -> Point:
        """The point that was found; the start if there is none."""
        before, point = self.start, self._evaluated(step)
        for tried in range(self.most):
            if self._too_high(point) or (tried and point.value >= before.value):
                return self._zoomed(before, point, self.most - tried)
            if self._flat(point):
                return point
            if point.slope >= 0:
                return self._zoomed(point, before, self.most - tried)
            before, point = point, self._evaluated(2 * point.step)
        return self.start

    def _zoomed(self, low: Point, high: Point, most: int) -> Point:
        for _ in range(most):
            width = abs(high.step - low.step)
            step = cubic_minimum(low, high, *sorted((low.step, high.step)))
            if min(abs(step - low.step), abs(step - high.step)) < 0.1 * width:
                step = (low.step + high.step) / 2
            point = self._evaluated(step)
            if self._too_high(point) or point.value >= low.value:
                high = point
                continue
            if self._flat(point):
                return point
            low, high = self._narrowed(low, high, point)
        return low


@dataclass
class _Minimum:
    """A search for the least value of a function."""

    function: Callable[[Tensor], Tensor]
    kind: type[Tensor]
    position: Array
    tolerance_grad: float
    tolerance_change: float
    calls: int = 0
    converged: bool = False

    def run(self, estimate: _Estimate, max_iters: int, most: int, length: float) -> None:
        value, gradient = self._evaluated(self.position)
        self.value, self.gradient = value, gradient
        for _ in range(max_iters):
            self.converged = bool(abs(self.gradient).max(initial=0) < self.tolerance_grad)
            if self.converged:
                return
            if not self._step(estimate, most, length) or self.converged:
                return

    def _step(self, estimate: _Estimate, most: int, length: float) -> bool:
        """Make a step; whether there was one that makes the value smaller."""
        origin, before = self.position, self.gradient
        direction = -estimate.times(before)

        def at(step: float) -> Point:
            value, gradient = self._evaluated(origin + origin.dtype.type(step) * direction)
            return Point(step, value, gradient, float(gradient @ direction))

        search = _Search(at, Point(0.0, self.value, before, float(before @ direction)), most)
        reached = search.run(length)
        moved = origin.dtype.type(reached.step) * direction
        self.position, self.value, self.gradient = origin + moved, reached.value, reached.gradient
        change = self.gradient - before
        if moved @ change:
            estimate.learn(moved, change)
        small = abs(self.gradient).max(initial=0) < self.tolerance_grad
        self.converged = bool(small or 0 < abs(moved).max(initial=0) < self.tolerance_change)
        return bool(reached.step)

    def _evaluated(self, position: Array) -> tuple[float, Array]:
        self.calls += 1
        x = self.kind(position)
        x.stop_gradient = False
        value = self.function(x)
        (gradient,) = grad(value, [x])
        return float(value), np.asarray(gradient.array, position.dtype)

    def results(self) -> tuple[Tensor, ...]:
        make: Any = self.kind
        return (
            make(np.array([self.converged])),
            make(np.array([self.calls], "int64")),
            make(self.position),
            make(np.asarray(self.value, self.position.dtype)),
            make(self.gradient),
        )


def _begun(
    initial_position: Tensor, inverse: Tensor | None, line_search_fn: str, dtype: str
) -> tuple[Array, Array]:
    """The first position, and the first estimate."""
    if dtype not in ("float32", "float64"):
        raise refused("", "dtype", "float32 or float64", dtype)
    if line_search_fn != "strong_wolfe":
        raise UnsupportedError(
            f"expected line_search_fn to be 'strong_wolfe', got {line_search_fn!r:.60}"
        )
    position = np.asarray(initial_position.array, dtype)
    if inverse is None:
        return position, np.eye(position.size, dtype=dtype)
    matrix = np.asarray(inverse.array, dtype)
    if not np.array_equal(matrix, matrix.T) or np.linalg.eigvalsh(matrix).min() <= 0:
        raise ArgumentError(
            "expected initial_inverse_hessian_estimate to be symmetric and positive definite"
        )
    return position, matrix


def _whole(inverse: Array, size: int) -> _Matrix:
    return _Matrix(inverse)


@_MINIMIZERS
def _minimized(
    kind: Callable[[Array, int], _Estimate],
    objective_func: Callable[[Tensor], Tensor],
    initial_position: Tensor,
    history_size: int = 100,
    max_iters: int = 50,
    tolerance_grad: float = 1e-8,
    tolerance_change: float = 1e-8,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """The least value of a function near a position."""
    start, matrix = _begun(
        initial_position, initial_inverse_hessian_estimate, line_search_fn, dtype
    )
    minimum = _Minimum(objective_func, Tensor, start, tolerance_grad, tolerance_change)
    estimate = kind(matrix, history_size)
    minimum.run(estimate, max_iters, max_line_search_iters, initial_step_length)
    inverse = [Tensor(estimate.inverse)] if isinstance(estimate, _Matrix) else []
    return (*minimum.results(), *inverse)


_SPELLED = Spelling({})
minimize_bfgs: Callable[..., tuple[Tensor, ...]] = _SPELLED(
    _minimized,
    "minimize_bfgs",
    """The least value of a function near a position, by BFGS.

    Returns:
        whether it has converged, the number of evaluations, the position, the value and the
        gradient there, and the estimate of the inverse of the matrix of second derivatives.

    >>> from fluidlite import paddle
    >>> f = paddle.incubate.optimizer.functional.minimize_bfgs
    >>> found = f(lambda x: ((x - 3.0) ** 2).sum(), paddle.to_tensor([0.0, 1.0]))
    >>> found[0].tolist(), found[2].tolist()
    ([True], [3.0, 3.0])
    """,
    fixed={"kind": _whole, "history_size": 0},
    defaults={"tolerance_grad": 1e-7, "tolerance_change": 1e-9},
)
minimize_lbfgs: Callable[..., tuple[Tensor, ...]] = _SPELLED(
    _minimized,
    "minimize_lbfgs",
    """The least value of a function near a position, by L-BFGS.

    Returns:
        whether it has converged, the number of evaluations, the position, the value and the
        gradient there.

    >>> from fluidlite import paddle
    >>> f = paddle.incubate.optimizer.functional.minimize_lbfgs
    >>> found = f(lambda x: ((x - 3.0) ** 2).sum(), paddle.to_tensor([0.0, 1.0]))
    >>> found[2].tolist()
    [3.0, 3.0]
    """,
    fixed={"kind": _History},
)

list_public_names(globals())
api_boundaries(globals())
hold(globals())
