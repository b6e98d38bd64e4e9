"""Images whose samples lie last in memory, as convolutions leave them.

NumPy takes longer to begin a row of so few elements than to read it.  So a line holds several
positions, and what belongs to samples is repeated along it.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..opdef.spec import Shape

#: elements of a line, at most, but for one position; and at least, for lines to pay
MOST, LEAST = 512, 64
SUMMED = 1024  #: elements of several lines that are added to others at once
FEW = 16  #: samples


class SamplesLast:
    """How such images lie.

    Args:
        shape: of an image, [sample, channel, ...], with elements.
    """

    def __init__(self, shape: Shape) -> None:
        self.samples, self.channels, *sizes = shape
        positions = prod(sizes)
        repeats = _divisor(positions, MOST // self.samples)
        self.width: int = repeats * self.samples  #: of a line
        self.lines: int = positions // repeats  #: of a channel
        self._summed = self.width * _divisor(self.lines, SUMMED // self.width)
        self._order = (*range(1, len(shape)), 0)
        self._back = (len(shape) - 1, *range(len(shape) - 1))
        self._shape = (self.channels, *sizes, self.samples)
        self._owners = np.tile(np.arange(self.samples), repeats)
        self._ones: Any = None

    def holds(self, image: Any) -> bool:
        """Whether an image lies so, and lines of it pay."""
        lies = not image.flags.c_contiguous and image.transpose(self._order).flags.c_contiguous
        return lies and self.width >= LEAST

    def lined(self, image: Any) -> Any:
        """An image as [channel, line, element]; a copy where it lies otherwise."""
        inner = np.ascontiguousarray(image.transpose(self._order))
        return inner.reshape(self.channels, self.lines, self.width)

    def new(self, out: Any, dtype: Any) -> tuple[Any, Any]:
        """An image to write, which is ``out`` where that lies so, and its lines."""
        if out is None or not out.transpose(self._order).flags.c_contiguous:
            out = np.empty(self._shape, dtype).transpose(self._back)
        return out, out.transpose(self._order).reshape(self.channels, self.lines, self.width)

    def repeated(self, numbers: Any) -> Any:
        """Numbers [..., sample] along a line: [..., 1, element]."""
        return numbers.take(self._owners, -1, mode="clip")[..., None, :]

    def repeated_finite(self, numbers: Any) -> Any:
        """The same of finite numbers, as a product, which is quicker for few samples."""
        if self.samples > FEW:
            return self.repeated(numbers)
        if self._ones is None or self._ones.dtype != numbers.dtype:
            self._ones = (self._owners == np.arange(self.samples)[:, None]).astype(numbers.dtype)
        return np.matmul(numbers, self._ones)[..., None, :]

    def sums(self, lines: Any) -> Any:
        """The sums over the positions of lines [..., line, element]: [..., sample]."""
        return self._of_samples(np.add.reduce(self._summands(lines), -2))

    def products(self, lines: Any, others: Any) -> Any:
        """The sums of the products of lines and other ones."""
        both = self._summands(lines), self._summands(others)
        return self._of_samples(np.einsum("...bn,...bn->...n", *both))

    def _summands(self, lines: Any) -> Any:
        return lines.reshape(*lines.shape[:-2], -1, self._summed)

    def _of_samples(self, row: Any) -> Any:
        """The sums of what belongs to each sample in some of a line."""
        return np.einsum("...bn->...n", row.reshape(*row.shape[:-1], -1, self.samples))


def _divisor(count: int, most: int) -> int:
    """The largest number up to another one that divides a count."""
    return next((n for n in range(min(count, most), 1, -1) if count % n == 0), 1)
