"""Operators that select by index, and those that put back: each the adjoint of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, attr
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    known,
    need_integer,
    need_ndim,
    need_one,
    need_shape,
    normal_axis,
    same_dtype,
)


def count_of(name: str, index: Spec) -> int:
    """How many rows an index of shape [n] or [n, 1] selects."""
    need_integer(**{name: index})
    if index.ndim == 1 or (index.ndim == 2 and agree(index.shape[1], 1)):
        return index.shape[0]
    raise ShapeError(f"expected {name} of shape [n] or [n, 1], got {list(index.shape)}")


def rows_of(name: str, x: Spec) -> tuple[Any, ...]:
    """The sizes of what an index selects from ``x``, and how many there are."""
    if x.ndim == 0:
        raise ShapeError(f"expected {name} to have rows, got shape []")
    return x.shape[0], x.shape[1:]


class gather(Op):
    """The rows of X that Index names: ``Out[i] = X[Index[i]]``.

    Index: numbers of rows, int32 or int64 of shape [n] or [n, 1]; one number, of shape [], gives
        that row.
    Axis: the dimension, as a tensor of one number; goes before ``axis``.
    Out: of n rows.
    overwrite: accepted; in the gradient, rows named twice add up in any case.
    axis: the dimension whose slices are the rows.
    """

    signature = "X, Index!, Axis?! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(newer=("Axis",))
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    overwrite: bool = attr(True, inert=True)
    axis: int = attr(0, local=True)
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Index: Spec, Axis: Spec | None) -> Specs:
        need_one(Axis=Axis)
        if Axis is not None:
            return X.with_shape([-1] * (X.ndim - (not Index.ndim)))
        rows_of("X", X)
        axis = normal_axis(self.axis, X.ndim)
        count = (count_of("Index", Index),) if Index.ndim else ()
        return X.with_shape((*X.shape[:axis], *count, *X.shape[axis + 1 :]))

    def along(self, Axis: Any, ndim: int) -> int:
        """The dimension, counted from the first."""
        return normal_axis(self.axis if Axis is None else int(Axis.item()), ndim)

    def run(self, xp: Any, X: Array, Index: Array, Axis: Array | None) -> Array:
        axis = self.along(Axis, X.ndim)
        index = xp.in_range(xp.reshape(Index, -1), X.shape[axis], "Index")
        rows = xp.take(X, index, axis=axis)
        return rows if Index.ndim else xp.squeeze(rows, axis=axis)

    def takes_rows(self, X: Any, Index: Any, Axis: Any) -> tuple[Any, Any] | None:
        is_plain = X.ndim == 2 and self.axis in (0, -2) and Axis is None and Index.ndim
        return (X, Index) if is_plain else None

    def grad(self, f: Any, X: Value, Index: Value, Axis: Value, dOut: Value) -> Rules:
        def dx():
            axis, size = self.along(Axis, len(X.shape)), X.shape
            rows = dOut if Index.shape else f.unsqueeze(dOut, axes=[axis])
            index = Index if Index.shape else f.reshape(Index, shape=[1])
            return rows_added(f, index, rows, size[axis], axis)

        return dict(X=dx)


def rows_added(f: Any, index: Value, updates: Value, size: int, axis: int) -> Value:
    """Zeros of ``size`` slices along a dimension, with slices added: the adjoint of ``gather``.

    Args:
        f: the interpreter.
        index: numbers of slices, [n].
        updates: n slices along the dimension ``axis``, counted from the first.
    """
    if axis == 0:
        return f.gather_adjoint(index, updates, size=size)
    swapped = list(range(len(updates.shape)))
    swapped[0], swapped[axis] = axis, 0
    rows = f.gather_adjoint(index, f.transpose(updates, axis=swapped), size=size)
    return f.transpose(rows, axis=swapped)


class index_add(Op):
    """Out = X with slices added: ``AddValue[j]`` to slice ``Index[j]``.

    Index: numbers of slices of X, int32 or int64 of shape [n].
    AddValue: n slices.
    axis: the dimension; may count from the end.
    """

    signature = "X, Index!, AddValue -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    axis: int = 0
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Index: Spec, AddValue: Spec) -> Specs:
        same_dtype(X=X, AddValue=AddValue)
        axis = normal_axis(self.axis, X.ndim)
        need_shape("AddValue", AddValue, X.with_dim(axis, count_of("Index", Index)).shape)
        return X

    def expand(self, f: Any, X: Value, Index: Value, AddValue: Value) -> Value:
        axis = normal_axis(self.axis, len(X.shape))
        return X + rows_added(f, Index, AddValue, X.shape[axis], axis)

    def grad(self, f: Any, Index: Value, AddValue: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut, AddValue=lambda: f.index_select(dOut, Index, dim=self.axis))


class gather_adjoint(Op):
    """Out[i] = the sum of Updates[j] over all j where Index[j] = i: the adjoint of ``gather``.

    Index: numbers of rows of Out, of shape [n] or [n, 1].
    Updates: what to add, n rows.
    size: how many rows Out has.
    """

    signature = "Index!, Updates -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    size: Long = REQUIRED
    lod: ClassVar[str | None] = None

    def infer(self, Index: Spec, Updates: Spec) -> Specs:
        _, row = rows_of("Updates", Updates)
        need_shape("Updates", Updates, (count_of("Index", Index), *row))
        return Updates.with_shape((self.size, *row))

    def run(self, xp: Any, Index: Array, Updates: Array) -> Array:
        zeros = xp.zeros((self.size, *Updates.shape[1:]), Updates.dtype)
        index = xp.in_range(xp.reshape(Index, -1), self.size, "Index")
        return xp.scatter_add(zeros, index, Updates)

    def adds_rows(self, Index: Any, Updates: Any) -> tuple[Any, Any, Any] | None:
        return (None, Index, Updates) if Updates.ndim == 2 else None

    def grad(self, f: Any, Index: Value, dOut: Value) -> Rules:
        return dict(Updates=lambda: f.gather(dOut, Index))


class scatter(Op):
    """Out = X with the rows Ids replaced by Updates.

    Ids: numbers of rows, int32 or int64 of shape [n] or [n, 1].
    Updates: the new rows, n of them.
    overwrite: of rows named twice the last update stays; if not, their updates add up.
    """

    signature = "X, Ids!, Updates -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    overwrite: bool = True
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Ids: Spec, Updates: Spec) -> Specs:
        same_dtype(X=X, Updates=Updates)
        _, row = rows_of("X", X)
        need_shape("Updates", Updates, (count_of("Ids", Ids), *row))
        return X

    def run(self, xp: Any, X: Array, Ids: Array, Updates: Array) -> Array:
        ids = xp.in_range(xp.reshape(Ids, -1), X.shape[0], "Ids")
        if self.overwrite:
            return xp.scatter_set(X, ids, Updates)
        return xp.scatter_add(xp.scatter_set(X, ids, xp.zeros_like(Updates)), ids, Updates)

    def grad(self, f: Any, Ids: Value, Updates: Value, dOut: Value) -> Rules:
        def updates():
            flow = f.gather(dOut, Ids)
            if not self.overwrite:
                return flow
            last = f.is_last_occurrence(Ids, size=dOut.shape[0])
            last = f.cast(last, in_dtype=last.dtype, out_dtype=dOut.dtype)
            return f.elementwise_mul(flow, last, axis=0)

        return dict(X=lambda: f.scatter(dOut, Ids, f.fill_zeros_like(Updates)), Updates=updates)


class is_last_occurrence(Detached):
    """Out[i] = whether Index[j] differs from Index[i] for all j > i.

    Index: numbers below ``size``, of shape [n] or [n, 1].
    size: the bound of the numbers.
    """

    signature = "Index! -> Out"
    size: Long = REQUIRED

    def infer(self, Index: Spec) -> Specs:
        return Index.with_shape([count_of("Index", Index)]).with_dtype(DType.BOOL)

    def run(self, xp: Any, Index: Array) -> Array:
        index = xp.in_range(xp.reshape(Index, -1), self.size, "Index")
        places = xp.arange(len(index))
        last = xp.scatter_set(xp.zeros(self.size, places.dtype), index, places)
        return last[index] == places


def need_places(x: Spec, Index: Spec) -> Shape | None:
    """Check an index of whole places, and give the sizes of what one place selects from ``x``."""
    need_integer(Index=Index)
    depth = Index.shape[-1] if Index.shape else 0
    if depth != -1 and not (0 if len(Index.shape) > 1 else 1) <= depth <= len(x.shape):
        raise ShapeError(
            f"expected Index to end in a size of at most {len(x.shape)}, the dimensions of X; "
            f"got shape {list(Index.shape)}"
        )
    return x.shape[depth:] if depth != -1 else None


def indexed(x: Array, Index: Array) -> Array:
    """What an index of whole places goes into: ``x``, or where places are empty a list of it."""
    return x if Index.shape[-1] else x[None]


def places(xp: Any, Index: Array, shape: Shape) -> Arrays:
    """An index of whole places as NumPy takes it: one array for each dimension."""
    if Index.shape[-1] == 0:  # each place is all there is
        return (xp.zeros(Index.shape[:-1], "int64"),)
    return tuple(
        xp.in_range(Index[..., i], shape[i], f"Index[..., {i}]") for i in range(Index.shape[-1])
    )


def names_rows(Index: Any) -> bool:
    """Whether an index of whole places is numbers of rows, one below the other."""
    return len(Index.shape) == 2 and bool(Index.shape[1] == 1)


class gather_nd(Op):
    """The elements, or slices, of X at the places that Index names: ``Out[i] = X[Index[i, 0],
    Index[i, 1], ...]`` for all i, which may be several indices.

    Index: places along its last dimension, int32 or int64; a place shorter than X has dimensions
        selects a slice.
    Out: of the shape of Index with what a place selects in place of its last dimension.
    """

    signature = "X, Index! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    lod: ClassVar[str | None] = "X"

    def infer(self, X: Spec, Index: Spec) -> Specs:
        row = need_places(X, Index)
        return None if row is None else X.with_shape((*Index.shape[:-1], *row))

    def run(self, xp: Any, X: Array, Index: Array) -> Array:
        return indexed(X, Index)[places(xp, Index, X.shape)]

    def takes_rows(self, X: Any, Index: Any) -> tuple[Any, Any] | None:
        return (X, Index) if X.ndim == 2 and names_rows(Index) else None

    def grad(self, f: Any, X: Value, Index: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.scatter_nd_add(f.fill_zeros_like(X), Index, dOut))


class scatter_nd_add(Op):
    """X with Updates added at places that Index names: ``Updates[i]`` at
    ``X[Index[i, 0], Index[i, 1], ...]`` for all i.

    Index: places along its last dimension, as of ``gather_nd``; those named twice get both
        updates.
    Updates: what to add, in the shape that ``gather_nd`` would give.
    """

    signature = "X, Index!, Updates -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("X", "Updates"))
    lod: ClassVar[str | None] = "X"

    def infer(self, X: Spec, Index: Spec, Updates: Spec) -> Specs:
        same_dtype(X=X, Updates=Updates)
        row = need_places(X, Index)
        if row is not None:
            need_shape("Updates", Updates, (*Index.shape[:-1], *row))
        return X

    def run(self, xp: Any, X: Array, Index: Array, Updates: Array) -> Array:
        whole = indexed(X, Index)
        return xp.scatter_add(whole, places(xp, Index, X.shape), Updates).reshape(X.shape)

    def adds_rows(self, X: Any, Index: Any, Updates: Any) -> tuple[Any, Any, Any] | None:
        return (X, Index, Updates) if X.ndim == 2 and names_rows(Index) else None

    def grad(self, f: Any, Index: Value, Updates: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut, Updates=lambda: f.gather_nd(dOut, Index))


class Along(Op, abstract=True):
    """Indices along one dimension, a list of them for each place in the others.

    Index: as many dimensions as the values have, of the same sizes but along ``axis``.
    axis: the dimension.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    axis: int = -1

    def check(self, name: Any, values: Any, Index: Spec) -> None:
        """Check that values and index agree."""
        need_integer(Index=Index)
        axis = normal_axis(self.axis, values.ndim)
        if Index.ndim != values.ndim or not all(
            i == axis or agree(m, n) for i, (m, n) in enumerate(zip(values.shape, Index.shape))
        ):
            raise ShapeError(
                f"expected Index of the sizes of {name} {list(values.shape)} except along {axis}, "
                f"got {list(Index.shape)}"
            )


