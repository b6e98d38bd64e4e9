"""What goes into a model and comes out of it, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, NotInitializedError, UnsupportedError
from ..ground.reprs import Described
from ..ground.values import Lod, LoDTensor
from .kinds import PaddleDType


def as_taken(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of a type that predictors know: smaller whole numbers become int32.

    Raises:
        ArgumentError: it holds no real numbers.
    """
    if array.dtype.name.upper() in PaddleDType.__members__:
        return array
    if array.dtype.kind not in "iu":
        raise ArgumentError(f"expected an array of real numbers, got one of {array.dtype}")
    return array.astype(np.int32)


class Handle(Described):
    """An input or an output of a model; a predictor makes it.

    Args:
        name: of the variable.
    """

    def __init__(self, name: str) -> None:
        self.name: str = name
        self._value: np.ndarray[Any, Any] | None = None
        self._sizes: tuple[int, ...] = (0,)
        self._lod: Lod = ()

    def copy_from_cpu(self, data: np.ndarray[Any, Any]) -> None:
        """Take a copy of an array.

        Args:
            data: the array.

        Raises:
            ArgumentError: it is none.
            UnsupportedError: it is a list of texts, which no operator here takes.
        """
        if isinstance(data, list) and data and all(isinstance(each, str) for each in data):
            raise UnsupportedError(
                f"input {self.name!r}: no operator takes texts; feed the numbers of their words"
            )
        if not isinstance(data, np.ndarray):
            raise ArgumentError(
                f"input {self.name!r}: expected an array, got {type(data).__name__}; use np.array"
            )
        self.hold(np.array(as_taken(data), order="C"))

    def share_external_data(self, data: Any) -> None:
        """Take what a tensor holds, without a copy.

        Args:
            data: a tensor; it must not be written to before the run.

        Raises:
            ArgumentError: it is none.
        """
        array = data.data if isinstance(data, LoDTensor) else getattr(data, "array", None)
        if not isinstance(array, np.ndarray) or isinstance(data, np.ndarray):
            raise ArgumentError(
                f"input {self.name!r}: expected a tensor, got {type(data).__name__}; arrays are "
                f"given by copy_from_cpu"
            )
        self.hold(array)

    def copy_to_cpu(self) -> np.ndarray[Any, Any]:
        """A copy of the values.

        Raises:
            NotInitializedError: there are none; the model has not been run.
        """
        return np.array(self.held())

    def reshape(self, shape: Sequence[int]) -> None:
        """Set the shape of the values that are there, or of those to come.

        Args:
            shape: its sizes.

        Raises:
            ArgumentError: these are no sizes.
        """
        sizes = [shape] if isinstance(shape, int) else shape
        if isinstance(sizes, str) or not all(isinstance(n, (int, np.integer)) for n in sizes):
            raise ArgumentError(f"{self.name!r}: expected a list of sizes, got {shape!r:.60}")
        self._sizes = tuple(map(int, sizes))
        fits = self._value is not None and self._value.size == np.prod(self._sizes, dtype=int)
        self._value = self._value.reshape(self._sizes) if fits and self._value is not None else None

    def shape(self) -> list[int]:
        """Its sizes."""
        return list(self._sizes)

    def lod(self) -> list[list[int]]:
        """The offsets of its sequences, for each level."""
        return [list(level) for level in self._lod]

    def set_lod(self, lod: Iterable[Iterable[int]]) -> None:
        """Say where its sequences begin and end.

        Args:
            lod: the offsets of each level, outermost first.

        Raises:
            ArgumentError: these are no lists of numbers.
        """
        try:
            self._lod = tuple(tuple(map(int, level)) for level in lod)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"{self.name!r}: expected offsets of sequences, as in [[0, 2, 5]], got {lod!r:.60}"
            ) from None

    @property
    def element_type(self) -> np.dtype[Any] | None:
        """The element type; None while there are no values."""
        return None if self._value is None else self._value.dtype

    def hold(self, array: np.ndarray[Any, Any], lod: Lod | None = None) -> None:
        """Keep an array as it is.

        Args:
            array: the values.
            lod: their sequences; as before when None.
        """
        self._value, self._sizes = array, array.shape
        self._lod = self._lod if lod is None else lod

    def held(self) -> np.ndarray[Any, Any]:
        """The values themselves.

        Raises:
            NotInitializedError: there are none.
        """
        if self._value is None:
            raise NotInitializedError(
                f"{self.name!r} holds no values; give inputs by copy_from_cpu, and run the model"
            )
        return self._value

    def fed(self) -> np.ndarray[Any, Any] | LoDTensor:
        """The values with their sequences, as a program is fed with them."""
        if not self._lod:
            return self.held()
        tensor = LoDTensor(self.held())
        tensor.set_lod(self._lod)
        return tensor
