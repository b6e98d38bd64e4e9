"""Diagonals of matrices, and what lies beside them."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, attr
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, Op
from ..opdef.spec import (
    Shape,
    Spec,
    need_ndim,
    need_numbers,
    need_rank,
    need_shape,
    normal_axis,
    same_dtype,
    spec,
)
from .families import OneNumber


class Diagonal(Op, abstract=True):
    """An operator on a diagonal of the matrices in two dimensions.

    offset: 0 the main diagonal; above 0 that many columns to the right, below 0 rows down.
    dim1: the dimension of the rows; may count from the end.
    dim2: the dimension of the columns; may count from the end.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    offset: int = 0
    dim1: int = -2
    dim2: int = -1
    lod: ClassVar[str | None] = None

    @property
    def pair(self) -> Shape:
        """The two dimensions, which may count from the end."""
        return self.dim1, self.dim2

    @property
    def place(self) -> dict[str, Any]:
        """The attributes that say which diagonal is meant."""
        return dict(zip(("offset", "dim1", "dim2"), (self.offset, *self.pair)))

    def dims(self, ndim: int) -> Shape:
        """The two dimensions, counted from the front.

        Raises:
            ShapeError: they are the same.
        """
        first, second = self.pair
        dims = normal_axis(first, ndim, "dim1"), normal_axis(second, ndim, "dim2")
        if dims[0] == dims[1]:
            raise ShapeError(
                f"expected two dimensions, got dim1={first} and dim2={second}, which are the same "
                f"of {ndim}"
            )
        return dims

    def taken(self, X: Spec) -> Any:
        """The spec of the diagonals of X, which stand last."""
        rows, columns = self.dims(X.ndim)
        rest = [n for i, n in enumerate(X.shape) if i not in (rows, columns)]
        return X.with_shape((*rest, self.count(X.shape[rows], X.shape[columns])))

    def count(self, rows: int, columns: int) -> int:
        """How many elements the diagonal of a matrix has."""
        if -1 in (rows, columns):
            return -1
        return max(min(rows + min(self.offset, 0), columns - max(self.offset, 0)), 0)


class take_diagonal(Diagonal):
    """Out = the diagonals of X, along its last dimension."""

    signature = "X -> Out"

    def infer(self, X: Spec) -> Specs:
        return self.taken(X)

    def run(self, xp: Any, X: Array) -> Array:
        rows, columns = self.dims(X.ndim)
        # beyond the matrix diagonals are empty; NumPy crashes at some of those offsets
        offset = min(max(self.offset, -X.shape[rows]), X.shape[columns])
        return xp.diagonal(X, offset, rows, columns)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        rows, columns = (X.shape[d] for d in self.dims(len(X.shape)))
        return dict(
            X=lambda: f.place_diagonal(dOut, num_rows=rows, num_columns=columns, **self.place)
        )


class place_diagonal(Diagonal):
    """Out = matrices of zeros with X on a diagonal: the adjoint of ``take_diagonal``.

    X: the diagonals, along its last dimension.
    num_rows, num_columns: the sizes of the matrices.
    """

    signature = "X -> Out"
    num_rows: int = REQUIRED
    num_columns: int = REQUIRED

    def infer(self, X: Spec) -> Specs:
        need_rank("X", X, 1)
        rows, columns = self.dims(X.ndim + 1)
        count = self.count(self.num_rows, self.num_columns)
        if X.shape[-1] not in (count, -1):
            raise ShapeError(
                f"expected diagonals of {count} elements in {self.num_rows} rows and "
                f"{self.num_columns} columns, got X of shape {list(X.shape)}"
            )
        shape = list(X.shape[:-1])
        for d, n in sorted(((rows, self.num_rows), (columns, self.num_columns))):
            shape.insert(d, n)
        return X.with_shape(shape)

    def run(self, xp: Any, X: Array) -> Array:
        along = xp.arange(X.shape[-1])
        place = (..., along + max(-self.offset, 0), along + max(self.offset, 0))
        zeros = xp.zeros((*X.shape[:-1], self.num_rows, self.num_columns), X.dtype)
        return xp.moveaxis(xp.scatter_set(zeros, place, X), (-2, -1), self.dims(X.ndim + 1))

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.take_diagonal(dOut, **self.place))


