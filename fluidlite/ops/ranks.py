"""What has a rank among the elements along a dimension: the k-th, the one in the middle, the one
that occurs most often, the largest so far.
"""

from __future__ import annotations

import math
from typing import Any

from ..errors import DTypeError, ShapeError
from ..ground.dtypes import DType, as_dtype
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value, Values
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_numbers, normal_axis, reduced, spec


class Ranked(Op, abstract=True):
    """Elements along a dimension, and their places.

    Indices: where they stand.
    axis: the dimension; may count from the end.
    keepdim: it stays, with size 1.
    """

    signature = "X -> Out, Indices!"
    axis: int = -1
    keepdim: bool = False

    def along(self, X: Any) -> int:
        """The dimension, counted from the front."""
        return normal_axis(self.axis, max(len(X.shape), 1))

    def infer(self, X: Spec) -> Specs:
        need_numbers("X", X)
        axis = self.along(X)
        self.check(X.shape[axis] if X.ndim else 1)
        out = X.with_shape(reduced(X.shape, [axis], self.keepdim)) if X.ndim else X
        return out, out.with_dtype(DType.INT64)

    def check(self, size: int) -> None:
        """Refuse a dimension that has no such element."""
        if size == 0:
            raise ShapeError(f"expected an element to take along axis={self.axis}, got 0")

    def places(self, f: Any, X: Value, axis: int) -> Value:
        """The places, with size 1 along the dimension."""
        raise NotImplementedError

    def expand(self, f: Any, X: Value) -> Values:
        axis, shape = self.along(X), X.shape
        x = X if shape else f.reshape(X, shape=[1])
        places = self.places(f, x, axis)
        values = f.take_along(x, places, axis=axis)
        if not shape or not self.keepdim:
            wanted = reduced(x.shape, [axis], False)
            values, places = (f.reshape(v, shape=wanted) for v in (values, places))
        return values, places


class kthvalue(Ranked):
    """Out = the ``k``-th smallest element of X along ``axis``, Indices = where it stands.

    k: from 1.
    """

    k: int = 1

    def check(self, size: int) -> None:
        if self.k < 1 or (size != -1 and self.k > size):
            raise ShapeError(f"expected k from 1 to the size {size}, got {self.k}")

    def places(self, f: Any, X: Value, axis: int) -> Value:
        order = f.argsort(X, axis=axis)[1]
        return f.slice(order, axes=[axis], starts=[self.k - 1], ends=[self.k])


class mode(Ranked):
    """Out = the element of X that occurs most often along ``axis``, the smallest of several;
    Indices = where it stands last.
    """

    def places(self, f: Any, X: Value, axis: int) -> Value:
        return f.unsqueeze(f.mode_place(X, axis=axis), axes=[axis])


class nanmedian(Op):
    """Out = the element in the middle of the order of those that are numbers, or the mean of the
    two that are.

    MedianIndex: where these two stand among those that are reduced, [..., 2]; -1 where there is no
        number.
    axis: the dimensions that are reduced; none for all.
    keepdim: they stay, with size 1.
    """

    signature = "X -> Out, MedianIndex!~"
    axis: list[int] = ()
    keepdim: bool = True

    def axes(self, ndim: int) -> list[int]:
        """The dimensions that are reduced, counted from the front."""
        given = self.axis or range(ndim)
        return sorted({normal_axis(a, max(ndim, 1)) for a in given}) if ndim else []

    def infer(self, X: Spec) -> Specs:
        if not X.dtype.is_float and X.dtype not in (DType.INT32, DType.INT64):
            raise DTypeError(f"expected X to hold numbers, got {X.dtype}")
        out = X.with_shape(reduced(X.shape, self.axes(X.ndim), self.keepdim))
        return out, spec([*out.shape, 2], DType.INT64)

    def expand(self, f: Any, X: Value) -> Values:
        axes, shape = self.axes(len(X.shape)), X.shape
        rest = [k for k in range(len(shape)) if k not in axes]
        lead = [shape[k] for k in rest]
        rows = f.transpose(X, axis=[*rest, *axes]) if shape else X
        rows = f.reshape(rows, shape=[*lead, math.prod(shape[k] for k in axes)])
        places = f.middle_places(rows)
        found = f.take_along(rows, f.elementwise_max(places, f.fill_zeros_like(places)), axis=-1)
        dtype = as_dtype(X.dtype)
        out = f.cast(found, in_dtype=dtype, out_dtype=dtype if dtype.is_float else DType.FP64)
        out = f.scale(f.reduce_sum(out, dim=[-1], zero_d=True), scale=0.5)
        out = f.cast(out, in_dtype=out.dtype, out_dtype=dtype)
        final = reduced(shape, axes, self.keepdim)
        return f.reshape(out, shape=final), f.reshape(places, shape=[*final, 2])


