"""Observers: they find scales while a model runs on samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.creation import to_tensor
from ...ground.public_names import list_public_names
from .base_observer import BaseObserver
from .base_quanter import SymmetricQuanter
from .factory import QuanterFactory

LEAST = 1e-7  #: what scales begin with


class AbsmaxObserver(QuanterFactory):
    """Makes observers of the largest number, without its sign, of all inputs.

    Args:
        quant_bits: how many bits whole numbers will have.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.quantization.observers import AbsmaxObserver
    >>> observer = AbsmaxObserver()._instance(None)
    >>> observer(paddle.to_tensor([1.0, -3.0])).tolist(), float(observer.scales())
    ([1.0, -3.0], 3.0)
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type[AbsmaxObserverLayer]:
        return AbsmaxObserverLayer


class _LargestObserver(SymmetricQuanter, BaseObserver):
    """An observer of largest numbers."""

    thresholds: Any

    def scales(self) -> Tensor:
        """The largest number so far, or the largest ones."""
        self.cal_thresholds()
        largest: Tensor = self.thresholds
        return largest


class AbsmaxObserverLayer(_LargestObserver):
    """An observer of the largest number, without its sign, of all inputs.

    Args:
        layer: what it stands in.
        quant_bits: how many bits whole numbers will have.
    """

    def __init__(self, layer: Any, quant_bits: int = 8) -> None:
        super().__init__()
        self._bit_length = quant_bits
        start = to_tensor(np.float32(LEAST))
        self.register_buffer("abs_max_val", start, persistable=False)
        self.thresholds = None

    def forward(self, input: Tensor) -> Tensor:
        """The input; what is seen in a program that is built has no numbers yet."""
        if input.appends is None:
            most = np.max(np.abs(input.array), initial=0).astype(np.float32)
            self.abs_max_val.replace(np.maximum(self.abs_max_val.array, most))
        return input

    def cal_thresholds(self) -> None:
        """Take the largest number as the scale."""
        self.thresholds = self.abs_max_val


class GroupWiseWeightObserver(QuanterFactory):
    """Makes observers of weights, which find a scale for each column of each group of rows.

    Args:
        quant_bits: how many bits whole numbers will have.
        group_size: how many rows share a scale.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.quantization.observers import GroupWiseWeightObserver
    >>> observer = GroupWiseWeightObserver(group_size=2)._instance(None)
    >>> _ = observer(paddle.to_tensor([[1.0], [-3.0], [2.0], [0.5]]))
    >>> observer.scales().tolist()
    [[3.0], [2.0]]
    """

    def __init__(self, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__(quant_bits=quant_bits, group_size=group_size)

    def _get_class(self) -> type[GroupWiseWeightObserverLayer]:
        return GroupWiseWeightObserverLayer


class GroupWiseWeightObserverLayer(_LargestObserver):
    """An observer of a weight, which finds a scale for each column of each group of rows.

    Args:
        layer: what it stands in.
        quant_bits: how many bits whole numbers will have.
        group_size: how many rows share a scale.
    """

    def __init__(self, layer: Any, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__()
        self.quant_bits = self._bit_length = quant_bits
        self.group_size = group_size
        self.thresholds = None
        self._seen: Any = None

    def forward(self, input: Tensor) -> Tensor:
        """The weight.

        Raises:
            ArgumentError: it is no matrix, or its rows do not fill groups.
        """
        shape = list(input.shape)
        if len(shape) != 2:
            raise ArgumentError(f"expected a weight of two dimensions, got shape {shape}")
        if shape[0] % self.group_size:
            raise ArgumentError(
                f"expected rows that fill groups of {self.group_size}, got {shape[0]}"
            )
        if input.appends is None:
            groups = np.abs(input.array).reshape(-1, self.group_size, shape[1])
            self._seen = to_tensor(np.maximum(groups.max(1), np.float32(LEAST)))
        return input

    def cal_thresholds(self) -> None:
        """Take the largest numbers as the scales."""
        self.thresholds = self._seen


list_public_names(globals())