class trace(Diagonal, OneNumber):
    """The sums along a diagonal of the matrices in two dimensions of Input.

    Input: a variable of numbers with at least 2 dimensions.
    Out: without the two dimensions; one number where none is left.
    axis1, axis2: what paddle 2 calls ``dim1`` and ``dim2``.
    """

    signature = "Input -> Out"
    axis1: int = attr(-2, local=True)
    axis2: int = attr(-1, local=True)

    @property
    def pair(self) -> Shape:
        """The two dimensions, under either pair of names."""
        named = self.axis1, self.axis2
        return super().pair if named == (-2, -1) else named

    def infer(self, Input: Spec) -> Specs:
        need_numbers("Input", Input)
        sums = self.taken(Input).shape[:-1]
        return Input.with_shape(sums or self.one)

    def expand(self, f: Any, Input: Value) -> Value:
        return f.reduce_sum(f.take_diagonal(Input, **self.place), dim=[-1], zero_d=self.zero_d)


class diag(Detached):
    """Out = a square matrix of zeros with Diagonal on its diagonal.

    Diagonal: a vector.
    """

    signature = "Diagonal -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    def infer(self, Diagonal: Spec) -> Specs:
        need_ndim(1, Diagonal=Diagonal)
        return Diagonal.with_shape(Diagonal.shape * 2)

    def expand(self, f: Any, Diagonal: Value) -> Value:
        size = Diagonal.shape[0]
        return f.place_diagonal(Diagonal, num_rows=size, num_columns=size)


class diag_embed(Diagonal):
    """Out = square matrices of zeros with the last dimension of Input on a diagonal."""

    signature = "Input -> Out"
    grad = None

    def infer(self, Input: Spec) -> Specs:
        need_rank("Input", Input, 1)
        size = self.size(Input.shape[-1])
        shape = list(Input.shape[:-1])
        for d in sorted(self.dims(Input.ndim + 1)):
            shape.insert(d, size)
        return Input.with_shape(shape)

    def size(self, count: int) -> int:
        """How many rows a matrix with a diagonal of ``count`` elements has."""
        return -1 if count == -1 else count + abs(self.offset)

    def expand(self, f: Any, Input: Value) -> Value:
        size = self.size(Input.shape[-1])
        return f.place_diagonal(Input, num_rows=size, num_columns=size, **self.place)