class take_along(Along):
    """Out = the elements of X at Index along ``axis``."""

    signature = "X, Index! -> Out"

    def infer(self, X: Spec, Index: Spec) -> Specs:
        self.check("X", X, Index)
        axis = normal_axis(self.axis, X.ndim)
        shape = [
            m if i == axis else known(m, n) for i, (m, n) in enumerate(zip(Index.shape, X.shape))
        ]
        return X.with_shape(shape)

    def run(self, xp: Any, X: Array, Index: Array) -> Array:
        return xp.take_along_axis(X, xp.in_range(Index, X.shape[self.axis], "Index"), self.axis)

    def grad(self, f: Any, X: Value, Index: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.add_along(Index, dOut, axis=self.axis, size=X.shape[self.axis]))


class add_along(Along):
    """Out = zeros with Updates added at Index along ``axis``: the adjoint of ``take_along``.

    Updates: of the shape of Index.
    size: how many elements Out has along ``axis``.
    """

    signature = "Index!, Updates -> Out"
    size: Long = REQUIRED

    def infer(self, Index: Spec, Updates: Spec) -> Specs:
        self.check("Updates", Updates, Index)
        need_shape("Updates", Updates, Index.shape)
        shape = map(known, Updates.shape, Index.shape)
        return Updates.with_shape(shape).with_dim(self.axis, self.size)

    def run(self, xp: Any, Index: Array, Updates: Array) -> Array:
        axis = normal_axis(self.axis, Updates.ndim)
        shape = (*Updates.shape[:axis], self.size, *Updates.shape[axis + 1 :])
        place = list(xp.indices(Index.shape, sparse=True))
        place[axis] = xp.in_range(Index, self.size, "Index")
        return xp.scatter_add(xp.zeros(shape, Updates.dtype), tuple(place), Updates)

    def grad(self, f: Any, Index: Value, dOut: Value) -> Rules:
        return dict(Updates=lambda: f.take_along(dOut, Index, axis=self.axis))


