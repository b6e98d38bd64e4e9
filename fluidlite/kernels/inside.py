"""Convolutions whose factors may be infinite or not a number: element by element of the window.

What is around an image is left out of a sum.  Where it lies there as zeros, a product with an
infinity would put NaN into the sum.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .finite import is_finite


class Sliding(NamedTuple):
    """How a window moves over an image.

    Args:
        sizes, kernel, positions: of the image, of the window, and how many of these there are,
            along each dimension.
        strides, spacing: steps of the window, and of its elements.
        before: how many elements the first window lies before the image.
    """

    sizes: Sequence[int]
    kernel: Sequence[int]
    positions: Sequence[int]
    strides: Sequence[int]
    spacing: Sequence[int]
    before: Sequence[int]

    @property
    def is_inside(self) -> bool:
        """Whether all windows lie in the image."""
        ends = zip(self.sizes, self.kernel, self.positions, self.strides, self.spacing, self.before)
        reach = [(p - 1) * s + (k - 1) * d - b < size for size, k, p, s, d, b in ends]
        return max(self.before) <= 0 and all(reach)

    def leaves_out(self, factor: Any) -> bool:
        """Whether zeros around the image may not be multiplied with a factor."""
        if self.is_inside or not isinstance(factor, np.ndarray):
            return False
        with np.errstate(all="ignore"):
            return not is_finite(factor)

    def elements(self) -> Iterator[tuple[Any, Any, Any]]:
        """The elements of the window; at which positions each is inside of the image; and where it
        is there.
        """
        for element in itertools.product(*map(range, self.kernel)):
            at, under = [], []
            for k, size, count, s, d, b in zip(
                element, self.sizes, self.positions, self.strides, self.spacing, self.before
            ):
                offset = k * d - b
                first, last = max(0, -(offset // s)), min(count, (size - 1 - offset) // s + 1)
                at.append(slice(first, max(first, last)))
                begin = first * s + offset
                under.append(slice(begin, begin + max(last - first, 0) * s, s))
            yield element, (slice(None), *at), (slice(None), *under)


def _in_groups(image: Any, groups: int) -> Any:
    """Channels of an image as [group, channel, position]."""
    return np.ascontiguousarray(image).reshape(groups, image.shape[0] // groups, -1)


def convolved(sliding: Sliding, image: Any, filter: Any, groups: int = 1) -> Any:
    """The convolution of an image.

    Args:
        sliding: how the window moves.
        image: [channel, ..., sample].
        filter: [filter, channel of the group, ...].
        groups: of channels.

    Returns:
        [filter, ..., sample].
    """
    count = filter.shape[0]
    out = np.zeros((count, *sliding.positions, image.shape[-1]), image.dtype)
    weights = filter.reshape(groups, count // groups, *filter.shape[1:])
    for element, at, under in sliding.elements():
        part = out[at]
        if part.size:
            factor = weights[(slice(None), slice(None), slice(None), *element)]
            part += np.matmul(factor, _in_groups(image[under], groups)).reshape(part.shape)
    return out


def filter_cotangent(sliding: Sliding, image: Any, g: Any, groups: int = 1) -> Any:
    """The cotangent of filters.

    Args:
        sliding, image, groups: as :func:`convolved` takes them.
        g: the cotangent of what that returns.

    Returns:
        [filter, channel of the group, ...].
    """
    count, depth = g.shape[0], image.shape[0] // groups
    out = np.zeros((groups, count // groups, depth, *sliding.kernel), g.dtype)
    for element, at, under in sliding.elements():
        if prod(g[at].shape):
            patches = _in_groups(image[under], groups).swapaxes(1, 2)
            out[(..., *element)] = np.matmul(_in_groups(g[at], groups), patches)
    return out.reshape(count, depth, *sliding.kernel)
