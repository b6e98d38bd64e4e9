"""What inputs of models look like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..ground.callsite import caller
from ..ground.dtypes import DType, as_dtype
from ..ir.size_names import size_name, sizes_and_names
from ..opdef.operand import Operand

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike


class InputSpec:
    """What an input or a label of a model looks like.

    Args:
        shape: sizes; None or -1 where they differ from batch to batch, or a name: sizes of one name
            are equal.
        dtype: the element type.
        name: of the variable.
        stop_gradient: whether gradients stop at it.

    Raises:
        ArgumentError: these are no sizes, or there is no such element type.

    >>> InputSpec([None, 4])
    InputSpec(shape=(-1, 4), dtype=paddle.float32, name=None, stop_gradient=False)
    >>> InputSpec(["batch", 4]).shape
    (-1, 4)
    """

    def __init__(
        self,
        shape: Sequence[int | str | None],
        dtype: DTypeLike = "float32",
        name: str | None = None,
        stop_gradient: bool = False,
    ) -> None:
        if not isinstance(shape, (list, tuple)):
            raise ArgumentError(f"expected a list of sizes, got {shape!r:.60}")
        for place, size in enumerate(shape):
            if size is not None and not isinstance(size, (int, str, np.integer)):
                raise ArgumentError(
                    f"expected shape[{place}] to be a whole number or a name, got {size!r:.60}"
                )
        #: sizes, -1 where unknown, and names of sizes
        self.sizes: tuple[int | str, ...] = tuple(
            size_name(size, name or "input", caller())
            if isinstance(size, str)
            else max(-1 if size is None else int(size), -1)
            for size in shape
        )
        self.dtype: DType = as_dtype("float32" if dtype is None else dtype)
        self.name: str | None = name
        self.stop_gradient: bool = stop_gradient

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes; -1 where they differ."""
        return sizes_and_names(self.sizes)[0]

    @shape.setter
    def shape(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)

    @classmethod
    def from_tensor(cls, tensor: Operand, name: str | None = None) -> InputSpec:
        """That of a tensor or a variable.

        Args:
            tensor: the tensor.
            name: of the variable; the tensor's when None.

        Raises:
            ArgumentError: it is no tensor.

        >>> InputSpec.from_tensor(fluid.to_tensor([[1.0, 2.0]]), "x")
        InputSpec(shape=(1, 2), dtype=paddle.float32, name=x, stop_gradient=False)
        """
        if not isinstance(tensor, Operand):
            raise ArgumentError(f"expected a tensor, got {type(tensor).__name__}")
        array = tensor.array
        return cls(list(array.shape), array.dtype, name or getattr(tensor, "name", None))

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray[Any, Any], name: str | None = None) -> InputSpec:
        """That of an array.

        Args:
            ndarray: the array.
            name: of the variable.

        >>> InputSpec.from_numpy(np.ones([2, 3], "float32"))
        InputSpec(shape=(2, 3), dtype=paddle.float32, name=None, stop_gradient=False)
        """
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: int | Sequence[int]) -> InputSpec:
        """Put a size in front; this specification.

        Args:
            batch_size: the size, or a list of it alone.

        Raises:
            ArgumentError: it is no whole number.

        >>> InputSpec([4]).batch(2).shape
        (2, 4)
        """
        sizes = batch_size if isinstance(batch_size, (list, tuple)) else [batch_size]
        if len(sizes) != 1 or not isinstance(sizes[0], int):
            raise ArgumentError(f"expected batch_size to be a whole number, got {batch_size!r:.60}")
        self.sizes = (sizes[0], *self.sizes)
        return self

    def unbatch(self) -> InputSpec:
        """Take the first size away; this specification.

        Raises:
            ArgumentError: there is none.

        >>> InputSpec([2, 4]).unbatch().shape
        (4,)
        """
        if not self.sizes:
            raise ArgumentError("expected a size in front to be taken away, got no sizes")
        self.sizes = self.sizes[1:]
        return self

    def _key(self) -> tuple[Any, ...]:
        return type(self), self.sizes, self.dtype, self.name, self.stop_gradient

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"InputSpec(shape={self.sizes}, dtype=paddle.{self.dtype.dtype.name}, "
            f"name={self.name}, stop_gradient={self.stop_gradient})"
        )
