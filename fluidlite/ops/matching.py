"""Which true box each found one is compared with, and what it is to be."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import need_choice, need_least
from ..opdef.definition import Detached, DetachedValues
from ..opdef.spec import Spec, agree, need_float, need_integer, need_ndim, need_shape, same_float


def parts_of(x: Any) -> tuple[Any, ...]:
    """An array, and where the rows of each of its sequences begin and end; one without any."""
    if isinstance(x, LoDTensor):
        return x.data, list(zip(x.offsets[-1][:-1], x.offsets[-1][1:])) or [(0, len(x.data))]
    return x, [(0, len(x))]


class bipartite_match(Detached):
    """ColToRowMatchIndices, ColToRowMatchDist = the row that each column is matched with.

    The largest number is taken first; then the largest of which neither the row nor the column is
    taken, and so on.

    DistMat: how alike rows and columns are; its rows may be sequences, one for each sample.
    ColToRowMatchIndices: [samples, columns], rows within their sample; -1 for none.
    ColToRowMatchDist: the numbers there; 0 for none.
    match_type: "bipartite"; "per_prediction" matches what is left to the row that is most alike.
    dist_threshold: how alike that has to be.
    """

    signature = "DistMat[] -> ColToRowMatchIndices, ColToRowMatchDist"
    match_type: str = "bipartite"
    dist_threshold: float = 0.5

    def infer(self, DistMat: Spec) -> Specs:
        need_float(DistMat=DistMat)
        need_ndim(2, DistMat=DistMat)
        need_choice(self, "match_type", "bipartite", "per_prediction")
        samples = -1 if DistMat.lod_level else 1
        out = DistMat.with_shape([samples, DistMat.shape[1]])._replace(lod_level=0)
        return out.with_dtype(DType.INT32), out

    def run(self, xp: Any, DistMat: Array) -> Arrays:
        alike, parts = parts_of(DistMat)
        found = [self.match(xp, alike[begin:end]) for begin, end in parts]
        rows, numbers = (xp.stack(each) for each in zip(*found))
        return rows.astype("int32"), numbers.astype(alike.dtype)

    def match(self, xp: Any, alike: Array) -> Arrays:
        """The rows that the columns of one sample are matched with, and the numbers there."""
        columns = alike.shape[1]
        row_of, number = [-1] * columns, [0.0] * columns
        taken = set()
        for place in xp.argsort(-alike, axis=None, kind="stable").tolist():
            row, column = divmod(place, columns)
            if alike[row, column] < 1e-6:
                break
            if row_of[column] == -1 and row not in taken:
                taken.add(row)
                row_of[column], number[column] = row, alike[row, column]
        if self.match_type == "per_prediction" and len(alike):
            best = xp.argmax(alike, axis=0).tolist()
            for column, row in enumerate(best):
                enough = alike[row, column] >= max(self.dist_threshold, 1e-6)
                if row_of[column] == -1 and enough:
                    row_of[column], number[column] = row, alike[row, column]
        return xp.asarray(row_of), xp.asarray(number)


class target_assign(Detached):
    """What each column is to be, ``X[MatchIndices[i, j]]`` where that is a row, and OutWeight,
    whether it is.

    X: [rows, 1 or columns, numbers]; its rows may be sequences, one for each sample.
    MatchIndices: [samples, columns], rows within their sample; -1 for none.
    NegIndices: further columns that count, with ``mismatch_value``; a sequence for each sample.
    mismatch_value: stands where there is no row.
    """

    signature = "X[], MatchIndices, NegIndices?[] -> Out, OutWeight"
    mismatch_value: int = 0

    def infer(self, X: Spec, MatchIndices: Spec, NegIndices: Spec) -> Specs:
        need_ndim(3, X=X)
        need_integer(MatchIndices=MatchIndices, NegIndices=NegIndices)
        need_ndim(2, MatchIndices=MatchIndices)
        if X.shape[1] != 1 and not agree(X.shape[1], MatchIndices.shape[1]):
            raise ShapeError(
                f"expected X of 1 or {MatchIndices.shape[1]} columns, as MatchIndices has, got "
                f"shape {list(X.shape)}"
            )
        out = X.with_shape([*MatchIndices.shape, X.shape[2]])._replace(lod_level=0)
        return out, out.with_dim(2, 1).with_dtype(DType.FP32)

    def run(self, xp: Any, X: Array, MatchIndices: Array, NegIndices: Array) -> Arrays:
        rows, parts = parts_of(X)
        samples, columns = MatchIndices.shape
        if len(parts) != samples:
            raise ShapeError(f"expected X of {samples} sequences, got {len(parts)}")
        out = xp.full((samples, columns, rows.shape[2]), self.mismatch_value, rows.dtype)
        weight = (MatchIndices >= 0).astype("float32")[..., None]
        for i, (begin, end) in enumerate(parts):
            matched = xp.reshape(xp.argwhere(MatchIndices[i] >= 0), -1)
            index = xp.in_range(MatchIndices[i][matched], end - begin, "MatchIndices") + begin
            out[i, matched] = rows[index, matched % rows.shape[1]]
        if NegIndices is not None:
            negative, parts = parts_of(NegIndices)
            for i, (begin, end) in enumerate(parts):
                index = xp.in_range(xp.reshape(negative[begin:end], -1), columns, "NegIndices")
                out[i, index] = self.mismatch_value
                weight[i, index] = 1
        return out, weight


class mine_hard_examples(DetachedValues):
    """NegIndices = the columns that are hardest to get right, of those matched with no row.

    (Liu et al., SSD: single shot multibox detector, ECCV 2016.)

    ClsLoss, LocLoss: the losses of classes and of boxes, [samples, columns].
    MatchIndices: rows, -1 for none: [samples, columns].
    MatchDist: how alike the row is, [samples, columns].
    NegIndices: columns, ascending, those of a sample being a sequence.
    UpdatedMatchIndices: MatchIndices without the matches that are not among the hardest.
    neg_pos_ratio: of max_negative: how many for each column that is matched.
    neg_dist_threshold: of max_negative: columns that are less alike than that count.
    sample_size: of hard_example: how many columns.
    mining_type: max_negative takes columns without a match by ClsLoss; hard_example takes them from
        all, by the sum of the losses.
    """

    signature = "ClsLoss, LocLoss?, MatchIndices, MatchDist -> NegIndices[], UpdatedMatchIndices"
    neg_pos_ratio: float = 1.0
    neg_dist_threshold: float = 0.5
    sample_size: int = 0
    mining_type: str = "max_negative"

    def infer(self, ClsLoss: Spec, LocLoss: Spec, MatchIndices: Spec, MatchDist: Spec) -> Specs:
        same_float(ClsLoss=ClsLoss, LocLoss=LocLoss, MatchDist=MatchDist)
        need_integer(MatchIndices=MatchIndices)
        need_ndim(2, ClsLoss=ClsLoss)
        given = dict(LocLoss=LocLoss, MatchIndices=MatchIndices, MatchDist=MatchDist)
        for name, s in given.items():
            need_shape(name, s, ClsLoss.shape, "as ClsLoss")
        if self.mining_type == "max_negative":
            if self.neg_pos_ratio <= 0 or not 0 < self.neg_dist_threshold < 1:
                raise AttributeValueError(
                    f"expected a positive neg_pos_ratio and neg_dist_threshold between 0 and 1, "
                    f"got {self.neg_pos_ratio:g} and {self.neg_dist_threshold:g}"
                )
        elif self.mining_type == "hard_example":
            need_least(self, 1, "sample_size")
        else:
            raise AttributeValueError(
                f"expected mining_type max_negative or hard_example, got {self.mining_type!r}"
            )
        negative = MatchIndices.with_shape([-1, 1]).with_dtype(DType.INT32)
        return negative._replace(lod_level=0), MatchIndices

    def run(
        self, xp: Any, ClsLoss: Array, LocLoss: Array, MatchIndices: Array, MatchDist: Array
    ) -> Arrays:
        losses = ClsLoss
        if self.mining_type == "hard_example" and LocLoss is not None:
            losses = losses + LocLoss
        updated, negative, offsets = MatchIndices.copy(), [], [0]
        for i, match in enumerate(MatchIndices):
            hard = self.hardest(xp, losses[i], match, MatchDist[i])
            if self.mining_type == "hard_example":
                updated[i][~hard] = -1
            negative.append(xp.flatnonzero(hard & (match == -1)))
            offsets.append(offsets[-1] + len(negative[-1]))
        columns = xp.concatenate(negative).astype("int32")[:, None]
        return LoDTensor(columns, (tuple(offsets),)), updated

    def hardest(self, xp: Any, losses: Array, match: Array, alike: Array) -> Array:
        """Which columns of a sample have the largest losses of those that may be chosen."""
        may = xp.ones(len(match), bool)
        count = self.sample_size
        if self.mining_type == "max_negative":
            may = (match == -1) & (alike < losses.dtype.type(self.neg_dist_threshold))
            # in single precision, as fluid counts
            ratio = xp.float32(self.neg_pos_ratio)
            count = int(xp.float32(xp.sum(match != -1)) * ratio)
        places = xp.flatnonzero(may)
        hard = xp.zeros(len(match), bool)
        hard[places[xp.argsort(-losses[places], kind="stable")[:count]]] = True
        return hard