class OneHot(Op, abstract=True):
    """Zeros, and a 1 where an index says.

    depth: how many different indices there are; the last size of Out.
    depth_tensor: the same as a tensor of one element; wins over ``depth``.
    dtype: the element type of Out.
    allow_out_of_range: an index outside of [0, depth) gives zeros; if not, it is refused.
    """

    signature = "X!, depth_tensor?! -> Out"
    depth: int = -1
    dtype: DType = DType.FP32
    allow_out_of_range: bool = False
    grad = None

    def index_shape(self, shape: Any) -> Any:
        """The sizes of the indices, for an X of that shape."""
        raise NotImplementedError

    def infer(self, X: Spec, depth_tensor: Any) -> Specs:
        need_integer(X=X, depth_tensor=depth_tensor)
        if depth_tensor is None and self.depth < 1:
            raise AttributeValueError(f"expected depth of at least 1, got {self.depth}")
        depth = self.depth if depth_tensor is None else -1
        return X.with_shape((*self.index_shape(X.shape), depth)).with_dtype(self.dtype)

    def run(self, xp: Any, X: Array, depth_tensor: Array) -> Array:
        depth = self.depth if depth_tensor is None else depth_tensor.item()
        index = X if self.allow_out_of_range else xp.in_range(X, depth, "X")
        index = xp.reshape(index, (*self.index_shape(X.shape), 1))
        return (index == xp.arange(depth)).astype(self.dtype.dtype)

    def run_numpy(self, xp: Any, X: Array, depth_tensor: Array) -> Array:
        depth = self.depth if depth_tensor is None else depth_tensor.item()
        index = xp.reshape(X if self.allow_out_of_range else xp.in_range(X, depth, "X"), -1)
        ones = xp.arange(index.size) * depth + index
        if self.allow_out_of_range:
            ones = ones[(index >= 0) & (index < depth)]
        out = xp.zeros(index.size * depth, self.dtype.dtype)
        out[ones] = 1
        return xp.reshape(out, (*self.index_shape(X.shape), depth))


