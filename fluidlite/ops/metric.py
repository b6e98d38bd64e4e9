"""Operators that rank and score predictions."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError, OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr, need_choice, need_least
from ..opdef.definition import Detached, Op
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    need_count,
    need_float,
    need_integer,
    need_ndim,
    need_numbers,
    need_one,
    need_rank,
    need_shape,
    normal_axis,
    same_float,
    size_of,
    spec,
)
from .search import ordered


class top_k_v2(Op):
    """The k largest elements of X along a dimension, or the smallest, the first of them first, and
    their places.

    X: a variable of numbers; a number is a vector of one.
    K: the same as a tensor of one element; wins over ``k``.
    Indices: where they are; of equal elements the first ones come first.
    k: how many.
    axis: the dimension; may count from the end.
    largest: False for the smallest.
    sorted: not read: they always are in order.
    """

    signature = "X, K?! -> Out, Indices!"
    k: int = 1
    axis: int = -1
    largest: bool = True
    sorted: bool = attr(True, inert=True)

    def infer(self, X: Spec, K: Spec | None) -> Specs:
        need_numbers("X", X)
        axis = normal_axis(self.axis, max(X.ndim, 1))
        if K is not None:
            need_integer(K=K)
            need_one(K=K)
        count = self.checked(-1 if K is not None else self.k, X.shape[axis] if X.ndim else 1)
        out = X.with_dim(axis, count) if X.ndim else X
        return out, out.with_dtype(DType.INT64)

    def checked(self, k: int, size: int) -> int:
        """How many, where there are so many.

        Raises:
            AttributeValueError: there are not.
        """
        if k != -1 and not (k > 0 and (size == -1 or k <= size)):
            known = "the number of elements" if size == -1 else str(size)
            raise AttributeValueError(f"expected k from 1 to {known}, got {k}")
        return k

    def run(self, xp: Any, X: Array, K: Array | None) -> Arrays:
        k = self.k if K is None else K.item()
        if not X.ndim:
            self.checked(k, 1)
            return X, xp.zeros((), "int64")
        self.checked(k, X.shape[self.axis])
        if self.largest and not (X.dtype.kind == "f" and xp.isnan(X).any()):
            order = xp.moveaxis(largest(xp, xp.moveaxis(X, self.axis, -1), k), -1, self.axis)
        else:
            order = ordered(xp, X, self.axis, self.largest)
            order = xp.take(order, xp.arange(k), axis=self.axis)
        return xp.take_along_axis(X, order, self.axis), order

    def run_numpy(self, xp: Any, X: Array, K: Array | None) -> Arrays:
        is_plain = self.largest and X.ndim and self.axis in (-1, X.ndim - 1)
        found = xp.largest_of(X, self.k if K is None else K.item()) if is_plain else None
        return self.run(xp, X, K) if found is None else found

    def grad(self, f: Any, X: Value, Indices: Value, dOut: Value) -> Rules:
        if not X.shape:
            return dict(X=lambda: f.assign(dOut))
        size = X.shape[self.axis]
        return dict(X=lambda: f.add_along(Indices, dOut, axis=self.axis, size=size))


class top_k(Op):
    """The k largest elements of X along its last dimension, the largest first, and their places.

    X: a variable of numbers.
    K: the same as a tensor of one element; wins over ``k``.
    Indices: where they are; of equal elements the first ones come first.
    k: how many; a number or a variable of one element.
    """

    signature = "X, K?! -> Out, Indices!"
    k: int = 1

    def infer(self, X: Spec, K: Spec) -> Specs:
        need_numbers("X", X)
        need_rank("X", X, 1)
        if K is not None:
            need_integer(K=K)
            need_one(K=K)
            out = X.with_dim(-1, -1)
        else:
            self.check(self.k)
            out = X.with_dim(-1, self.k)
        return out, out.with_dtype(DType.INT64)

    def check(self, k: int, size: int = -1) -> None:
        """Refuse a ``k`` that is no number of elements; the size is known when the program runs,
        for what is declared need not be what is fed.
        """
        if k < 1 or -1 < size < k:
            known = "the last size of X" if size == -1 else f"the last size of X, {size}"
            raise AttributeValueError(f"expected k from 1 to {known}, got {k}")

    def run(self, xp: Any, X: Array, K: Array) -> Arrays:
        k = self.k if K is None else K.item()
        self.check(k, X.shape[-1])
        order = largest(xp, X, k)
        return xp.take_along_axis(X, order, -1), order

    def run_numpy(self, xp: Any, X: Array, K: Array) -> Arrays:
        found = xp.largest_of(X, self.k if K is None else K.item())
        return self.run(xp, X, K) if found is None else found

    def grad(self, f: Any, X: Value, Indices: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.add_along(Indices, dOut, axis=-1, size=X.shape[-1]))


_FEW = 8  #: so many maxima are found faster one after the other


def _by_maxima(xp, X, k):
    """The same, one maximum after the other; None where one is no finite number."""
    rows = xp.array(X.reshape(-1, X.shape[-1]))
    numbers, order = xp.arange(len(rows)), xp.empty((len(rows), k), xp.int64)
    for j in range(k):
        at = order[:, j] = rows.argmax(axis=1)
        if not xp.isfinite(rows[numbers, at]).all():
            return None
        rows[numbers, at] = -xp.inf
    return order.reshape(*X.shape[:-1], k)


def largest(xp: Any, X: Array, k: int) -> Array:
    """Where the k largest elements along the last dimension are, the largest first; of equal ones
    the first one first.  Nothing is sorted but these, where they are few.
    """
    if 8 * k > X.shape[-1] or not X.size:
        return xp.argsort(-X, axis=-1, kind="stable")[..., :k]
    found = _by_maxima(xp, X, k) if k <= _FEW and X.dtype.kind == "f" else None
    if found is not None:
        return found
    rows = -X.reshape(-1, X.shape[-1])
    order = xp.sort(xp.argpartition(rows, k - 1, axis=1)[:, :k], axis=1)
    chosen = xp.take_along_axis(rows, order, 1)
    order = xp.take_along_axis(order, xp.argsort(chosen, axis=1, kind="stable"), 1)
    last = chosen.max(axis=1, keepdims=True)
    doubtful = (rows <= last).sum(
        axis=1
    ) != k  # others are as large as the last, or it is no number
    if doubtful.any():
        order[doubtful] = xp.argsort(rows[doubtful], axis=1, kind="stable")[:, :k]
    return order.reshape(*X.shape[:-1], k)


class accuracy(Detached):
    """Accuracy = Correct / Total.

    Out, Indices: what ``top_k`` gave for the predictions, of shape [n, k].
    Label: the right classes, of shape [n, 1].
    Correct: in how many rows Label is among the Indices.
    Total: the number of rows.
    """

    signature = "Out!, Indices!, Label! -> Accuracy, Correct, Total"

    def infer(self, Out: Spec, Indices: Spec, Label: Spec) -> Specs:
        need_integer(Indices=Indices, Label=Label)
        need_ndim(2, Indices=Indices, Label=Label)
        need_shape("Label", Label, (Indices.shape[0], 1))
        return spec([1], DType.FP32), spec([1], DType.INT32), spec([1], DType.INT32)

    def run(self, xp: Any, Out: Array, Indices: Array, Label: Array) -> Arrays:
        total = Indices.shape[0]
        correct = xp.reshape(xp.sum(xp.any(Indices == Label, axis=1)), (1,))
        return (
            (correct / max(total, 1)).astype(xp.float32),
            correct.astype(xp.int32),
            xp.full((1,), total, xp.int32),
        )


class auc(Detached):
    """AUC = how probable it is that a positive example scores higher than a negative one.

    The area under the curve of true over false positive rates, from counts by thresholds.

    Predict: probabilities, of shape [n, 1], or [n, 2] with those of the positive class last.
    Label: 1 for positive examples, 0 for others, of shape [n, 1].
    StatPos, StatNeg: the counts so far of positive and negative examples; what is missing at the
        end is 0.
    StatPosOut, StatNegOut: the counts with those of this batch.  With ``slide_steps`` they are the
        counts of that many last batches, their sum, and how many batches there were.
    curve: ROC; PR gives the same number.
    num_thresholds: how many intervals scores fall into.
    slide_steps: how many of the last batches count; 0 for all.
    """

    signature = "Predict!, Label!, StatPos!, StatNeg! -> AUC, StatPosOut, StatNegOut"
    curve: str = "ROC"
    num_thresholds: int = 8191
    slide_steps: int = 1

    def infer(self, Predict: Spec, Label: Spec, StatPos: Spec, StatNeg: Spec) -> Specs:
        need_float(Predict=Predict)
        need_integer(Label=Label, StatPos=StatPos, StatNeg=StatNeg)
        need_least(self, 1, "num_thresholds")
        need_least(self, 0, "slide_steps")
        need_choice(self, "curve", "ROC", "PR")
        need_ndim(2, Predict=Predict)
        if not (agree(Predict.shape[1], 1) or agree(Predict.shape[1], 2)):
            raise ShapeError(
                f"expected Predict of shape [n, 1] or [n, 2], got {list(Predict.shape)}"
            )
        need_count("Label", Label, Predict.shape[0], "one for each row of Predict", Predict)
        for name, s in (("StatPos", StatPos), ("StatNeg", StatNeg)):
            count = (self.slide_steps + 1) * self.buckets + 1
            if size_of(s.shape) > count:
                raise ShapeError(f"expected {name} of {count} counts, got shape {list(s.shape)}")
        counts = spec(self.shape, DType.INT64)
        return spec([1], DType.FP64), counts, counts

    @property
    def buckets(self) -> int:
        """How many intervals of scores are counted."""
        return self.num_thresholds + 1

    @property
    def shape(self) -> Shape:
        """The shape of the counts."""
        if self.slide_steps:
            return ((self.slide_steps + 1) * self.buckets + 1,)
        return 1, self.buckets

    def run(self, xp: Any, Predict: Array, Label: Array, StatPos: Array, StatNeg: Array) -> Arrays:
        score, label = Predict[:, -1], xp.reshape(Label, -1)
        if not xp.all((score >= 0) & (score <= 1)):
            raise OutOfRangeError("expected Predict to hold probabilities, in [0, 1]")
        bucket = (score * self.num_thresholds).astype("int64")
        stats, sums = [], []
        for before, mine in ((StatPos, label != 0), (StatNeg, label == 0)):
            now = xp.bincount(bucket[mine], minlength=self.buckets)
            found, total = self.counted(xp, xp.reshape(before, -1), now)
            stats.append(found)
            sums.append(xp.flip(total).astype("float64"))
        return xp.reshape(area(xp, *sums), (1,)), *stats

    def counted(self, xp: Any, before: Array, now: Array) -> Arrays:
        """All counts after a batch, and those that count."""
        count = size_of(self.shape)
        before = before.astype("int64")[:count]
        before = xp.concatenate([before, xp.zeros(count - len(before), "int64")])
        if not self.slide_steps:
            return xp.reshape(before + now, self.shape), before + now
        steps, batches = self.slide_steps, before[-1]
        lately = xp.reshape(before[: steps * self.buckets], (steps, self.buckets))
        oldest = xp.arange(steps)[:, None] == batches % steps
        lately = xp.where(oldest, now, lately)
        total = xp.sum(lately, axis=0)
        parts = [xp.reshape(lately, -1), total, xp.reshape(batches + 1, (1,))]
        return xp.concatenate(parts), total


def area(xp: Any, positive: Array, negative: Array) -> Array:
    """The share of pairs of a positive and a negative example that are in order; ties are half.

    Args:
        positive, negative: how many there are of each score, the highest first.
    """
    pairs = xp.sum(positive) * xp.sum(negative)
    higher = xp.cumsum(positive) - positive / 2
    return xp.sum(higher * negative) / xp.where(pairs == 0, 1, pairs)


class mean_iou(Detached):
    """OutMeanIou = the mean over all classes that occur of what two segmentations share of a class.

    Predictions, Labels: the class of each pixel, in the same shape.
    InWrongs, InCorrects: counts to add to OutWrong and OutCorrect before anything is divided.
    InMeanIou: numbers to add to OutMeanIou.
    OutWrong: for each class, how many pixels have it in one of the two only.
    OutCorrect: for each class, how many pixels have it in both.
    num_classes: how many classes there are.
    """

    signature = (
        "Predictions!, Labels!, InWrongs?*!, InCorrects?*!, InMeanIou?*! -> "
        "OutMeanIou, OutWrong, OutCorrect"
    )
    num_classes: int = REQUIRED

    def infer(self, Predictions, Labels, InWrongs, InCorrects, InMeanIou):
        need_integer(Predictions=Predictions, Labels=Labels)
        need_least(self, 1, "num_classes")
        if not agree(size_of(Predictions.shape), size_of(Labels.shape)):
            raise ShapeError(
                f"expected Predictions and Labels of the same shape, got "
                f"{list(Predictions.shape)} and {list(Labels.shape)}"
            )
        for name, specs, count in (
            ("InWrongs", InWrongs, self.num_classes),
            ("InCorrects", InCorrects, self.num_classes),
            ("InMeanIou", InMeanIou, 1),
        ):
            for s in specs or ():
                if not agree(size_of(s.shape), count):
                    raise ShapeError(
                        f"expected {name} of {count} numbers each, got shape {list(s.shape)}"
                    )
        counts = spec([self.num_classes], DType.INT32)
        return spec([1], DType.FP32), counts, counts

    def run(self, xp, Predictions, Labels, InWrongs, InCorrects, InMeanIou):
        count = self.num_classes
        predictions, right = (
            xp.in_range(xp.reshape(v, -1), count, name)
            for v, name in ((Predictions, "Predictions"), (Labels, "Labels"))
        )
        counts = lambda v: xp.bincount(v, minlength=count)
        correct = counts(predictions[predictions == right])
        wrong = counts(predictions) + counts(right) - 2 * correct
        wrong = sum((xp.reshape(v, -1) for v in InWrongs or ()), wrong)
        correct = sum((xp.reshape(v, -1) for v in InCorrects or ()), correct)
        occurs = wrong + correct > 0
        shares = correct / xp.where(occurs, wrong + correct, 1)
        mean = xp.reshape(xp.sum(shares) / max(int(xp.sum(occurs)), 1), (1,))
        mean = sum((xp.reshape(v, (1,)) for v in InMeanIou or ()), mean)
        return mean.astype("float32"), wrong.astype("int32"), correct.astype("int32")


class positive_negative_pair(Detached):
    """PositivePair, NegativePair, NeutralPair = how often scores order two examples as labels do.

    Only pairs count that have different labels and belong to the same query.  Ties of scores count
    as negative and as neutral.

    Score: of shape [n, width].
    Label: what the order should be by, of shape [n, 1].
    QueryID: what each example belongs to, of shape [n, 1].
    AccumulatePositivePair, AccumulateNegativePair, AccumulateNeutralPair: numbers to add.
    Weight: of each example, of shape [n, 1]; a pair has the mean of both.
    column: the column of Score to use; may count from the end.
    """

    signature = (
        "Score!, Label!, QueryID!, AccumulatePositivePair?!, AccumulateNegativePair?!, "
        "AccumulateNeutralPair?!, Weight?! -> PositivePair, NegativePair, NeutralPair?"
    )
    column: int = 0

    def infer(self, Score, Label, QueryID, *others):
        *numbers, Weight = others
        need_one(**dict(zip([*self.input_slots][3:], numbers)))
        same_float(Score=Score, Label=Label, Weight=Weight)
        need_integer(QueryID=QueryID)
        need_ndim(2, Score=Score)
        for name, s in dict(Label=Label, QueryID=QueryID, Weight=Weight).items():
            need_count(name, s, Score.shape[0])
        width = Score.shape[1]
        if width != -1 and not -width <= self.column < width:
            raise AttributeValueError(f"expected column in [{-width}, {width}), got {self.column}")
        return (spec([1], Score.dtype),) * 3

    def run(self, xp, Score, Label, QueryID, *others):
        *before, Weight = others
        score, label, query = Score[:, self.column], xp.reshape(Label, -1), xp.reshape(QueryID, -1)
        weight = xp.ones_like(score) if Weight is None else xp.reshape(Weight, -1)
        minus = lambda v: v[:, None] - v[None, :]
        same = (query[:, None] == query) & (minus(label) != 0)
        mass = xp.triu(xp.where(same, (weight[:, None] + weight) / 2, 0), 1)
        ordered = minus(score) * minus(label) > 0
        kinds = (ordered, ~ordered, minus(score) == 0)
        return tuple(
            xp.reshape(xp.sum(xp.where(kind, mass, 0)), (1,)).astype(Score.dtype)
            + (0 if start is None else xp.reshape(start, (1,)))
            for kind, start in zip(kinds, before, strict=True)
        )
