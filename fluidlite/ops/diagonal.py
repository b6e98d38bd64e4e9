"""Diagonals of matrices, and what lies beside them."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, Op
from ..opdef.spec import Shape, Spec, need_ndim, need_numbers, need_rank, normal_axis


class Diagonal(Op, abstract=True):
    """An operator on a diagonal of the matrices in two dimensions.

    offset: 0 the main diagonal; above 0 that many columns to the right, below 0 rows down.
    dim1: the dimension of the rows; may count from the end.
    dim2: the dimension of the columns; may count from the end.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    offset: int = 0
    dim1: int = -2
    dim2: int = -1
    lod: ClassVar[str | None] = None

    @property
    def place(self) -> dict[str, Any]:
        """The attributes that say which diagonal is meant."""
        return dict(offset=self.offset, dim1=self.dim1, dim2=self.dim2)

    def dims(self, ndim: int) -> Shape:
        """The two dimensions, counted from the front.

        Raises:
            ShapeError: they are the same.
        """
        dims = normal_axis(self.dim1, ndim, "dim1"), normal_axis(self.dim2, ndim, "dim2")
        if dims[0] == dims[1]:
            raise ShapeError(
                f"expected two dimensions, got dim1={self.dim1} and dim2={self.dim2}, which are "
                f"the same of {ndim}"
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


class trace(Diagonal):
    """The sums along a diagonal of the matrices in two dimensions of Input.

    Input: a variable of numbers with at least 2 dimensions.
    Out: without the two dimensions; of shape [1] where none is left.
    """

    signature = "Input -> Out"

    def infer(self, Input: Spec) -> Specs:
        need_numbers("Input", Input)
        sums = self.taken(Input).shape[:-1]
        return Input.with_shape(sums or (1,))

    def expand(self, f: Any, Input: Value) -> Value:
        return f.reduce_sum(f.take_diagonal(Input, **self.place), dim=[-1])


class diag(Detached):
    """Out = a square matrix of zeros with Diagonal on its diagonal.

    Diagonal: a vector.
    """

    signature = "Diagonal -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

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
    diagonal: int = 0
    lower: bool = REQUIRED

    def infer(self, X: Spec) -> Specs:
        need_rank("X", X, 2)
        return X

    def run(self, xp: Any, X: Array) -> Array:
        return (xp.tril if self.lower else xp.triu)(X, self.diagonal)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.tril_triu(dOut, diagonal=self.diagonal, lower=self.lower))
