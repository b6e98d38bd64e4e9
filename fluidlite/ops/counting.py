"""How often values occur, where they lie in order, and runs of equal ones."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError, OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED, Long, need_least
from ..opdef.definition import Detached, DetachedValues
from ..opdef.spec import (
    Spec,
    agree,
    need_integer,
    need_ndim,
    need_numbers,
    need_shape,
    normal_axis,
    spec,
)


class bincount(DetachedValues):
    """Out[i] = how many elements of X are i, or the sum of their Weights.

    X: whole numbers from 0, [n].
    Weights: what each of them counts; 1 where absent.
    Out: int64, or of the type of X where that is empty, or of the type of Weights; as long as the
        largest number says.
    minlength: how long Out is at least.
    """

    signature = "X, Weights?! -> Out"
    minlength: int = 0

    def infer(self, X: Spec, Weights: Spec | None) -> Specs:
        need_integer(X=X)
        need_ndim(1, X=X)
        need_least(self, 0, "minlength")
        if Weights is None:
            return spec([-1], X.dtype if X.shape[0] == 0 else DType.INT64)
        need_shape("Weights", Weights, X.shape, "as X")
        return spec([-1], Weights.dtype if Weights.dtype is DType.FP32 else DType.FP64)

    def run(self, xp: Any, X: Array, Weights: Array | None) -> Array:
        if X.size and X.min() < 0:
            raise OutOfRangeError(f"expected X from 0, got {X.min()}")
        counts = xp.bincount(X, Weights, self.minlength)
        if Weights is None:
            return counts.astype("int64" if X.size else X.dtype)
        return counts.astype(Weights.dtype if Weights.dtype == "float32" else "float64")


class histogram(Detached):
    """Out[i] = how many elements of X lie in the i-th of ``bins`` intervals of one length.

    bins: how many intervals there are.
    min, max: where they begin and end; the least and the largest element where both are equal.
    """

    signature = "X -> Out"
    bins: Long = 100
    min: int = 0
    max: int = 0

    def infer(self, X: Spec) -> Specs:
        need_numbers("X", X)
        need_least(self, 1, "bins")
        if self.max < self.min:
            raise AttributeValueError(f"expected min up to max, got {self.min} and {self.max}")
        return spec([self.bins], DType.INT64)

    def run(self, xp: Any, X: Array) -> Array:
        x = xp.reshape(X, -1)
        low, high = xp.asarray(self.min, X.dtype), xp.asarray(self.max, X.dtype)
        if self.min == self.max and x.size:
            low, high = xp.min(x), xp.max(x)
        if x.dtype.kind != "f":
            x, low, high = (xp.asarray(each, "float64") for each in (x, low, high))
        alike = xp.asarray(low == high, x.dtype)  # an interval around what all elements are
        low, high = low - alike, high + alike
        place = xp.floor((x - low) * self.bins / (high - low))
        place = xp.asarray(xp.minimum(place, self.bins - 1), "int64")
        inside = xp.asarray((x >= low) & (x <= high), "int64")
        place = xp.where(inside != 0, place, 0)
        return xp.scatter_add(xp.zeros(self.bins, "int64"), place, inside)


class searchsorted(Detached):
    """Out = how many elements of a sorted row lie before each of Values.

    SortedSequence: in ascending order along its last dimension.
    Values: of the same shape but there; or of any shape if there is one row.
    out_int32: Out is int32, not int64.
    right: equal elements lie before, too.
    """

    signature = "SortedSequence, Values -> Out"
    out_int32: bool = False
    right: bool = False

    def infer(self, SortedSequence: Spec, Values: Spec) -> Specs:
        need_numbers("SortedSequence", SortedSequence)
        need_numbers("Values", Values)
        rows, others = SortedSequence.shape[:-1], Values.shape[:-1]
        if SortedSequence.ndim != 1 and (
            SortedSequence.ndim != Values.ndim or not all(map(agree, rows, others))
        ):
            raise ShapeError(
                f"expected Values of shape {[*rows, -1]}, or one row in SortedSequence; got shapes "
                f"{list(Values.shape)} and {list(SortedSequence.shape)}"
            )
        return Values.with_dtype(DType.INT32 if self.out_int32 else DType.INT64)

    def run(self, xp: Any, SortedSequence: Array, Values: Array) -> Array:
        side, width = "right" if self.right else "left", SortedSequence.shape[-1]
        if SortedSequence.ndim == 1:
            places = xp.searchsorted(SortedSequence, Values, side=side)
        else:
            rows = xp.reshape(SortedSequence, (-1, width)) if SortedSequence.size else []
            pairs = zip(rows, xp.reshape(Values, (-1, Values.shape[-1])) if Values.size else [])
            lines = [xp.searchsorted(row, each, side=side) for row, each in pairs]
            places = xp.reshape(xp.stack(lines) if lines else xp.zeros(0), Values.shape)
        return xp.asarray(places, "int32" if self.out_int32 else "int64")


class unique_consecutive(DetachedValues):
    """Out = the elements, or slices, of X that differ from the one before them.

    Index: of each of X, which of Out it is.
    Counts: how many of X each of Out stands for.
    return_inverse, return_counts: whether somebody reads Index and Counts.
    axis: the dimension of the slices; none for elements.
    dtype: the element type of Index and Counts.
    """

    signature = "X -> Out, Index?, Counts?"
    return_inverse: bool = False
    return_counts: bool = False
    axis: list[int] = ()
    dtype: DType = DType.FP32  # 2.6 says so and takes it for int64

    def infer(self, X: Spec) -> Specs:
        out = X.with_shape([-1])
        if self.axis:
            out = X.with_dim(normal_axis(self.axis[0], X.ndim), -1)
        places = spec([-1], self.places_type)
        return out, places, places

    @property
    def places_type(self) -> DType:
        """The element type of Index and Counts."""
        return DType.INT32 if self.dtype is DType.INT32 else DType.INT64

    def run(self, xp: Any, X: Array) -> Arrays:
        axis = self.axis[0] if self.axis else 0
        rows = xp.moveaxis(X, axis, 0) if self.axis else xp.reshape(X, -1)
        differs = (rows[1:] != rows[:-1]).any(axis=tuple(range(1, rows.ndim)))
        new = xp.concatenate([xp.ones(min(len(rows), 1), bool), differs])
        starts, kind = xp.flatnonzero(new), self.places_type.dtype
        ends = xp.concatenate([starts[1:], xp.asarray([len(rows)] * min(len(rows), 1), int)])
        return (
            xp.moveaxis(rows[starts], 0, axis),
            (xp.cumsum(new) - 1).astype(kind),
            (ends - starts).astype(kind),
        )


class number_count(Detached):
    """Out[i] = how many elements of numbers are i; others count nowhere.

    upper_range: how long Out is.
    """

    signature = "numbers -> Out"
    upper_range: int = REQUIRED

    def infer(self, numbers: Spec) -> Specs:
        need_integer(numbers=numbers)
        need_least(self, 0, "upper_range")
        return spec([self.upper_range], numbers.dtype)

    def run(self, xp: Any, numbers: Array) -> Array:
        hits = xp.reshape(numbers, (-1, 1)) == xp.arange(self.upper_range)
        return xp.sum(hits, axis=0, dtype=numbers.dtype)


class class_center_sample(Detached):
    """SampledLocalClassCenter = the classes that Label names, in order, and others drawn by chance
    up to ``num_samples``; RemappedLabel = which of them each of Label is.

    (An, Zhu, Gao et al., Partial FC: training 10 million identities on a single machine, ICCV
    workshops 2021.)

    Label: classes, [n].
    num_classes: how many classes there are.
    num_samples: how many are taken at least; more where Label names more.
    fix_seed: draw by ``seed`` in every run.
    seed: fixes the numbers where ``fix_seed`` says so.
    ring_id, rank, nranks: of several processes; 0, 0 and 1.
    """

    signature = "Label -> RemappedLabel, SampledLocalClassCenter"
    random = True
    host = True
    num_classes: int = REQUIRED
    num_samples: int = REQUIRED
    ring_id: int = 0
    rank: int = 0
    nranks: int = 1
    fix_seed: bool = False
    seed: int = 0

    def infer(self, Label: Spec) -> Specs:
        need_integer(Label=Label)
        need_ndim(1, Label=Label)
        if self.nranks != 1:
            raise AttributeValueError(f"expected nranks of 1, got {self.nranks}")
        if not 1 <= self.num_samples <= self.num_classes:
            raise AttributeValueError(
                f"expected num_samples from 1 to num_classes, got {self.num_samples} and "
                f"{self.num_classes}"
            )
        return Label, Label.with_shape([-1])

    def run(self, xp: Any, rng: Any, Label: Array) -> Arrays:
        label = xp.in_range(Label, self.num_classes, "Label")
        named = xp.unique(label)
        others = xp.setdiff1d(xp.arange(self.num_classes), named)
        order = rng(self.seed if self.fix_seed else 0).permutation(len(others))
        drawn = others[order[: max(self.num_samples - len(named), 0)]]
        centers = xp.concatenate([named, drawn]).astype(Label.dtype)
        return xp.searchsorted(named, label).astype(Label.dtype), centers
