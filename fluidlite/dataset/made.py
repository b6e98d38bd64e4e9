"""Data that is made: images of shapes, spirals in the plane, and sequences to be remembered.

    >>> from fluidlite.dataset import made
    >>> points, labels = made.spirals(300)
    >>> points.shape, labels.shape
    ((300, 2), (300, 1))

The same arguments give the same arrays everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ground.public_names import list_public_names

__all__ = ["SHAPES", "sequences", "shapes", "spirals"]

Array = np.ndarray[Any, Any]

SHAPES = ["disc", "square", "triangle", "cross"]


def _count(n: Any) -> int:
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise ArgumentError(f"expected a positive number of samples, got {n!r}")
    return int(n)


def spirals(n: int, arms: int = 2, noise: float = 0.05, seed: int = 0) -> tuple[Array, Array]:
    """Points on spiral arms, which no line separates.

    Args:
        n: how many.
        arms: how many arms there are, which are the classes.
        noise: the standard deviation of the points from their arm.
        seed: of the random numbers.

    Returns:
        points, float32 [n, 2], in [-1, 1] but for the noise; and classes, int64 [n, 1].

    Raises:
        ArgumentError: ``n`` or ``arms`` is not positive.
    """
    rng, labels = np.random.RandomState(seed), np.arange(_count(n)) % _count(arms)
    radius = np.sqrt(rng.uniform(0.01, 1.0, n))
    angle = 2 * np.pi * (1.25 * radius + labels / arms)
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    points += rng.normal(0.0, noise, points.shape)
    return points.astype(np.float32), labels.reshape(-1, 1).astype(np.int64)


def shapes(n: int, size: int = 16, noise: float = 0.1, seed: int = 0) -> tuple[Array, Array]:
    """Images of a shape at a random place, in a random size: those of ``SHAPES``.

    Args:
        n: how many.
        size: rows and columns, at least 8.
        noise: the standard deviation of what is added to each pixel.
        seed: of the random numbers.

    Returns:
        images, float32 [n, 1, size, size], 1 inside and 0 outside but for the noise; and the
        numbers of the shapes, int64 [n, 1].

    Raises:
        ArgumentError: ``n`` is not positive, or ``size`` is too small.

    >>> from fluidlite.dataset import made
    >>> images, labels = made.shapes(8)
    >>> images.shape, made.SHAPES[labels[2, 0]]
    ((8, 1, 16, 16), 'triangle')
    """
    if not isinstance(size, int) or size < 8:
        raise ArgumentError(f"expected a size of at least 8, got {size!r}")
    rng, labels = np.random.RandomState(seed), np.arange(_count(n)) % len(SHAPES)
    half = rng.uniform(size / 6, size / 3, (n, 1, 1))
    middle = half + rng.uniform(0, 1, (2, n, 1, 1)) * (size - 1 - 2 * half)
    down = np.arange(size).reshape(1, -1, 1) - middle[0]
    across = np.abs(np.arange(size).reshape(1, 1, -1) - middle[1])
    away, third = np.maximum(np.abs(down), across), half / 3
    inside = [
        down**2 + across**2 <= half**2,
        away <= half,
        (np.abs(down) <= half) & (across <= (down + half) / 2),
        (away <= half) & (np.minimum(np.abs(down), across) <= third),
    ]
    images = np.choose(labels.reshape(-1, 1, 1), inside).astype(np.float64)
    images += rng.normal(0.0, noise, images.shape)
    return images[:, None].astype(np.float32), labels.reshape(-1, 1).astype(np.int64)


def sequences(
    n: int, length: int = 20, delay: int = 3, symbols: int = 8, seed: int = 0
) -> tuple[Array, Array]:
    """Random sequences of symbols, and the same sequences some steps later: what a recurrent
    network has to remember.

    Args:
        n: how many.
        length: of a sequence.
        delay: how many steps later; the symbol 0 stands in the steps before.
        symbols: how many there are, 0 included.
        seed: of the random numbers.

    Returns:
        what is read, and what is to be said, int64 [n, length] both.

    Raises:
        ArgumentError: a number is out of range.

    >>> from fluidlite.dataset import made
    >>> read, said = made.sequences(1, length=6, delay=2)
    >>> bool((read[:, :-2] == said[:, 2:]).all())
    True
    """
    if symbols < 2 or not 0 <= delay < length:
        raise ArgumentError(
            f"expected at least 2 symbols and a delay below the length, got {symbols} symbols, "
            f"delay {delay}, length {length}"
        )
    read = np.random.RandomState(seed).randint(1, symbols, (_count(n), length)).astype(np.int64)
    said = np.zeros_like(read)
    said[:, delay:] = read[:, : length - delay]
    return read, said


list_public_names(globals())
