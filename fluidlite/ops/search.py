"""Orders and places: what stands first or last, what occurs, and where."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import DTypeError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, attr, need_least, need_range
from ..opdef.definition import Detached, DetachedValues, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_integer, need_ndim, need_numbers, need_rank, normal_axis, spec


class ArgExtreme(Detached, abstract=True):
    """The place of an element that goes before all others; the first one where several are equal.

    axis: the dimension; may count from the end.
    keepdims: it stays, with size 1.
    dtype: the element type of Out, an integer; -1: int64.
    flatten: of all elements in a row.
    """

    signature = "X -> Out"
    axis: Long = REQUIRED
    keepdims: bool = False
    dtype: DType = -1
    flatten: bool = attr(False, local=True)

    def infer(self, X: Spec) -> Specs:
        need_numbers("X", X)
        if self.dtype not in (-1, DType.INT32, DType.INT64):
            raise DTypeError(f"expected dtype int64 or int32, got {self.dtype}")
        if self.flatten:
            if 0 in X.shape:
                raise ShapeError(f"expected an element to choose, got X of shape {list(X.shape)}")
            return spec((1,) * X.ndim if self.keepdims else (), self.index_type)
        axis = normal_axis(self.axis, X.ndim)
        if X.shape[axis] == 0:
            raise ShapeError(
                f"expected an element to choose along axis={self.axis}, got X of shape "
                f"{list(X.shape)}"
            )
        middle = (1,) if self.keepdims else ()
        return spec((*X.shape[:axis], *middle, *X.shape[axis + 1 :]), self.index_type)

    @property
    def index_type(self) -> Any:
        """The element type of Out."""
        return DType.INT64 if self.dtype == -1 else self.dtype

    def run(self, xp: Any, X: Array) -> Array:
        if self.flatten:
            shape = (1,) * X.ndim if self.keepdims else ()
            out = xp.reshape(self.choose(xp, xp.reshape(X, (-1,)), 0), shape)
        else:
            out = self.choose(xp, X, self.axis)
            out = xp.expand_dims(out, self.axis) if self.keepdims else out
        return xp.asarray(out, self.index_type.dtype)

    def choose(self, xp: Any, X: Any, axis: int) -> Any:
        """The places, without the dimension."""
        raise NotImplementedError


class arg_max(ArgExtreme):
    """Out = the place of the largest element of X along ``axis``.

    X: a variable of numbers.
    Out: an int64 variable without the dimension. No gradient flows through.
    """

    def choose(self, xp: Any, X: Array, axis: int) -> Array:
        return xp.argmax(X, axis=axis)


class arg_min(ArgExtreme):
    """Out = the place of the smallest element of X along ``axis``.

    X: a variable of numbers.
    Out: an int64 variable without the dimension. No gradient flows through.
    """

    def choose(self, xp: Any, X: Array, axis: int) -> Array:
        return xp.argmin(X, axis=axis)


class argsort(Op):
    """The elements of X in ascending order along ``axis``, and their places.

    Indices: where they were; equal elements stay in the order they had.
    axis: the dimension; may count from the end.
    descending: the largest come first.
    X: numbers.
    """

    signature = "X -> Out, Indices!"
    axis: int = -1
    descending: bool = False

    def infer(self, X: Spec) -> Specs:
        need_numbers("X", X)
        normal_axis(self.axis, X.ndim)
        return X, X.with_dtype(DType.INT64)

    def run(self, xp: Any, X: Array) -> Arrays:
        order = ordered(xp, X, self.axis, self.descending)
        return xp.take_along_axis(X, order, self.axis), order

    def grad(self, f: Any, X: Value, Indices: Value, dOut: Value) -> Rules:
        size = X.shape[self.axis]
        return dict(X=lambda: f.add_along(Indices, dOut, axis=self.axis, size=size))


def ordered(xp: Any, x: Array, axis: int, descending: bool) -> Array:
    """Where the elements are in order along a dimension; NaN counts as the largest."""
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable")
    # backwards, so that equal elements stay in their order
    backwards = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - xp.flip(backwards, axis)


class mode_place(Op):
    """Out = where the element of X that occurs most often along ``axis`` stands last; the smallest
    where several do.

    axis: the dimension; may count from the end.
    """

    signature = "X -> Out"
    axis: int = -1
    grad = None

    def infer(self, X: Spec) -> Specs:
        need_numbers("X", X)
        axis = normal_axis(self.axis, X.ndim)
        return spec((*X.shape[:axis], *X.shape[axis + 1 :]), DType.INT64)

    def run(self, xp: Any, X: Array) -> Array:
        rows = xp.moveaxis(X, self.axis, -1)
        order = xp.argsort(rows, axis=-1, kind="stable")
        rows = xp.take_along_axis(rows, order, -1)
        places = xp.broadcast_to(xp.arange(rows.shape[-1]), rows.shape)
        differs = rows[..., 1:] != rows[..., :-1]
        begins = xp.where(differs, places[..., 1:], 0)
        begins = xp.maximum.accumulate(xp.concatenate([places[..., :1], begins], -1), axis=-1)
        longest = xp.argmax(places - begins, axis=-1)
        found = xp.take_along_axis(order, longest[..., None], -1)
        return xp.asarray(found[..., 0], "int64")


class where_index(DetachedValues):
    """The places where Condition holds, a row of indices for each.

    Condition: truth values, or numbers, of which 0 does not count.
    Out: an int64 variable with a row of indices for each place.
    """

    signature = "Condition -> Out"

    def infer(self, Condition: Spec) -> Specs:
        need_rank("Condition", Condition, 1)
        return spec([-1, Condition.ndim], DType.INT64)

    def run(self, xp: Any, Condition: Array) -> Array:
        return xp.argwhere(Condition)


class Unique(DetachedValues, abstract=True):
    """The values that occur in a vector.

    Index: for each element of X, which of Out it is.
    dtype: the element type of the indices, int32 or int64.
    """

    dtype: DType = REQUIRED

    def check(self, X: Spec) -> None:
        """Refuse what is no vector, and a type that is no integer."""
        need_ndim(1, X=X)
        if self.dtype not in (DType.INT32, DType.INT64):
            raise DTypeError(f"expected dtype int32 or int64, got {self.dtype}")

    def found(self, xp: Any, X: Array) -> Arrays:
        """The values in order of their first places, the index, these places, and how often each
        occurs.
        """
        values, first, index, count = xp.unique(
            X, return_index=True, return_inverse=True, return_counts=True
        )
        order = xp.argsort(first)
        rank = xp.argsort(order)
        number = self.dtype.dtype
        rest = (v.astype(number) for v in (rank[index], first[order], count[order]))
        return values[order], *rest


class unique(Unique):
    """The values that occur in X, each once, in the order in which they first do, and which of them
    each element is.

    X: a vector.
    is_sorted: paddle 2's form: the values in ascending order, of a tensor of any shape, or its
        slices along ``axis``.
    Indices: then, where each of Out first occurs.
    Counts: then, how often each of Out occurs.
    axis: then, the dimension of slices; elements when empty.
    return_index, return_inverse, return_counts: accepted: the outputs that there are say it.
    """

    signature = "X -> Out, Index, Indices?~, Counts?~"
    fluid: ClassVar[FluidForm] = FluidForm(newer=("Indices", "Counts"))
    is_sorted: bool = attr(False, local=True)
    axis: list[int] = attr((), local=True)
    return_index: bool = attr(False, local=True, inert=True)
    return_inverse: bool = attr(False, local=True, inert=True)
    return_counts: bool = attr(False, local=True, inert=True)

    def infer(self, X: Spec) -> Specs:
        if not self.is_sorted:
            self.check(X)
        shape = [-1]
        if self.is_sorted and self.axis:
            shape = list(X.with_dim(normal_axis(self.axis[0], X.ndim), -1).shape)
        places = X.with_shape([-1]).with_dtype(self.dtype)
        inverse = places if self.is_sorted else X.with_dtype(self.dtype)
        return X.with_shape(shape), inverse, places, places

    def run(self, xp: Any, X: Array) -> Arrays:
        if not self.is_sorted:
            return self.found(xp, X)
        values, first, index, count = xp.unique(
            X,
            return_index=True,
            return_inverse=True,
            return_counts=True,
            axis=self.axis[0] if self.axis else None,
        )
        number = self.dtype.dtype
        return values, *(xp.reshape(v, (-1,)).astype(number) for v in (index, first, count))


class unique_with_counts(Unique):
    """The values that occur in X, each once, in the order in which they first do, which of them
    each element is, and how often they occur.

    X: a vector.
    Count: how often each of Out occurs.
    dtype: the element type of the indices and counts, int32 or int64.
    """

    signature = "X -> Out, Index, Count"

    def infer(self, X: Spec) -> Specs:
        self.check(X)
        values = X.with_shape([-1])
        return values, X.with_dtype(self.dtype), values.with_dtype(self.dtype)

    def run(self, xp: Any, X: Array) -> Arrays:
        values, index, _, count = self.found(xp, X)
        return values, index, count


class shard_index(Op):
    """Out = X counted within its shard where it is in shard ``shard_id``, else ``ignore_value``.

    Each shard has ceil(index_num / nshards) numbers, except the last one.

    X: indices below ``index_num``, with 1 as last size.
    index_num: how many indices there are in all shards.
    nshards: how many shards there are.
    shard_id: which one is meant.
    ignore_value: stands for indices of other shards.
    """

    signature = "X -> Out"
    index_num: int = REQUIRED
    nshards: int = REQUIRED
    shard_id: int = REQUIRED
    ignore_value: int = -1
    grad = None

    def infer(self, X: Spec) -> Specs:
        need_integer(X=X)
        need_rank("X", X, 2)
        need_least(self, 1, "index_num", "nshards")
        need_range(self, 0, self.nshards - 1, "shard_id")
        return X

    def run(self, xp: Any, X: Array) -> Array:
        size = -(-self.index_num // self.nshards)
        X = xp.in_range(X, self.index_num, "X")
        mine = X // size == self.shard_id
        return xp.where(mine, X % size, self.ignore_value).astype(X.dtype)
