"""What operators on sequences are composed of: rows taken by their numbers, and sums of rows that
lie one after the other.  None of these knows sequences; where they begin is an input.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..ground.values import with_lod
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long
from ..opdef.definition import Detached, Op, ValueShaped
from ..opdef.sequences import lod_of
from ..opdef.spec import Spec


class bare_rows(Op):
    """Out = the rows of X, which no longer form sequences."""

    signature = "X -> Out"
    lod: ClassVar[str | None] = None

    def run(self, xp: Any, X: Array) -> Array:
        return X

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: dOut)


class like_rows(Op):
    """Out = the rows of X, which form sequences as those of Like do."""

    signature = "X, Like![] -> Out[]"
    lod: ClassVar[str | None] = "Like"

    def infer(self, X: Spec, Like: Spec) -> Specs:
        return X._replace(lod_level=Like.lod_level)

    def run(self, xp: Any, X: Array, Like: Array) -> Array:
        return with_lod(X, lod_of(Like))

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.bare_rows(dOut))


class take_rows(Op):
    """Out[i] = X[Index[i]], and zero where Index[i] is -1.

    Index: numbers of rows of X, [n].
    """

    signature = "X, Index! -> Out"
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Index: Spec) -> Specs:
        return X.with_shape([*Index.shape, *X.shape[1:]])._replace(lod_level=0)

    def run(self, xp: Any, X: Array, Index: Array) -> Array:
        if len(Index) and Index.min() < 0:
            zero = xp.zeros((1, *X.shape[1:]), X.dtype)
            return xp.take(xp.concatenate([X, zero]), Index, axis=0)
        return xp.take(X, Index, axis=0)

    def run_jax(self, xp: Any, X: Array, Index: Array) -> Arrays:
        zero = xp.zeros((1, *X.shape[1:]), X.dtype)  # where -1 is
        return xp.take(xp.concatenate([X, zero]), Index, axis=0)

    def grad(self, f: Any, X: Value, Index: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.add_rows(Index, dOut, size=X.shape[0]))


class add_rows(Op):
    """Out[i] = the sum of Updates[j] over all j where Index[j] = i: the adjoint of ``take_rows``.

    Index: numbers of rows of Out, or -1, [n].
    Updates: n rows.
    size: how many rows Out has.
    """

    signature = "Index!, Updates -> Out"
    size: Long = REQUIRED
    lod: ClassVar[str | None] = None

    def infer(self, Index: Spec, Updates: Spec) -> Specs:
        return Updates.with_shape([self.size, *Updates.shape[1:]])._replace(lod_level=0)

    def run(self, xp: Any, Index: Array, Updates: Array) -> Array:
        return xp.add_rows(Index, Updates, self.size)

    def grad(self, f: Any, Index: Value, dOut: Value) -> Rules:
        return dict(Updates=lambda: f.take_rows(dOut, Index))


class segment_sum(Op):
    """Out[i] = the sum of the rows of X from Offsets[i] to Offsets[i + 1]; 0 if there are none.

    Offsets: where each segment begins, and where the last one ends, [n + 1].
    """

    signature = "X, Offsets! -> Out"
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Offsets: Spec) -> Specs:
        return X.with_shape([_count(Offsets), *X.shape[1:]])._replace(lod_level=0)

    def run(self, xp: Any, X: Array, Offsets: Array) -> Array:
        return xp.segment_sum(X, Offsets)

    def grad(self, f: Any, Offsets: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.segment_spread(dOut, Offsets))


class segment_spread(ValueShaped):
    """Out = row i of X, as often as there are rows from Offsets[i] to Offsets[i + 1]: the adjoint
    of ``segment_sum``.

    Offsets: where each segment begins, and where the last one ends, [n + 1].
    """

    signature = "X, Offsets! -> Out"

    def infer(self, X: Spec, Offsets: Spec) -> Specs:
        if X.shape[0] not in (-1, _count(Offsets)) and _count(Offsets) != -1:
            raise ShapeError(
                f"expected {_count(Offsets)} rows, one for each segment, got {X.shape[0]}"
            )
        return X.with_shape([-1, *X.shape[1:]])._replace(lod_level=0)

    def run(self, xp: Any, X: Array, Offsets: Array) -> Array:
        return xp.repeat(X, xp.diff(Offsets), axis=0)

    def grad(self, f: Any, Offsets: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.segment_sum(dOut, Offsets))


class segment_argmax(Detached):
    """Out[i] = the numbers of the rows of X where each column is largest, of those from Offsets[i]
    to Offsets[i + 1]: the first of equal ones, and -1 if there are none.

    Offsets: where each segment begins, and where the last one ends, [n + 1].
    """

    signature = "X, Offsets! -> Out"

    def infer(self, X: Spec, Offsets: Spec) -> Specs:
        shape = [_count(Offsets), *X.shape[1:]]
        return X.with_shape(shape)._replace(lod_level=0, dtype=DType.INT64)

    def run(self, xp: Any, X: Array, Offsets: Array) -> Arrays:
        return xp.segment_argmax(X, Offsets)


class segment_max(Detached):
    """Out[i] = the largest number of each column of X, of the rows from Offsets[i] to
    Offsets[i + 1]; 0 if there are none.

    Nothing flows through it: it is what exponents are shifted by.

    Offsets: where each segment begins, and where the last one ends, [n + 1].
    """

    signature = "X, Offsets! -> Out"

    def infer(self, X: Spec, Offsets: Spec) -> Specs:
        return X.with_shape([_count(Offsets), *X.shape[1:]])._replace(lod_level=0)

    def run(self, xp: Any, X: Array, Offsets: Array) -> Arrays:
        return xp.segment_max(X, Offsets)


class segment_top(Detached):
    """Out[i] = the numbers of the ``k`` largest elements of X, the largest first, of those from
    Begins[i] on, Counts[i] of them; -1 where there are fewer.

    X: [n].
    Begins, Counts: where segments begin, and how many elements they have, [m].
    k: how many are looked for.
    """

    signature = "X, Begins!, Counts! -> Out"
    k: int = REQUIRED

    def infer(self, X: Spec, Begins: Spec, Counts: Spec) -> Specs:
        return X.with_shape([Begins.shape[0], self.k])._replace(lod_level=0, dtype=DType.INT64)

    def run(self, xp: Any, X: Array, Begins: Array, Counts: Array) -> Array:
        inside = xp.arange(int(xp.max(Counts, initial=0))) < Counts[:, None]
        padded = xp.full(inside.shape, -xp.inf)
        places = Begins[:, None] + xp.arange(inside.shape[1])
        padded[inside] = X[places[inside]]
        order = xp.argsort(-padded, axis=1, kind="stable")[:, : self.k]
        out = xp.full((len(Begins), self.k), -1)
        there = xp.arange(order.shape[1]) < Counts[:, None]
        out[:, : order.shape[1]] = xp.where(there, Begins[:, None] + order, -1)
        return out


def _count(Offsets):
    return -1 if Offsets.shape[0] == -1 else Offsets.shape[0] - 1
