"""Products of gradients and directions, in numbers and in the field."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...ground.values import SelectedRows, bare
from .evaluation import leaves
from .field import Exact, PrimeField
from .jets import Dual, lifted, numbers


class Amount(NamedTuple):
    """A product of a gradient and a direction: in numbers, their size, and in the field."""

    number: float
    size: float
    exact: Exact | None

    def plus(self, other: Amount) -> Amount:
        """The sum of two."""
        known = self.exact is not None and other.exact is not None
        return Amount(
            self.number + other.number,
            self.size + other.size,
            self.exact + other.exact if known else None,  # type: ignore[operator]
        )

    @property
    def residue(self) -> int | None:
        """What it is in the field."""
        return None if self.exact is None else int(self.exact.values[()])

    def equals(self, other: Amount, tolerance: float) -> str:
        """By what they are equal: "field", "numbers", or nothing where they are not."""
        if self.residue is not None and self.residue == other.residue:
            return "field"
        size = max(self.size, other.size)
        near = abs(self.number - other.number) <= tolerance * size
        return "numbers" if near and np.isfinite(size) else ""


def nothing(prime_field: PrimeField) -> Amount:
    """Zero."""
    return Amount(0.0, 0.0, prime_field.constant(0))


def product(gradient: Any, there: Any, prime_field: PrimeField) -> Amount:
    """The product of a gradient and the direction along which a value moves.

    Args:
        gradient: as a program computes it.
        there: the moving value.
        prime_field: to compute in.

    Raises:
        ValueError: they have different shapes.
    """
    if isinstance(gradient, SelectedRows):
        rows = bare(gradient.value)
        part = bare(there)[np.asarray(gradient.numbers)]
        return _of_arrays(lifted(prime_field, rows), part)
    total = nothing(prime_field)
    parts, directions = leaves(gradient), leaves(there)
    if len(parts) < len(directions):
        parts += [None] * (len(directions) - len(parts))
    for part, direction in zip(parts, directions):
        if part is not None and isinstance(direction, Dual):
            total = total.plus(_of_arrays(lifted(prime_field, part), direction))
    return total


def _of_arrays(gradient: Dual, there: Dual) -> Amount:
    if gradient.shape != there.shape:
        if gradient.size != there.size or gradient.size != 1:
            raise ValueError(
                f"expected a gradient of shape {list(there.shape)}, got {list(gradient.shape)}"
            )
        gradient = gradient.reshape(there.shape)
    if there.real.slope is None:
        return nothing(there.field)
    products = gradient.real.at * there.real.slope
    exact = None
    if gradient.exact is not None and there.exact is not None:
        slope = there.exact.slope
        exact = (
            there.field.constant(0)
            if slope is None
            else (gradient.exact.at * slope).combined(np.sum, products.size)
        )
    return Amount(float(products.sum()), float(np.abs(products).sum()), exact)


def plain_product(gradient: Any, value: Any) -> float:
    """The product of a gradient and a value, in numbers.

    Args:
        gradient: as a program computes it.
        value: what it is the gradient of.
    """
    if isinstance(gradient, SelectedRows):
        rows = bare(value)[np.asarray(gradient.numbers)]
        return float(np.sum(numbers(bare(gradient.value)) * numbers(rows)))
    pairs = zip(leaves(gradient), leaves(value))
    return float(
        sum(np.sum(numbers(g) * numbers(v)) for g, v in pairs if g is not None and v is not None)
    )