class tril_triu(Op):
    """Out = X with zeros above a diagonal of the matrices in its last two dimensions, or below it.

    diagonal: 0 the main one; above 0 that many columns to the right, below 0 rows down.
    lower: keep what is on the diagonal and below; if not, what is on it and above.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    diagonal: int = 0
    lower: bool = REQUIRED

    def infer(self, X: Spec) -> Specs:
        need_rank("X", X, 2)
        return X

    def run(self, xp: Any, X: Array) -> Array:
        return (xp.tril if self.lower else xp.triu)(X, self.diagonal)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.tril_triu(dOut, diagonal=self.diagonal, lower=self.lower))


class diagonal(Op):
    """Out = the diagonals of the matrices in two dimensions of Input, along its last dimension.

    offset: 0 the main diagonal; above 0 that many columns to the right, below 0 rows down.
    axis1, axis2: the dimensions of rows and columns; may count from the end.
    """

    signature = "Input -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    lod: ClassVar[str | None] = None
    offset: int = 0
    axis1: int = 0
    axis2: int = 1

    @property
    def taking(self) -> take_diagonal:
        """The operator that takes the same diagonals."""
        return take_diagonal(dict(offset=self.offset, dim1=self.axis1, dim2=self.axis2))

    def infer(self, Input: Spec) -> Specs:
        return self.taking.infer(Input)

    def expand(self, f: Any, Input: Value) -> Value:
        return f.take_diagonal(Input, **self.taking.place)


class diag_v2(Op):
    """Out = a square matrix with X on a diagonal, for a vector X; the diagonal of a matrix X.

    offset: 0 the main diagonal; above 0 that many columns to the right, below 0 rows down.
    padding_value: stands beside the diagonal of a matrix that is made.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    lod: ClassVar[str | None] = None
    offset: int = 0
    padding_value: float = 0.0

    def infer(self, X: Spec) -> Specs:
        need_ndim((0, 1, 2), X=X)
        if X.ndim == 2:
            return take_diagonal(dict(offset=self.offset)).infer(X)
        size = diag_embed(dict(offset=self.offset)).size(X.shape[0] if X.ndim else 1)
        return X.with_shape([size, size])

    def expand(self, f: Any, X: Value) -> Value:
        if len(X.shape) == 2:
            return f.take_diagonal(X, offset=self.offset)
        row = X if X.shape else f.reshape(X, shape=[1])
        size = row.shape[0] + abs(self.offset)
        place = dict(num_rows=size, num_columns=size, offset=self.offset)
        out = f.place_diagonal(row, **place)
        if not self.padding_value:
            return out
        beside = f.place_diagonal(f.fill_any_like(row, value=1.0), **place)
        return out + f.scale(beside, scale=-self.padding_value, bias=self.padding_value)


class fill_diagonal(Op):
    """Out = X with ``value`` on a diagonal of a matrix, or on that of a cube of more dimensions.

    value: what is put there.
    offset: above 0, that many columns to the right; below 0, to the left, in the row above if
        the row has no such column.
    wrap: go on below the square: in matrices that are higher than wide, and in cubes.
    """

    signature = "X -> Out"
    lod: ClassVar[str | None] = None
    value: float = 0.0
    offset: int = 0
    wrap: bool = False

    def infer(self, X: Spec) -> Specs:
        need_rank("X", X, 2)
        if X.ndim > 2 and len({*X.shape} - {-1}) > 1:
            raise ShapeError(
                f"expected X of 2 dimensions, or of equal sizes; got shape {list(X.shape)}"
            )
        return X

    def kept(self, f: Any, X: Value) -> Value:
        """Whether each element is not on the diagonal."""
        return f.off_diagonal(shape=X.shape, offset=self.offset, wrap=self.wrap)

    def expand(self, f: Any, X: Value) -> Value:
        return f.where(self.kept(f, X), X, f.fill_any_like(X, value=self.value))

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.where(self.kept(f, dOut), dOut, f.fill_zeros_like(dOut)))


