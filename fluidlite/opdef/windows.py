"""Windows that move along sequences, over images and through volumes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

#: by the number of dimensions that a window has: the formats, that with the channels last behind
FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


@dataclass(frozen=True)
class WindowArguments:
    """The sizes and steps of windows, a number for every dimension that they move along.

    Every spelling makes one of what its users write.
    """

    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    padding: tuple[int, ...]  #: or two for every dimension: before and after
    dilation: tuple[int, ...]
    data_format: str = "NCHW"
    algorithm: str = "EXPLICIT"  #: or "SAME" or "VALID", in the place of the padding

    @property
    def rank(self) -> int:
        """How many dimensions they move along."""
        return len(self.steps)

    @property
    def is_channels_last(self) -> bool:
        """Whether the channels are the last dimension of what they move over."""
        return self.data_format[-1] == "C"

    @property
    def places(self) -> range:
        """The dimensions that they move along."""
        first = 1 if self.is_channels_last else 2
        return range(first, first + self.rank)

    @property
    def sides(self) -> list[tuple[int, int]]:
        """The paddings before and after, for every dimension."""
        if len(self.padding) == 2 * self.rank:
            return list(zip(self.padding[::2], self.padding[1::2]))
        return [(n, n) for n in self.padding]

    def attributes(self) -> dict[str, Any]:
        """The attributes of operators that say the same, but for sizes and dilations."""
        return {
            "strides": self.steps,
            "paddings": self.padding,
            "padding_algorithm": self.algorithm,
            "data_format": self.data_format,
        }

    def spread(self, shape: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes of what the adjoint of a convolution gives.

        Args:
            shape: of what it is given, channels and batch included.
            more: what is added at the end of every dimension.
        """
        lengths = [shape[place] for place in self.places]
        parts = zip(lengths, self.steps, self.dilation, self.sizes, self.sides, more)
        return tuple((n - 1) * s + d * (k - 1) + 1 - sum(p) + m for n, s, d, k, p, m in parts)

    def size_for(self, shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
        """The sizes with which the adjoint of a convolution gives others.

        Args:
            shape: of what it is given, channels and batch included.
            target: the sizes of what it is to give.
        """
        lengths = [shape[place] for place in self.places]
        parts = zip(target, lengths, self.steps, self.sides, self.dilation)
        return tuple((m - (n - 1) * s + sum(p) - 1) // d + 1 for m, n, s, p, d in parts)

    def of_images(self) -> WindowArguments:
        """Those of sequences as those of images of one row."""
        return replace(
            self,
            sizes=(1, *self.sizes),
            steps=(1, *self.steps),
            padding=((0, 0) if len(self.padding) > self.rank else (0,)) + self.padding,
            dilation=(1, *self.dilation),
            data_format="NHWC" if self.is_channels_last else "NCHW",
        )
