"""Tensors of which few elements are stored.

Such a tensor is a dense one, its values, and the places of these.  Whatever is done with it is done
with the values by ordinary functions, so gradients of every order are those of dense tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...eager.held_values import HoldsValues
from ...eager.printing import elements_text
from ...eager.recording import TensorRecord, eager
from ...errors import ArgumentError, OutOfRangeError, ShapeError, UnsupportedError
from ...functions import creation
from ...functions.elementary import cast
from ...functions.selection import gather
from ...ground.aliases import Alias
from ...ground.extension import ExtensionPoint
from ...ground.tracebacks import api_boundaries

__all__ = [
    "CooTensor", "CsrTensor", "SparseTensor", "need_places", "need_sparse", "numbers_of", "shaped",
    "sum_at", "taken",
]  # fmt: skip

_OPERATIONS: ExtensionPoint[Any] = ExtensionPoint("operations on sparse tensors")
Places = np.ndarray[Any, Any]


def _of_function(name: str, swapped: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        function = getattr(_OPERATIONS.get(), name)
        return function(other, self) if swapped else function(self, other)

    return method


class SparseTensor(HoldsValues):
    """A tensor of which some elements are stored, and the others are zeros.

    Args:
        values: [stored, ...]: a dense tensor.
        shape: of the whole.
    """

    __slots__ = ("_shape", "_values", "name")
    __hash__ = object.__hash__

    def __init__(self, values: Any, shape: Sequence[int]) -> None:
        self._values, self._shape = values, tuple(int(size) for size in shape)
        self.name = values.name

    # -- what it is ----------------------------------------------------------------------------

    @property
    def shape(self) -> list[int]:
        """The sizes of the whole."""
        return [*self._shape]

    dtype: Alias[Any] = Alias("_values.dtype", "The element type of the values.")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of elements of the whole."""
        return math.prod(self._shape)

    place: Alias[Any] = Alias("_values.place", "Where the values are.")

    @property
    def stop_gradient(self) -> bool:
        """Whether gradients stop at it."""
        return bool(self._values.stop_gradient)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._values.stop_gradient = value

    @property
    def is_leaf(self) -> bool:
        """Whether nothing was computed to make it that a gradient could flow through."""
        return bool(self._values.is_leaf)

    @property
    def grad(self) -> Any:
        """The gradient, at the places of this tensor; None before there is one."""
        gradient = self._values.grad
        return None if gradient is None else self.with_values(gradient)

    def dim(self) -> int:
        """The number of dimensions."""
        return self.ndim

    def numel(self) -> Any:
        """The number of elements of the whole, as a tensor."""
        return creation.to_tensor(np.array(self.size))

    def nnz(self) -> int:
        """How many elements, or rows of elements, are stored."""
        return int(self._values.shape[0])

    def values(self) -> Any:
        """What is stored: a dense tensor."""
        return self._values

    def is_dense(self) -> bool:
        """False: not all elements are there."""
        return False

    def is_sparse(self) -> bool:
        """True: some elements are there."""
        return True

    def is_sparse_coo(self) -> bool:
        """Whether places are stored as coordinates."""
        return isinstance(self, CooTensor)

    def is_sparse_csr(self) -> bool:
        """Whether places are stored by rows."""
        return isinstance(self, CsrTensor)

    def is_selected_rows(self) -> bool:
        """False: it is no gradient of a table."""
        return False

    def __len__(self) -> int:
        return self._shape[0]

    def __bool__(self) -> bool:
        raise UnsupportedError("a sparse tensor is neither true nor false; look at its values()")

    # -- gradients -----------------------------------------------------------------------------

    def backward(
        self, grad_tensor: SparseTensor | None = None, retain_graph: bool | None = False
    ) -> None:
        """Add the gradients of the values to ``.grad`` of the leaves that they depend on.

        Args:
            grad_tensor: the cotangent, with the places of this tensor; None for ones.
            retain_graph: keep the graph.

        Raises:
            ArgumentError: the cotangent is no sparse tensor.
        """
        if grad_tensor is not None and not isinstance(grad_tensor, SparseTensor):
            raise ArgumentError(f"expected a sparse cotangent, got {grad_tensor!r:.60}")
        seed = None if grad_tensor is None else grad_tensor.values()
        self._values.backward(seed, retain_graph)

    def retain_grads(self) -> None:
        """Keep the gradient of a tensor that is no leaf, too."""
        self._values.retain_grads()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zero, or forget it."""
        self._values.clear_gradient(set_to_zero)

    def clear_grad(self) -> None:
        """Set the gradient to zero."""
        self._values.clear_grad()

    def detach(self) -> Any:
        """The same elements, through which nothing flows."""
        return self.with_values(self._values.detach())

    def clone(self) -> Any:
        """A copy, through which gradients flow."""
        return self.with_values(self._values.clone())

    def cpu(self) -> Any:
        """The tensor itself: that is where it is."""
        return self

    # -- other forms ---------------------------------------------------------------------------

    def to_dense(self) -> Any:
        """The whole tensor, with its zeros; of elements that are stored twice, their sum."""
        places, sizes = self.coordinates(), self.sparse_shape()
        within = [*self._values.shape[1:]]
        count = math.prod(sizes)
        sums = sum_at(self._values, numbers_of(places, sizes), count)
        return shaped(sums, [*sizes, *within])

    def numpy(self) -> Any:
        """The whole tensor as an array."""
        return self.to_dense().numpy()

    def __array__(self, *given: Any, **named: Any) -> Places:
        return np.array(self.numpy(), *given, **named)

    def tolist(self) -> Any:
        """The whole tensor as lists in lists."""
        return self.to_dense().tolist()

    def to_sparse_coo(self, sparse_dim: int | None = None) -> CooTensor:
        """The tensor with coordinates.

        Args:
            sparse_dim: how many dimensions have coordinates; as many as there are when None.

        Raises:
            UnsupportedError: there are coordinates of another number of dimensions already.
        """
        places = self.coordinates()
        if sparse_dim not in (None, len(places)):
            raise UnsupportedError(
                f"expected sparse_dim {len(places)}, as the tensor has it, got {sparse_dim}; "
                "to_dense().to_sparse_coo(sparse_dim) makes another one"
            )
        return CooTensor(places, self._values, self._shape)

    def to_sparse_csr(self) -> CsrTensor:
        """The tensor by rows.

        Raises:
            ShapeError: it has not two or three dimensions with coordinates, and no others.
        """
        return CsrTensor.of(self.coordinates(), self._values, self._shape)

    def __deepcopy__(self, memo: Any) -> Any:
        values = self._values.detach().clone()
        values.stop_gradient = self.stop_gradient
        return self.with_values(values)

    # -- operators -----------------------------------------------------------------------------

    __add__, __sub__ = _of_function("add"), _of_function("subtract")
    __mul__, __truediv__ = _of_function("multiply"), _of_function("divide")
    __rmul__ = _of_function("multiply", swapped=True)
    __matmul__, __rmatmul__ = _of_function("matmul"), _of_function("matmul", swapped=True)
    __pow__ = _of_function("pow")

    def __neg__(self) -> Any:
        return _OPERATIONS.get().neg(self)

    def __abs__(self) -> Any:
        return _OPERATIONS.get().abs(self)

    def coalesce(self) -> Any:
        """The same tensor, each place once and in order."""
        return _OPERATIONS.get().coalesce(self)

    def cast(self, dtype: Any) -> Any:
        """The tensor with values of another type."""
        return self.with_values(cast(self._values, dtype))

    astype = cast

    # -- what kinds of them say ----------------------------------------------------------------

    kind: ClassVar[str] = ""

    def _refused(self, name: str) -> UnsupportedError:
        return UnsupportedError(f"a tensor in the {self.kind} form has no {name}()")

    def indices(self) -> Any:
        """The coordinates, [dimensions, stored]."""
        raise self._refused("indices")

    def crows(self) -> Any:
        """Where each row begins, and where the last one ends."""
        raise self._refused("crows")

    def cols(self) -> Any:
        """The column of each element."""
        raise self._refused("cols")

    def rows(self) -> Any:
        """Refused: that is what gradients of tables have."""
        raise self._refused("rows")

    def coordinates(self) -> Places:
        """The places of what is stored: an array [dimensions, stored]."""
        raise NotImplementedError

    def sparse_shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions that have coordinates."""
        return self._shape[: self.ndim - len(self._values.shape) + 1]

    def with_values(self, values: Any) -> Any:
        """A tensor with other values at the same places."""
        raise NotImplementedError

    @classmethod
    def of(cls, places: Places, values: Any, shape: Sequence[int]) -> Any:
        """A tensor of this form, of coordinates.

        Args:
            places: [dimensions, stored].
            values: [stored, ...].
            shape: of the whole.
        """
        raise NotImplementedError

    def _text(self, **parts: Any) -> str:
        lines = [
            f"Tensor(shape={self.shape}, dtype=paddle.{self._values.array.dtype.name}, "
            f"place=Place(cpu), stop_gradient={self.stop_gradient}"
        ]
        indent = " " * 7
        for name, array in {**parts, "values": np.asarray(self._values.array)}.items():
            text = elements_text(array, True, len(indent) + len(name) + 1)
            lines.append(f"{indent}{name}={text}")
        return ", \n".join(lines) + ")"