def without_last(shape: Shape, name: str) -> Shape:
    """``shape`` without its last size, which must be 1."""
    if not shape or not agree(shape[-1], 1):
        raise ShapeError(f"expected {name} to have size 1 in its last dimension, got {list(shape)}")
    return shape[:-1]


class one_hot(OneHot):
    """Out[i, j] = whether X[i, 0] is j, as 1 or 0.

    X: indices, int64 or int32, with a last dimension of size 1.
    depth: how many classes there are.
    Out: of the shape of X, float32, with ``depth`` in place of the last 1; no gradient flows
        through.
    """

    def index_shape(self, shape: Shape) -> Shape:
        return without_last(shape, "X")


class one_hot_v2(OneHot):
    """Out[i, j] = whether X[i] is j, as 1 or 0.

    X: indices, of any shape.
    """

    def index_shape(self, shape: Shape) -> Shape:
        return shape


def look_up(xp: Any, table: Array, ids: Array, padding: int) -> Array:
    """Rows of a table by number; zeros for the number ``padding``, unless that is -1."""
    if padding == -1:
        return xp.take(table, xp.in_range(ids, table.shape[0], "Ids"), axis=0)
    kept = ids != padding
    rows = xp.take(table, xp.in_range(xp.where(kept, ids, 0), table.shape[0], "Ids"), axis=0)
    return xp.where(kept[..., None], rows, xp.zeros((), rows.dtype))


