"""Sequences cut into steps, the longest first, and put together again: what dynamic recurrent
networks are made of.

A rank table says in which order the sequences go; at each step those that are still there are the
first rows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..errors import LoDError, ShapeError
from ..ground.dtypes import DType, Kind
from ..ground.values import LoDTensor, LoDTensorArray, bare, with_lod
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.definition import Detached, Op, ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.rank_table import RankTable
from ..opdef.sequences import lod_of, taken
from ..opdef.spec import Spec, need_integer, need_one, spec


class lod_rank_table(Detached):
    """Out = the sequences of X on one level, the longest first; of equal ones the first first.

    level: 0 for the outermost level.
    """

    signature = "X![] -> Out"
    level: int = 0

    def infer(self, X: Spec) -> Specs:
        return None

    def run(self, xp: Any, X: Array) -> Array:
        lod = lod_of(X)
        if not 0 <= self.level < len(lod):
            raise LoDError(
                f"expected X with sequences on level {self.level}, got {len(lod)} levels; declare "
                f"the variable with lod_level={self.level + 1} and feed a LoDTensor"
            )
        return RankTable(lod, self.level)


class max_sequence_len(Detached):
    """Out = the length of the longest sequence of a rank table, [1].

    RankTable: the table.
    """

    signature = "RankTable! -> Out"

    def infer(self, RankTable: Spec) -> Spec:
        return spec([1], DType.INT64)

    def run(self, xp: Any, RankTable: Array) -> Array:
        return xp.asarray([RankTable.steps], "int64")


class _HandsOn(ValueShaped, abstract=True):
    """An operator whose result may be a part of what it reads."""

    hands_on: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)


class lod_tensor_to_array(_HandsOn):
    """Out = an array of steps: element t has row t of each sequence that has one.

    Where the sequences have levels below that of the table, element t has their t-th inner
    sequences; of an X with a row for each inner sequence it has their rows.

    RankTable: in which order.
    """

    signature = "X[], RankTable! -> Out"

    def infer(self, X: Spec, RankTable: Spec) -> Spec:
        return X._replace(kind=Kind.LOD_TENSOR_ARRAY, lod_level=0)

    def run(self, xp: Any, X: Array, RankTable: Array) -> Array:
        rows = bare(X)
        entries = RankTable.offsets[-1]
        if len(rows) not in (RankTable.rows, entries):
            raise ShapeError(
                f"expected {RankTable.rows} rows, as the rank table says, got {len(rows)}"
            )
        cut_within = len(lod_of(X)) > len(RankTable.above) + 1
        if not RankTable.below or (len(rows) == entries and not cut_within):
            cut = xp.take(rows, RankTable.by_step, axis=0)
            ends = RankTable.step_ends
            return LoDTensorArray(cut[a:b] for a, b in pairwise(ends))
        return LoDTensorArray(
            LoDTensor(xp.take(rows, step, axis=0), lod) for step, lod in RankTable.inner_steps()
        )

    def grad(self, f: Any, X: Value, RankTable: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.array_to_lod_tensor(dOut, RankTable))


class array_to_lod_tensor(_HandsOn):
    """Out = the sequences whose steps are the elements of the array X: the adjoint of
    ``lod_tensor_to_array``.

    Where the table has levels below its own, elements have the rows of inner sequences, or one for
    each of them, as a pool gives them.

    RankTable: in which order the rows of each element stand.
    """

    signature = "X, RankTable! -> Out[]"

    def infer(self, X: Spec, RankTable: Spec) -> Spec:
        return X._replace(kind=Kind.LOD_TENSOR, lod_level=1)

    def run(self, xp: Any, X: Array, RankTable: Array) -> Array:
        if len(X) < RankTable.steps or all(each is None for each in X):
            raise ShapeError(
                f"expected an array of {RankTable.steps} steps, as the rank table says, got "
                f"{sum(each is not None for each in X)}"
            )
        like = bare(next(each for each in X if each is not None))
        order, below = RankTable.by_step, RankTable.below
        counts = np.diff(RankTable.step_ends).tolist()
        if below and not all(
            each is None or (len(bare(each)) == count and not lod_of(each))
            for each, count in zip(X, counts)
        ):
            steps = list(RankTable.inner_steps())
            order = np.concatenate([rows for rows, _ in steps])
            counts = [len(rows) for rows, _ in steps]
        else:
            below = ()
        parts = []
        for step, count in enumerate(counts):
            part = bare(X.item(step))
            if part is None:
                part = xp.zeros((count, *like.shape[1:]), like.dtype)
            if len(part) != count:
                raise ShapeError(
                    f"expected {count} rows at step {step}, as the rank table says, got {len(part)}"
                )
            parts.append(part)
        out = xp.empty((len(order), *like.shape[1:]), like.dtype)
        if parts:
            out[order] = xp.concatenate(parts)
        return LoDTensor(out, (*RankTable.above, RankTable.offsets, *below))

    def grad(self, f: Any, RankTable: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.lod_tensor_to_array(dOut, RankTable))


class shrink_rnn_memory(ValueShaped):
    """Out = the first rows of X, as many as there are sequences with a step at position I; of an X
    with sequences the first sequences.

    RankTable: the table of the sequences.
    I: the number of the step, one integer.
    """

    signature = "X[], RankTable!, I! -> Out[]"
    hands_on: ClassVar[bool] = True

    def infer(self, X: Spec, RankTable: Spec, I: Spec) -> Spec:
        need_integer(I=I)
        need_one(I=I)
        return X.with_dim(0, -1)

    def run(self, xp: Any, X: Array, RankTable: Array, I: Array) -> Array:
        count, lod = RankTable.count_at(int(I.reshape(()))), lod_of(X)
        if not lod:
            return X[:count]
        end, levels = count, []
        for level in lod:
            levels.append(level[: end + 1])
            end = level[end]
        return LoDTensor(X.data[:end], tuple(levels))

    def grad_numpy(self, xp: Any, X: Array, dOut: Array) -> Arrays:
        rows, active = len(bare(X)), len(dOut)
        if rows == active:
            return dict(X=dOut)
        out = xp.zeros((rows, *dOut.shape[1:]), dOut.dtype)
        out[:active] = dOut
        return dict(X=out)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def back():
            rows, kept = f.bare_rows(X).shape[0], dOut.shape[0]
            return dOut if rows == kept else f.add_rows(np.arange(kept), dOut, size=rows)

        return dict(X=back)


class Reordering(Op, abstract=True):
    """What has the rows of X, or the sequences of an X that has some, in another order.

    RankTable: a rank table.
    """

    signature = "X[], RankTable! -> Out[]"
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    lod: ClassVar[str | None] = None

    def order(self, table: Any) -> Any:
        """Which row or sequence comes first, second and so on."""
        raise NotImplementedError

    def infer(self, X: Spec, RankTable: Spec) -> Spec:
        return X

    def run(self, xp: Any, X: Array, RankTable: Array) -> Array:
        order = self.order(RankTable)
        count = len(lod_of(X)[0]) - 1 if lod_of(X) else len(bare(X))
        if count != len(order):
            raise LoDError(
                f"expected X with {len(order)} {'sequences' if lod_of(X) else 'rows'}, as many as "
                f"the rank table has, got {count}"
                + ("" if lod_of(X) else " rows and no LoD; feed a LoDTensor where they are words")
            )
        rows, levels = taken(lod_of(X), order)
        return with_lod(xp.take(bare(X), rows, axis=0), levels)


class reorder_lod_tensor_by_rank(Reordering):
    """Out = the rows of X, or the sequences of an X that has some, in the order of a rank table."""

    hands_on: ClassVar[bool] = True

    def order(self, table: Any) -> Array:
        return table.order

    def grad(self, f: Any, RankTable: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.reorder_lod_tensor_by_rank_grad(dOut, RankTable))


class UnorderedByRank(Reordering, type="reorder_lod_tensor_by_rank_grad"):
    """Out = the rows or sequences of X in the order that they had before a rank table: the adjoint
    of ``reorder_lod_tensor_by_rank``.
    """

    def order(self, table: Any) -> Array:
        return np.argsort(table.order)

    def grad(self, f: Any, RankTable: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.reorder_lod_tensor_by_rank(dOut, RankTable))