class CooTensor(SparseTensor):
    """A tensor with the coordinates of what is stored.

    Args:
        places: [dimensions with coordinates, stored]: an array of int32 or int64.
        values: [stored, ...]: a dense tensor.
        shape: of the whole.
    """

    __slots__ = ("places",)
    kind = "COO"

    def __init__(self, places: Places, values: Any, shape: Sequence[int]) -> None:
        super().__init__(values, shape)
        self.places = places

    def indices(self) -> Any:
        return creation.to_tensor(self.places)

    def coordinates(self) -> Places:
        return self.places

    def with_values(self, values: Any) -> CooTensor:
        return CooTensor(self.places, values, self._shape)

    @classmethod
    def of(cls, places: Places, values: Any, shape: Sequence[int]) -> CooTensor:
        return cls(places, values, shape)

    def __repr__(self) -> str:
        return self._text(indices=self.places)


class CsrTensor(SparseTensor):
    """A matrix by rows, or several of them.

    Args:
        begins: [rows + 1], of several matrices one after the other: where each row begins, and
            where the last one ends.
        columns: [stored].
        values: [stored]: a dense tensor.
        shape: [rows, columns] or [matrices, rows, columns].
    """

    __slots__ = ("begins", "columns")
    kind = "CSR"

    def __init__(self, begins: Places, columns: Places, values: Any, shape: Sequence[int]) -> None:
        super().__init__(values, shape)
        self.begins, self.columns = begins, columns

    def crows(self) -> Any:
        return creation.to_tensor(self.begins)

    def cols(self) -> Any:
        return creation.to_tensor(self.columns)

    def coordinates(self) -> Places:
        rows = self._shape[-2]
        counts = np.diff(self.begins.reshape(math.prod(self._shape[:-2]), rows + 1), axis=1)
        row = np.repeat(
            np.tile(np.arange(rows, dtype=self.columns.dtype), len(counts)), counts.flat
        )
        if self.ndim == 2:
            return np.stack([row, self.columns])
        matrix = np.repeat(np.arange(len(counts), dtype=row.dtype), counts.sum(1))
        return np.stack([matrix, row, self.columns])

    def with_values(self, values: Any) -> CsrTensor:
        return CsrTensor(self.begins, self.columns, values, self._shape)

    @classmethod
    def of(cls, places: Places, values: Any, shape: Sequence[int]) -> CsrTensor:
        if len(shape) not in (2, 3) or len(places) != len(shape):
            raise ShapeError(
                f"expected 2 or 3 dimensions, all with coordinates, for the CSR form; got shape "
                f"{[*shape]} with coordinates of {len(places)}"
            )
        flat = numbers_of(places, shape)
        if (np.diff(flat) < 0).any():
            order = np.argsort(flat, kind="stable")
            places, values = places[:, order], taken(values, order)
        lines = numbers_of(places[:-1], shape[:-1])
        counts = np.bincount(lines, minlength=math.prod(shape[:-1]))
        counts = counts.reshape(math.prod(shape[:-2]), shape[-2])
        begins = np.zeros((len(counts), shape[-2] + 1), places.dtype)
        np.cumsum(counts, axis=1, out=begins[:, 1:])
        return cls(begins.reshape(-1), places[-1], values, shape)

    def __repr__(self) -> str:
        return self._text(crows=self.begins, cols=self.columns)