class middle_places(Op):
    """Out = the two places in the middle of the order of the numbers of each row of X, which are
    one where their number is odd; those of a NaN if there is none.

    X: [..., n].
    """

    signature = "X -> Out"
    grad = None

    def infer(self, X: Spec) -> Specs:
        return spec([*X.shape[:-1], 2], DType.INT64)

    def run(self, xp: Any, X: Array) -> Array:
        count = xp.sum(X == X, axis=-1, keepdims=True)
        order = xp.argsort(X, axis=-1, kind="stable")
        ranks = xp.concatenate([xp.maximum(count - 1, 0) // 2, count // 2 * (count > 0)], axis=-1)
        if not X.shape[-1]:
            return xp.full(ranks.shape, -1, "int64")
        return xp.asarray(xp.take_along_axis(order, ranks, -1), "int64")


class ExtremeSoFar(Op, abstract=True):
    """The element that goes before all others up to each one, and where it stands last; NaN from
    where the first one stands.

    axis: the dimension; may count from the end.
    dtype: the element type of indices, int32 or int64.
    """

    signature = "x -> out, indices!"
    axis: int = -1
    dtype: DType = DType.INT64
    largest = True

    def infer(self, x: Spec) -> Specs:
        need_numbers("x", x)
        normal_axis(self.axis, max(x.ndim, 1))
        if self.dtype not in (DType.INT32, DType.INT64):
            raise DTypeError(f"expected dtype int32 or int64, got {self.dtype}")
        return x, x.with_dtype(self.dtype)

    def run(self, xp: Any, x: Array) -> Arrays:
        if not x.ndim:
            return x, xp.zeros((), self.dtype.dtype)
        axis = normal_axis(self.axis, x.ndim)
        best = xp.moveaxis(x, axis, 0)
        size = best.shape[0]
        steps = xp.reshape(xp.arange(size, dtype=self.dtype.dtype), (-1, *[1] * (x.ndim - 1)))
        places, step = xp.broadcast_to(steps, best.shape), 1
        while step < size:  # each one is chosen of twice as many elements as before
            before, after = best[:-step], best[step:]
            later = after >= before if self.largest else after <= before
            later = later | ((after != after) & (before == before))
            chosen = xp.where(later, after, before), xp.where(later, places[step:], places[:-step])
            best = xp.concatenate([best[:step], chosen[0]])
            places = xp.concatenate([places[:step], chosen[1]])
            step *= 2
        return xp.moveaxis(best, 0, axis), xp.moveaxis(places, 0, axis)

    def grad(self, f: Any, x: Value, indices: Value, dout: Value) -> Rules:
        def dx():
            if not x.shape:
                return dout
            return f.add_along(indices, dout, axis=self.axis, size=x.shape[self.axis])

        return dict(x=dx)


class cummax(ExtremeSoFar):
    """out = the largest element of x up to each one along ``axis``, indices = where it stands."""


class cummin(ExtremeSoFar):
    """out = the smallest element of x up to each one along ``axis``, indices = where it stands."""

    largest = False
