"""Which true box each found one is compared with, and what it is to be."""

from __future__ import annotations

from ..dtypes import DType
from ..errors import AttributeValueError, ShapeError
from ..opdef.definition import Op
from ..opdef.spec import agree, need_float, need_integer, need_ndim
from ..values import LoDTensor


def parts_of(x):
    """An array, and where the rows of each of its sequences begin and end; one without any."""
    if isinstance(x, LoDTensor):
        return x.data, list(zip(x.offsets[-1][:-1], x.offsets[-1][1:])) or [(0, len(x.data))]
    return x, [(0, len(x))]


class bipartite_match(Op):
    """ColToRowMatchIndices, ColToRowMatchDist = the row that each column is matched with.

    The largest number is taken first; then the largest of which neither the row nor the column is
    taken, and so on.

    DistMat: how alike rows and columns are; its rows may be sequences, one for each sample.
    ColToRowMatchIndices: [samples, columns], rows within their sample; -1 for none.
    ColToRowMatchDist: the numbers there; 0 for none.
    match_type: bipartite; per_prediction matches what is left to the row that is most alike.
    dist_threshold: how alike that has to be.
    """

    signature = "DistMat[] -> ColToRowMatchIndices, ColToRowMatchDist"
    match_type: str = "bipartite"
    dist_threshold: float = 0.5
    lod = None
    grad = None

    def infer(self, DistMat):
        need_float(DistMat=DistMat)
        need_ndim("DistMat", DistMat, 2)
        if self.match_type not in ("bipartite", "per_prediction"):
            raise AttributeValueError(
                f"expected match_type bipartite or per_prediction, got {self.match_type!r}"
            )
        samples = -1 if DistMat.lod_level else 1
        out = DistMat.with_shape([samples, DistMat.shape[1]])._replace(lod_level=0)
        return out.with_dtype(DType.INT32), out

    def run(self, xp, DistMat):
        alike, parts = parts_of(DistMat)
        found = [self.match(xp, alike[begin:end]) for begin, end in parts]
        rows, numbers = (xp.stack(each) for each in zip(*found))
        return rows.astype("int32"), numbers.astype(alike.dtype)

    def match(self, xp, alike):
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


class target_assign(Op):
    """Out[i, j] = X[MatchIndices[i, j]] where that is a row, OutWeight = whether it is.

    X: [rows, 1 or columns, numbers]; its rows may be sequences, one for each sample.
    MatchIndices: [samples, columns], rows within their sample; -1 for none.
    NegIndices: further columns that count, with ``mismatch_value``; a sequence for each sample.
    mismatch_value: stands where there is no row.
    """

    signature = "X[], MatchIndices, NegIndices?[] -> Out, OutWeight"
    mismatch_value: int = 0
    lod = None
    grad = None

    def infer(self, X, MatchIndices, NegIndices):
        need_ndim("X", X, 3)
        need_integer(MatchIndices=MatchIndices, NegIndices=NegIndices)
        need_ndim("MatchIndices", MatchIndices, 2)
        if X.shape[1] != 1 and not agree(X.shape[1], MatchIndices.shape[1]):
            raise ShapeError(
                f"expected X of 1 or {MatchIndices.shape[1]} columns, as MatchIndices has, got "
                f"shape {list(X.shape)}"
            )
        out = X.with_shape([*MatchIndices.shape, X.shape[2]])._replace(lod_level=0)
        return out, out.with_dim(2, 1).with_dtype(DType.FP32)

    def run(self, xp, X, MatchIndices, NegIndices):
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