def numbers_of(places: Places, shape: Sequence[int]) -> Places:
    """The number of each place, by rows."""
    numbers = np.zeros(places.shape[1], np.int64)
    for place, size in zip(places, shape, strict=True):
        numbers = numbers * size + place
    return numbers


def taken(values: Any, numbers: Places) -> Any:
    """Some rows of values."""
    return gather(values, creation.to_tensor(numbers))


def shaped(values: Any, sizes: Sequence[int]) -> Any:
    """The elements in another shape, of which 0 is a size as others."""
    return eager.reshape(values, shape=[*sizes])


def sum_at(values: Any, numbers: Places, count: int) -> Any:
    """Rows of zeros, with values added at those of some numbers."""
    return eager.gather_adjoint(creation.to_tensor(numbers), values, size=count)


def need_sparse(what: str, **given: Any) -> None:
    """Check that arguments are sparse tensors.

    Raises:
        ArgumentError: one is a variable of a program, or a dense tensor.
    """
    for name, value in given.items():
        if isinstance(value, SparseTensor):
            continue
        hint = "; to_sparse_coo() makes a sparse one" if isinstance(value, TensorRecord) else ""
        raise ArgumentError(
            f"{what}: expected {name} to be a sparse tensor, got {value!r:.60}{hint}"
        )


def need_places(places: Places, shape: Sequence[int]) -> None:
    """Check that places are within a shape.

    Raises:
        OutOfRangeError: one of them is not.
    """
    for axis, (place, size) in enumerate(zip(places, shape, strict=True)):
        outside = place[(place < 0) | (place >= size)]
        if len(outside):
            raise OutOfRangeError(
                f"expected coordinates of dimension {axis} in [0, {size}), got {outside[0]}"
            )


api_boundaries(globals(), but=("ExtensionPoint",))
