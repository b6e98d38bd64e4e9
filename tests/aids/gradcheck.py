"""Gradients by tape against finite differences along a random direction, for any order.

    check_gradients(lambda f, x, y: f.matmul(x, y), [a, b], order=2)

A function to check takes an interpreter and values, and returns a value or a list of them.  Its
gradient is such a function again, of the same values and of a cotangent for each output: order n is
the first order of a gradient taken n - 1 times, and the cotangents of all lower orders are among
the values that are perturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fluidlite.backend import numpy_
from fluidlite.ground.values import SelectedRows
from fluidlite.opdef.gradient import Tape
from fluidlite.opdef.interpreter import Eval

Function = Callable[..., Any]

STEP = 6e-6  # the cube root of float64's epsilon: truncation and rounding are about equal there
ROUNDING = 16 * np.finfo(np.float64).eps  # what a kernel may lose, relative to its result


def evaluator(seed: int = 7) -> Eval:
    """An interpreter on NumPy whose random operators draw the same numbers at every call."""
    return Eval(numpy_, numpy_.generators(seed))


def check_gradients(
    function: Function,
    values: Sequence[np.ndarray],
    order: int = 1,
    *,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> None:
    """Compare the derivative of one order along a random direction with central differences.

    Args:
        function: ``function(f, *values)``.
        values: where to differentiate; float64.
        order: 2 compares the derivative of the gradient, and so on.
        tolerance: the relative difference that is allowed beyond rounding.
        seed: of the directions and cotangents.

    Raises:
        AssertionError: they differ; says by how much, and for which values alone.
    """
    f, rng = evaluator(), np.random.default_rng(seed)
    values = list(values)
    for _ in range(order - 1):
        count = len(values)
        cotangents = random_like(rng, outputs_of(function(f, *values)))
        function, values = gradient_of(function, count), values + cotangents
    weights = random_like(rng, outputs_of(function(f, *values)))
    directions = random_like(rng, values)
    pulled = pull_back(f, function, values, weights)
    for k, (value, gradient) in enumerate(zip(values, pulled)):
        if gradient is not None and gradient.shape != value.shape:
            raise AssertionError(
                f"order {order}: value {k} has shape {list(value.shape)}, "
                f"its gradient {list(gradient.shape)}"
            )

    def compare(chosen: Sequence[int]) -> str:
        """What is wrong when the values with these numbers are perturbed; empty when nothing is."""
        tape = sum(_dot(pulled[k], directions[k]) for k in chosen if pulled[k] is not None)
        moved = [directions[k] if k in chosen else 0.0 for k in range(len(values))]
        plus, minus = (
            outputs_of(function(f, *[x + sign * STEP * d for x, d in zip(values, moved)]))
            for sign in (1, -1)
        )
        differences = sum(_dot(w, p - m) for w, p, m in zip(weights, plus, minus)) / (2 * STEP)
        size = sum(_dot(abs(w), abs(p) + abs(m)) for w, p, m in zip(weights, plus, minus))
        allowed = tolerance * max(abs(tape), abs(differences)) + ROUNDING * size / (2 * STEP)
        if abs(tape - differences) <= allowed:
            return ""
        return f"{tape:.9g} by tape, {differences:.9g} by finite differences"

    everything = range(len(values))
    wrong = compare(everything)
    for k in everything:
        if pulled[k] is not None and pulled[k].dtype != values[k].dtype:
            raise AssertionError(f"value {k} is {values[k].dtype}, its gradient {pulled[k].dtype}")
    if wrong:
        alone = [f"value {k} alone: {found}" for k in everything if (found := compare([k]))]
        raise AssertionError("\n".join([f"order {order}: {wrong}", *alone]))


def gradient_of(function: Function, count: int) -> Function:
    """The gradient of a function of ``count`` values, without those through which nothing flows."""

    def gradient(f: Any, *arguments: Any) -> list[Any]:
        pulled = pull_back(f, function, arguments[:count], arguments[count:])
        return [value for value in pulled if value is not None]

    return gradient


def pull_back(
    f: Any, function: Function, values: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
    """The cotangents of ``values`` from those of the outputs; None where nothing flows.

    Args:
        f: the interpreter that does the work; may be a tape.
        function: ``function(f, *values)``.
        values: where to differentiate.
        cotangents: one for each output.
    """
    tape = Tape(f)
    boxes = [tape.watch(value) for value in values]
    outputs = outputs_of(function(tape, *boxes))
    pulled = tape.pull(list(zip(outputs, cotangents, strict=True)), boxes)
    return outputs_of(pulled)


def outputs_of(found: Any) -> list[Any]:
    """What a function returned, as a list; whole tensors in place of some of their rows."""
    listed = list(found) if isinstance(found, (list, tuple)) else [found]
    return [v.to_dense() if isinstance(v, SelectedRows) else v for v in listed]


def random_like(rng: np.random.Generator, values: Sequence[Any]) -> list[Any]:
    """Normal random numbers in the shapes and element types of ``values``."""
    return [_normal(rng, v) for v in values]


def _normal(rng: np.random.Generator, like: Any) -> Any:
    real = rng.normal(size=like.shape)
    return (real + 1j * rng.normal(size=like.shape) if like.dtype.kind == "c" else real).astype(
        like.dtype
    )


def _dot(a: Any, b: Any) -> float:
    """The real part of the product of the conjugate of ``a`` and of ``b``."""
    return float(np.sum(np.real(np.conj(a) * b), dtype=np.float64))
