"""A gradient with respect to one array against central differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
#: from an array to a number, and to how large what was added up for it is
Function = Callable[[Array], tuple[float, float]]

STEP = 6e-6  # the cube root of float64's epsilon: truncation and rounding are about equal there
_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # what kernels may lose, relative to results


class Limits(NamedTuple):
    """How far a gradient and differences may lie apart, and the step of the differences."""

    rtol: float
    atol: float
    step: float


def _parts_of(array: Array) -> Array:
    return np.stack([array.real, array.imag], -1)


def weight_like(rng: np.random.Generator, value: Array, is_random: bool = True) -> Array:
    """What a result is weighted with: complex numbers where it has some.

    Args:
        rng: draws them.
        value: the result.
        is_random: False for ones.
    """
    weight: Array = np.ones(value.shape)
    if is_random:
        weight = np.asarray(rng.normal(size=value.shape))
    if value.dtype.kind != "c":
        return weight
    return weight + 1j * (rng.normal(size=value.shape) if is_random else 0.0)


def weighed(weights: Iterable[Array], values: Iterable[Array]) -> tuple[float, float]:
    """The sum of weighted results, of which gradients are taken, and that of absolute values.

    Args:
        weights: what flows back to each result.
        values: the results.
    """
    products = [(np.conj(w) * v).real for w, v in zip(weights, values)]
    return (
        float(sum(np.sum(p) for p in products)),
        float(sum(np.sum(np.abs(p)) for p in products)),
    )


@dataclass(frozen=True)
class Slope:
    """The derivative at one element."""

    index: tuple[int, ...]  #: the element
    found: float  #: the gradient's
    expected: float  #: by differences
    error: float  #: relative; to atol / rtol where both are smaller
    ok: bool
    kink: bool = False  #: whether the slopes to the left and to the right differ


class Probe:
    """Compares a gradient with central differences of a function of an array.

    Complex numbers are their parts, which a last index tells apart: 0 real, 1 imaginary.  The
    gradient is the slope by the real part, and as its imaginary part that by the imaginary one.

    Args:
        function: the function.
        value: where.
        gradient: in the shape of ``value``; None stands for zeros.
        limits: what is allowed.
    """

    def __init__(
        self, function: Function, value: Array, gradient: Array | None, limits: Limits
    ) -> None:
        is_complex = value.dtype.kind == "c"
        self._function: Function = (
            (lambda parts: function(parts[..., 0] + 1j * parts[..., 1])) if is_complex else function
        )
        self._value = _parts_of(value) if is_complex else value
        self._gradient = np.zeros(self._value.shape)
        if gradient is not None:
            self._gradient = _parts_of(gradient) if is_complex else gradient
        self._limits = limits

    @property
    def size(self) -> int:
        """How many slopes there are: two an element of complex numbers."""
        return int(self._value.size)

    def at(self, number: int) -> Slope:
        """The derivative at an element.

        Args:
            number: the element's position in the flat array.
        """
        direction = np.zeros(self._value.size)
        direction[number] = 1.0
        found, expected, error, ok = self._along(direction, abs(self._value.flat[number]))
        index = tuple(int(i) for i in np.unravel_index(number, self._value.shape))
        return Slope(index, found, expected, error, ok, not ok and self._has_kink(direction))

    def agrees(self, rng: np.random.Generator) -> bool:
        """Whether the derivative along a random direction through all elements is right."""
        return self._along(*self._random(np.arange(self._value.size), rng))[3]

    def worst(self, rng: np.random.Generator) -> Slope:
        """The derivative at an element where it is wrong, found by halving.

        Args:
            rng: draws directions; one of them is known to disagree.
        """
        group = np.arange(self._value.size)
        while len(group) > 1:
            half = len(group) // 2
            group = max((group[:half], group[half:]), key=lambda part: self._missed(part, rng))
        return self.at(int(group[0]))

    def _missed(self, part: Array, rng: np.random.Generator) -> float:
        found, expected, *_ = self._along(*self._random(part, rng))
        missed = abs(found - expected)
        return missed if np.isfinite(missed) else np.inf

    def _random(self, part: Array, rng: np.random.Generator) -> tuple[Array, float]:
        direction = np.zeros(self._value.size)
        direction[part] = rng.normal(size=len(part))
        return direction, float(np.median(np.abs(self._value)))

    def _along(self, direction: Array, size: float) -> tuple[float, float, float, bool]:
        limits = self._limits
        step = limits.step * max(1.0, float(size))
        move = (step * direction).reshape(self._value.shape)
        (plus, size_plus), (minus, size_minus) = (
            self._function(self._value + move),
            self._function(self._value - move),
        )
        derivative = float(np.sum(self._gradient * direction.reshape(self._value.shape)))
        expected = (plus - minus) / (2 * step)
        rounding = _ROUNDING * (size_plus + size_minus) / (2 * step)
        scale = max(abs(derivative), abs(expected), limits.atol / limits.rtol)
        missed = abs(derivative - expected) if np.isfinite(derivative + expected) else np.inf
        ok = missed <= limits.rtol * scale + rounding
        return derivative, expected, float(missed / scale), bool(ok)

    def _has_kink(self, direction: Array) -> bool:
        move = (self._limits.step * direction).reshape(self._value.shape)
        plus, here, minus = (
            self._function(self._value + sign * move)[0] for sign in (1.0, 0.0, -1.0)
        )
        right, left = (plus - here) / self._limits.step, (here - minus) / self._limits.step
        return bool(abs(right - left) > 1e-3 * max(abs(right), abs(left), 1e-3))
