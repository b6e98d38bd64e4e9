"""What quanters have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np

from ...eager.tensor import Tensor
from ...ground.public_names import list_public_names
from ...nn.layer import Layer


class BaseQuanter(Layer, ABC):
    """A layer that rounds its input as whole numbers of few bits would, and knows their scale."""

    def __init__(self) -> None:
        super().__init__()

    @abstractmethod
    def forward(self, input: Tensor) -> Tensor:
        """The input, rounded."""

    @abstractmethod
    def scales(self) -> Tensor | np.ndarray:
        """What the largest whole number stands for."""

    @abstractmethod
    def zero_points(self) -> Tensor | np.ndarray | None:
        """What 0 is; None where numbers are symmetric."""

    @abstractmethod
    def quant_axis(self) -> int | Iterable[int]:
        """The dimension whose slices have scales of their own; -1 for one of all."""

    @abstractmethod
    def bit_length(self) -> int:
        """How many bits a number has."""


class SymmetricQuanter(BaseQuanter):
    """A quanter without zero points, and without slices of its own."""

    _bit_length: int

    def zero_points(self) -> None:
        """None: numbers are symmetric."""

    def quant_axis(self) -> int:
        """-1: no dimension has slices with scales of their own."""
        return -1

    def bit_length(self) -> int:
        """How many bits whole numbers have."""
        return self._bit_length


list_public_names(globals())
