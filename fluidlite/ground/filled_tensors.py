"""Tensors as old scripts fill them: sizes first, then memory, then element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Allocated:
    """What a tensor has for that; it keeps an array and offsets of sequences."""

    __slots__ = ("_sizes",)
    data: Any
    offsets: Any

    def shape(self) -> list[int]:
        """The sizes of the array."""
        raise NotImplementedError

    def _store(self, data: Any, lod: Any) -> None:
        raise NotImplementedError

    def _get_dims(self) -> list[int]:
        return self.shape()

    def _is_initialized(self) -> bool:
        return self.data is not None

    def _clear(self) -> None:
        self._store(None, ())

    def _set_dims(self, sizes: Sequence[int]) -> None:
        """Say the sizes; where there is an array of as many elements it gets them."""
        if self.data is None:
            self._sizes = tuple(sizes)
        else:
            self._store(self.data.reshape(sizes), ())

    def _alloc(self, dtype: str) -> None:
        self._store(np.zeros(self.shape(), dtype), ())

    def _alloc_float(self, place: Any = None) -> None:
        self._alloc("float32")

    def _alloc_double(self, place: Any = None) -> None:
        self._alloc("float64")

    def _alloc_int(self, place: Any = None) -> None:
        self._alloc("int32")

    def _get_float_element(self, index: int) -> float:
        return float(self.data.flat[index])

    def _set_float_element(self, index: int, number: float) -> None:
        changed = np.array(self.data)  # what a run has taken is not written to
        changed.flat[index] = number
        self._store(changed, self.offsets)

    _get_double_element, _set_double_element = _get_float_element, _set_float_element
