"""Windows that move along sequences, over images and through volumes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..ground.callsite import warn_once

#: by the number of dimensions that a window has: the formats, that with the channels last behind
FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


_PICTURES = (1, 3, 4)  #: the channels of grey pictures, of coloured ones, and of those with alpha
_SMALL = 8  #: the least size of a picture that is not square


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
    algorithm: str = "EXPLICIT"  #: or "SAME" or "VALID", in place of the padding

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

    def warn_of_layout(self, shape: tuple[int, ...]) -> None:
        """Warn where images whose channels come first, it is said, have them last, as it seems.

        So it seems where the last dimension has the number of channels that pictures have, and the
        others are all larger and like each other.  A last dimension of 1 is as often that of
        sequences, over which windows of width 1 move.

        Args:
            shape: of the images or volumes; -1 where a size is not known.
        """
        if self.is_channels_last or self.rank < 2 or len(shape) != self.rank + 2:
            return
        if shape[-1] not in _PICTURES:
            return
        *sizes, last = shape[1:]
        known = [size for size in sizes if size != -1]
        if sizes[0] == -1 or min(known) <= last:
            return
        smallest, largest = min(known), max(known)
        alike = len(known) > 1 and smallest == largest and (last > 1 or self.sizes[-1] > 1)
        if alike or (last == 3 and smallest >= _SMALL and largest <= 3 * smallest):
            first, others = FORMATS[self.rank]
            warn_once(
                f"a shape of {list(shape)} is taken for {first}, {sizes[0]} channels of "
                f"{' x '.join(map(str, (*sizes[1:], last)))}, but looks like {others} of {last} "
                f"channels; pass data_format={others!r} where there is that argument, or transpose "
                f"to {first}"
            )

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