class off_diagonal(Detached):
    """Out = whether each element of a tensor is not on its diagonal.

    shape: of the tensor.
    offset: how far to the right the diagonal is.
    wrap: whether it goes on below the square.
    """

    signature = "-> Out"
    shape: list[int] = REQUIRED
    offset: int = 0
    wrap: bool = False

    def infer(self) -> Specs:
        return spec(self.shape, DType.BOOL)

    def run(self, xp: Any) -> Array:
        size = math.prod(self.shape)
        columns = self.shape[-1]
        step = sum(math.prod(self.shape[k + 1 :]) for k in range(len(self.shape)))
        number = xp.arange(size)
        end = size if self.wrap else min(columns * columns, size)
        on = (number - self.offset) % step == 0
        row = (number - self.offset) // columns
        on = on & (number - self.offset >= 0) & (number - self.offset < end)
        if self.offset and len(self.shape) == 2:
            on = on & (number // columns == row)
        return xp.reshape(~on, self.shape)


class fill_diagonal_tensor(Op):
    """Out = X with Y on the diagonals of the matrices in two dimensions.

    Y: the diagonals, along its last dimension; of a matrix, of shape [1, n] too.
    offset: 0 the main diagonal; above 0 that many columns to the right, below 0 rows down.
    dim1, dim2: the dimensions of rows and columns; may count from the end.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    lod: ClassVar[str | None] = None
    offset: Long = 0
    dim1: int = 0
    dim2: int = 1

    @property
    def taking(self) -> take_diagonal:
        """The operator that takes the same diagonals."""
        return take_diagonal(dict(offset=self.offset, dim1=self.dim1, dim2=self.dim2))

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_dtype(X=X, Y=Y)
        shape = self.taking.infer(X).shape
        if X.ndim != 2 or Y.ndim != 2:
            need_shape("Y", Y, shape, "the diagonals of X")
        else:
            need_shape("Y", Y, (1, *shape), "the diagonal of X")
        return X

    def expand(self, f: Any, X: Value, Y: Value) -> Value:
        return self.placed(f, X, Y)

    def placed(self, f: Any, X: Value, Y: Value | None) -> Value:
        """X with Y, or zeros, on the diagonals."""
        rows, columns = (X.shape[d] for d in self.taking.dims(len(X.shape)))
        there = f.take_diagonal(X, **self.taking.place)
        placed = dict(num_rows=rows, num_columns=columns, **self.taking.place)
        on = f.place_diagonal(f.fill_any_like(there, value=1.0), **placed)
        if Y is None:
            diagonal = f.fill_zeros_like(on)
        else:
            diagonal = f.place_diagonal(f.reshape(Y, shape=there.shape), **placed)
        return f.where(f.equal(on, f.fill_zeros_like(on)), X, diagonal)

    def grad(self, f: Any, dOut: Value, Y: Value | None = None) -> Rules:
        def taken():
            flow = f.take_diagonal(dOut, **self.taking.place)
            return flow if Y is None else f.reshape(flow, shape=Y.shape)

        return dict(X=lambda: self.placed(f, dOut, None), Y=taken)


class TriangleIndices(Detached, abstract=True):
    """The places on one side of a diagonal of a matrix: a row of rows, and a row of columns.

    offset: 0 the main diagonal; above 0 that many columns to the right, below 0 rows down.
    dtype: the element type of out, int32 or int64.
    """

    signature = "-> out"
    offset: int = 0
    dtype: DType = DType.INT64

    sides: ClassVar[tuple[str, str]]  #: the attributes that say rows and columns of the matrix

    @property
    def sizes(self) -> Shape:
        """Rows and columns of the matrix."""
        return getattr(self, self.sides[0]), getattr(self, self.sides[1])

    def inside(self, rows: Any, columns: Any) -> Any:
        """Whether places are meant."""
        raise NotImplementedError

    @property
    def listed(self) -> Any:
        """The places."""
        rows, columns = np.indices(self.sizes)
        return np.stack(np.nonzero(self.inside(rows, columns)))

    def infer(self) -> Specs:
        if min(self.sizes) < 0 or self.dtype not in (DType.INT32, DType.INT64):
            raise ShapeError(
                f"expected rows and columns from 0 and dtype int32 or int64, got "
                f"{list(self.sizes)} and {self.dtype}"
            )
        return spec(self.listed.shape, self.dtype)

    def run(self, xp: Any) -> Array:
        return xp.asarray(self.listed.astype(self.dtype.dtype))


class tril_indices(TriangleIndices):
    """out = the places on and below a diagonal of a matrix: a row of rows, and one of columns.

    rows, cols: the sizes of the matrix.
    """

    sides = "rows", "cols"
    rows: int = 0
    cols: int = 0

    def inside(self, rows: Any, columns: Any) -> Any:
        return columns - rows <= self.offset


class triu_indices(TriangleIndices):
    """out = the places on and above a diagonal of a matrix: a row of rows, and one of columns.

    row, col: the sizes of the matrix.
    """

    sides = "row", "col"
    row: int = 0
    col: int = 0

    def inside(self, rows: Any, columns: Any) -> Any:
        return columns - rows >= self.offset