class Lookup(Op, abstract=True):
    """Rows of a table, as word embeddings use them.

    W: the table, one row for each id.
    Ids: numbers of rows.
    is_sparse: the gradient of W has only the rows that were used.
    padding_idx: the id that stands for zeros, through which no gradient flows; -1 for none.
    """

    signature = "W, Ids! -> Out"
    of_bfloat16: ClassVar[bool] = True
    is_sparse: bool = False
    is_distributed: bool = attr(False, inert=True)
    padding_idx: Long = -1
    remote_prefetch: bool = attr(False, inert=True)
    trainer_id: int = attr(0, inert=True)
    height_sections: list[Long] = attr((), inert=True)
    epmap: list[str] = attr((), inert=True)
    table_names: list[str] = attr((), inert=True)
    lod: ClassVar[str | None] = "Ids"

    def ids_shape(self, shape: Any) -> Any:
        """The sizes of the ids, for an Ids of that shape."""
        raise NotImplementedError

    def infer(self, W: Spec, Ids: Spec) -> Spec:
        need_ndim(2, W=W)
        need_integer(Ids=Ids)
        return W.with_shape((*self.ids_shape(Ids.shape), W.shape[1]))

    def run(self, xp: Any, W: Array, Ids: Array) -> Array:
        ids = xp.reshape(Ids, self.ids_shape(Ids.shape))
        return look_up(xp, W, ids, self.padding_idx)

    def takes_rows(self, W: Any, Ids: Any) -> tuple[Any, Any] | None:
        is_plain = self.padding_idx == -1 and len(self.ids_shape(Ids.shape)) == 1
        return (W, Ids) if is_plain else None

    def grad(self, f: Any, W: Value, Ids: Value, dOut: Value) -> Rules:
        height, width = W.shape

        def table():
            ids, rows = f.reshape(Ids, shape=[-1]), f.reshape(dOut, shape=[-1, width])
            if self.is_sparse:
                return f.selected_rows(ids, rows, height=height, padding_idx=self.padding_idx)
            return f.lookup_table_adjoint(ids, rows, size=height, padding_idx=self.padding_idx)

        return dict(W=table)

    def sparse_gradients(self) -> frozenset[str]:
        return frozenset({"W"} if self.is_sparse else ())


class lookup_table(Lookup):
    """Out[i] = W[Ids[i, 0]].

    Ids: numbers of rows, with a last dimension of size 1.
    """

    grad_inplace: bool = attr(False, inert=True)

    def ids_shape(self, shape: Shape) -> Shape:
        return without_last(shape, "Ids")


class lookup_table_v2(Lookup):
    """Out[i] = W[Ids[i]].

    Ids: numbers of rows, of any shape.
    """

    def ids_shape(self, shape: Shape) -> Shape:
        return shape


class RowsOfTable(Op, abstract=True):
    """Rows of a table that is 0 elsewhere: the map from the gradient of rows that are looked up to
    that of the table.
    """

    signature = "Ids!, Updates -> Out"
    of_bfloat16: ClassVar[bool] = True
    lod: ClassVar[str | None] = None
    if TYPE_CHECKING:
        padding_idx: Long  #: of those that derive from it

    def table(self, Ids: Spec, Updates: Spec, rows: int) -> Spec:
        """The spec of a table of so many rows."""
        need_ndim(1, Ids=Ids)
        need_integer(Ids=Ids)
        need_ndim(2, Updates=Updates)
        need_shape("Updates", Updates, (*Ids.shape, -1))
        return Updates.with_dim(0, rows)

    def grad(self, f: Any, Ids: Value, dOut: Value) -> Rules:
        return dict(Updates=lambda: f.lookup_table_v2(dOut, Ids, padding_idx=self.padding_idx))


class lookup_table_adjoint(RowsOfTable):
    """Out[i] = the sum of Updates[j] over all j where Ids[j] = i, but 0 where i is ``padding_idx``.

    The map from the gradient of the rows to that of the table.

    Ids: numbers of rows of Out, of shape [n].
    Updates: what to add, n rows.
    size: how many rows Out has.
    padding_idx: the id whose updates are left out; -1 for none.
    """

    size: Long = REQUIRED
    padding_idx: Long = -1

    def infer(self, Ids: Spec, Updates: Spec) -> Specs:
        return self.table(Ids, Updates, self.size)

    def run(self, xp: Any, Ids: Array, Updates: Array) -> Array:
        if self.padding_idx != -1:
            kept = Ids != self.padding_idx
            Ids = xp.where(kept, Ids, 0)
            Updates = xp.where(kept[:, None], Updates, xp.zeros((), Updates.dtype))
        zeros = xp.zeros((self.size, Updates.shape[1]), Updates.dtype)
        return xp.scatter_add(zeros, xp.in_range(Ids, self.size, "Ids"), Updates)

    def adds_rows(self, Ids: Any, Updates: Any) -> tuple[Any, Any, Any] | None:
        return (None, Ids, Updates) if self.padding_idx == -1 else None
