"""Products with matrices of which few elements are stored.

The two operators are each other's rules.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import OutOfRangeError, ShapeError
from ..kernels.sparse import sampled, sum_of_rows
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long
from ..opdef.definition import Op
from ..opdef.spec import Spec, agree, need_ndim, same_dtype
from .gather import count_of


def _need_places(Rows: Spec, Cols: Spec) -> int:
    """How many elements are stored, whose rows and columns are given."""
    count = count_of("Rows", Rows)
    if not agree(count, count_of("Cols", Cols)):
        raise ShapeError(f"expected as many Cols as Rows, {count}, got shape {list(Cols.shape)}")
    return count


class sparse_product(Op):
    """Out[i] = the sum of Values[k] * Dense[Cols[k]] over all k where Rows[k] = i: a matrix of
    which elements are stored, times one of which all are.

    Rows, Cols: the places of the elements that are stored, [n].
    Values: these elements, [n].
    Dense: the other matrix.
    size: how many rows Out has.
    ordered: Rows that are not in ascending order are refused.
    """

    signature = "Rows!, Cols!, Values, Dense -> Out"
    size: Long = REQUIRED
    ordered: bool = False
    lod: ClassVar[str | None] = None

    def infer(self, Rows: Spec, Cols: Spec, Values: Spec, Dense: Spec) -> Specs:
        need_ndim(1, Values=Values)
        need_ndim(2, Dense=Dense)
        same_dtype(Values=Values, Dense=Dense)
        if not agree(_need_places(Rows, Cols), Values.shape[0]):
            raise ShapeError(
                f"expected a row and a column for each of {Values.shape[0]} Values, got shape "
                f"{list(Rows.shape)}"
            )
        return Dense.with_shape((self.size, Dense.shape[1]))

    def run(self, xp: Any, Rows: Array, Cols: Array, Values: Array, Dense: Array) -> Array:
        rows, cols = self.places(xp, Rows, Cols, Dense)
        return xp.add_rows(rows, Values[:, None] * xp.take(Dense, cols, axis=0), self.size)

    def run_numpy(self, xp: Any, Rows: Array, Cols: Array, Values: Array, Dense: Array) -> Array:
        rows, cols = self.places(xp, Rows, Cols, Dense)
        return sum_of_rows(rows, cols, Values, Dense, self.size)

    def places(self, xp: Any, Rows: Array, Cols: Array, Dense: Array) -> tuple[Array, Array]:
        """Rows and columns, which are looked at."""
        rows = xp.in_range(xp.reshape(Rows, -1), self.size, "Rows")
        if self.ordered and (rows[1:] < rows[:-1]).any():
            raise OutOfRangeError("expected Rows in ascending order")
        return rows, xp.in_range(xp.reshape(Cols, -1), Dense.shape[0], "Cols")

    def grad(
        self, f: Any, Rows: Value, Cols: Value, Values: Value, Dense: Value, dOut: Value
    ) -> Rules:
        return dict(
            Values=lambda: f.sampled_product(Rows, Cols, dOut, Dense),
            Dense=lambda: f.sparse_product(Cols, Rows, Values, dOut, size=Dense.shape[0]),
        )


class sampled_product(Op):
    """Out[k] = the inner product of X[Rows[k]] and Y[Cols[k]]: elements of X Y^T at some places.

    Rows, Cols: the places, [n].
    X, Y: matrices of equal rows.
    """

    signature = "Rows!, Cols!, X, Y -> Out"
    lod: ClassVar[str | None] = None

    def infer(self, Rows: Spec, Cols: Spec, X: Spec, Y: Spec) -> Specs:
        need_ndim(2, X=X, Y=Y)
        same_dtype(X=X, Y=Y)
        if not agree(X.shape[1], Y.shape[1]):
            raise ShapeError(
                f"expected rows of X and Y to be equally long, got shapes {list(X.shape)} and "
                f"{list(Y.shape)}"
            )
        return X.with_shape((_need_places(Rows, Cols),))

    def run(self, xp: Any, Rows: Array, Cols: Array, X: Array, Y: Array) -> Array:
        rows, cols = self.places(xp, Rows, Cols, X, Y)
        return xp.sum(xp.take(X, rows, axis=0) * xp.take(Y, cols, axis=0), axis=1)

    def run_numpy(self, xp: Any, Rows: Array, Cols: Array, X: Array, Y: Array) -> Array:
        return sampled(*self.places(xp, Rows, Cols, X, Y), X, Y)

    def places(self, xp: Any, Rows: Array, Cols: Array, X: Array, Y: Array) -> tuple[Array, Array]:
        """Rows and columns, which are looked at."""
        rows = xp.in_range(xp.reshape(Rows, -1), X.shape[0], "Rows")
        return rows, xp.in_range(xp.reshape(Cols, -1), Y.shape[0], "Cols")

    def grad(self, f: Any, Rows: Value, Cols: Value, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.sparse_product(Rows, Cols, dOut, Y, size=X.shape[0]),
            Y=lambda: f.sparse_product(Cols, Rows, dOut, X, size=Y.shape[0]),
        )
