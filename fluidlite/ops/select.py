"""Operators that choose: between tensors, or along a dimension."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.spec import Spec, agree, need_integer, need_ndim, need_shape, normal_axis
from .compare import need_bool
from .elementwise import indicator
from .gather import count_of, rows_added
from .join import common
from .matrix import same_shape


class where(Op):
    """Out = the elements of X where Condition holds, and those of Y elsewhere.

    Condition: truth values in the shape of X and Y.
    """

    signature = "Condition!, X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    lod: ClassVar[str | None] = "X"

    def infer(self, Condition: Spec, X: Spec, Y: Spec) -> Specs:
        need_bool(Condition=Condition)
        shape = same_shape(X=X, Y=Y)
        need_shape("Condition", Condition, shape, "as X and Y")
        return X.with_shape(shape)

    def run(self, xp: Any, Condition: Array, X: Array, Y: Array) -> Array:
        return xp.where(Condition, X, Y)

    def grad(self, f: Any, Condition: Value, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.where(Condition, dOut, f.fill_zeros_like(dOut)),
            Y=lambda: f.where(Condition, f.fill_zeros_like(dOut), dOut),
        )


class multiplex(Op):
    """Each row from one of several tensors: ``Out[i] = X[Ids[i, 0]][i]``.

    Ids: which tensor each row comes from, int32 of shape [n, 1].
    X: tensors of one shape, n rows each.
    Out: of the shape of each of X.
    """

    signature = "Ids!, X* -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    lod: ClassVar[str | None] = None
    sees_outputs: ClassVar[bool] = True  #: fluid's gradient operator does not read X

    def infer(self, Ids: Spec, X: list[Spec]) -> Specs:
        if not X:
            raise ShapeError("expected at least one X, got none")
        shape = common(X)
        count = count_of("Ids", Ids)
        if not shape or not agree(count, shape[0]):
            raise ShapeError(
                f"expected one of Ids for each row of X {list(shape)}, got {list(Ids.shape)}"
            )
        return X[0].with_shape(shape)

    def run(self, xp: Any, Ids: Array, X: list[Array]) -> Array:
        ids = xp.in_range(xp.reshape(Ids, -1), len(X), "Ids")
        return xp.stack(X)[ids, xp.arange(len(ids))]

    def grad(self, f: Any, Ids: Value, dOut: Value, X: list[Value] | None = None) -> Rules:
        count = self.output_widths["X@GRAD"] if X is None else len(X)

        def rows(k):
            chosen = f.equal(Ids, f.fill_any_like(Ids, value=k))
            mask = f.reshape(indicator(f, chosen, dOut), shape=[-1])
            return f.elementwise_mul(dOut, mask, axis=0)

        return dict(X=lambda: [rows(k) for k in range(count)])


class index_select(Op):
    """Out = the slices of X along ``dim`` that Index names.

    Index: int32 or int64 of shape [n].
    Out: of the shape of X with n slices along the dimension.
    dim: the dimension; may count from the end.
    """

    signature = "X, Index! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    dim: int = 0
    lod: ClassVar[str | None] = "X"

    def infer(self, X: Spec, Index: Spec) -> Specs:
        return X.with_dim(normal_axis(self.dim, X.ndim, "dim"), count_of("Index", Index))

    def run(self, xp: Any, X: Array, Index: Array) -> Array:
        index = xp.in_range(xp.reshape(Index, -1), X.shape[self.dim], "Index")
        return xp.take(X, index, axis=self.dim)

    def takes_rows(self, X: Any, Index: Any) -> tuple[Any, Any] | None:
        return (X, Index) if X.ndim == 2 and self.dim in (0, -2) else None

    def grad(self, f: Any, X: Value, Index: Value, dOut: Value) -> Rules:
        axis = lambda: normal_axis(self.dim, len(X.shape))
        return dict(X=lambda: rows_added(f, Index, dOut, X.shape[self.dim], axis()))


class index_sample(Op):
    """The elements of each row of X that Index names: ``Out[i, j] = X[i, Index[i, j]]``.

    X: [N, M].
    Index: numbers of columns of X, int32 or int64 of shape [N, K].
    Out: of shape [N, K].
    """

    signature = "X, Index! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    def infer(self, X: Spec, Index: Spec) -> Specs:
        need_integer(Index=Index)
        need_ndim(2, X=X, Index=Index)
        if not agree(X.shape[0], Index.shape[0]):
            raise ShapeError(
                f"expected as many rows in Index as in X, got shapes {list(Index.shape)} and "
                f"{list(X.shape)}"
            )
        rows = X.shape[0] if Index.shape[0] == -1 else Index.shape[0]
        return X.with_shape((rows, Index.shape[1]))

    def expand(self, f: Any, X: Value, Index: Value) -> Value:
        return f.take_along(X, Index, axis=1)
