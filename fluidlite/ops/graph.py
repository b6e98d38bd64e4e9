"""Rows that are put together by numbers: messages along the edges of graphs, and segments."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import AttributeValueError, OutOfRangeError, ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import Long, need_choice
from ..opdef.definition import Op, ValueShaped
from ..opdef.spec import Spec, agree, broadcast, known, need_one, same_dtype
from .elementwise import truncated_quotient
from .gather import count_of, rows_of

POOLS = ("SUM", "MEAN", "MAX", "MIN")
_MESSAGES = {"ADD": "elementwise_add", "MUL": "elementwise_mul"}


def _put_together(xp: Any, how: str, X: Array, index: Array, size: int) -> Array:
    """Rows put together, those of each number below ``size``; zeros if there are none."""
    if how == "MAX":
        return xp.max_rows(index, X, size)
    if how == "MIN":
        return xp.min_rows(index, X, size)
    sums = xp.add_rows(index, X, size)
    if how == "SUM":
        return sums
    counts = xp.maximum(xp.add_rows(index, xp.ones(len(index), X.dtype), size), 1)
    counts = xp.reshape(counts, (-1, *[1] * (X.ndim - 1)))
    return truncated_quotient(xp, sums, counts) if X.dtype.kind == "i" else sums / counts


def _taken_apart(f: Any, how: str, X: Value, index: Value, Out: Value, dOut: Value) -> Value:
    """The cotangent of rows from that of what they were put together to.

    Of the largest or smallest each row that is equal to it has the whole cotangent.
    """
    if how == "MEAN":
        ones = f.fill_constant(shape=[X.shape[0]], dtype=X.dtype, value=1.0)
        counts = f.gather_adjoint(index, ones, size=Out.shape[0])
        one = f.fill_any_like(counts, value=1.0)
        dOut = f.elementwise_div(dOut, f.elementwise_max(counts, one), axis=0)
    flow = f.gather(dOut, index)
    if how in ("SUM", "MEAN"):
        return flow
    is_best = f.equal(X, f.gather(Out, index))
    return flow * f.cast(is_best, in_dtype=is_best.dtype, out_dtype=dOut.dtype)


class pool_rows(Op):
    """Out[i] = the rows of X whose Index is i, put together; zeros if there are none.

    Index: numbers of rows of Out, of shape [n] or [n, 1].
    Size: how many rows Out has; the attribute if it is missing.
    how: SUM, MEAN, MAX or MIN.
    size: how many rows Out has.
    """

    signature = "X, Index!, Size?! -> Out"
    lod = None
    how: str = "SUM"
    size: Long = 0

    def infer(self, X: Spec, Index: Spec, Size: Spec) -> Specs:
        need_choice(self, "how", *POOLS)
        need_one(Size=Size)
        count, (rows, row) = count_of("Index", Index), rows_of("X", X)
        if not agree(rows, count):
            raise ShapeError(f"expected a number for each of {rows} rows of X, got {count}")
        return X.with_shape((self.size if Size is None else -1, *row))

    def run(self, xp: Any, X: Array, Index: Array, Size: Array) -> Array:
        given = 0 if Size is None else int(Size.reshape(-1)[0])
        size = given if given > 0 else self.size
        index = xp.in_range(xp.reshape(Index, -1), size, "Index")
        return _put_together(xp, self.how, X, index, size)

    def adds_rows(self, X: Any, Index: Any, Size: Any) -> tuple[Any, Any, Any] | None:
        return (None, Index, X) if self.how == "SUM" and X.ndim == 2 and Size is None else None

    def grad(self, f: Any, X: Value, Index: Value, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: _taken_apart(f, self.how, X, Index, Out, dOut))


class segment_pool(ValueShaped):
    """Out[i] = the rows of X whose SegmentIds are i, put together; zeros if there are none.

    X: int32, int64 or floats.
    SegmentIds: numbers of rows of Out, in ascending order, of shape [n].
    Out: of as many rows as the largest number says, and one.
    SummedIds: how many rows each has; absent.
    pooltype: SUM, MEAN, MAX or MIN.
    """

    signature = "X, SegmentIds! -> Out, SummedIds~?"
    counted_by: ClassVar[str | None] = "SegmentIds"
    pooltype: str = "SUM"

    def infer(self, X: Spec, SegmentIds: Spec) -> Specs:
        need_choice(self, "pooltype", *POOLS)
        count, (rows, row) = count_of("SegmentIds", SegmentIds), rows_of("X", X)
        if not agree(rows, count):
            raise ShapeError(
                f"expected a number in SegmentIds for each of {rows} rows of X, got {count}"
            )
        return X.with_shape((-1, *row)), None

    def run(self, xp: Any, X: Array, SegmentIds: Array) -> Arrays:
        index = xp.reshape(SegmentIds, -1)
        if len(index) and (index[0] < 0 or (xp.diff(index) < 0).any()):
            raise OutOfRangeError("expected SegmentIds in ascending order, from 0 on")
        size = int(index[-1]) + 1 if len(index) else 0
        return _put_together(xp, self.pooltype, X, index, size), None

    def run_numpy(self, xp: Any, X: Array, SegmentIds: Array) -> Arrays:
        found = xp.pooled_segments(self.pooltype, SegmentIds, X)
        return self.run(xp, X, SegmentIds) if found is None else (found, None)

    def adds_rows(self, X: Any, SegmentIds: Any) -> tuple[Any, Any, Any] | None:
        is_plain = self.pooltype == "SUM" and X.ndim == 2
        return (None, SegmentIds, X) if is_plain else None

    def grad(self, f: Any, X: Value, SegmentIds: Value, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: _taken_apart(f, self.pooltype, X, SegmentIds, Out, dOut))


class _SentAlongEdges(Op, abstract=True):
    """What comes to the nodes of a graph along its edges.

    Src_index: where each edge begins, int32 or int64.
    Dst_index: where it ends.
    Out_size: how many nodes Out has; as many as X when it is not above 0.
    Dst_count: how many messages each node gets; absent.
    reduce_op: how messages are put together: SUM, MEAN, MAX or MIN.
    out_size: how many nodes Out has, if Out_size is missing.
    """

    lod = None
    reduce_op: str = "SUM"
    out_size: list[Long] = (0,)

    def sent(self, X: Spec, Src_index: Spec, Dst_index: Spec, Out_size: Spec, row: Any) -> Specs:
        """Specs of the results, of messages of some shape."""
        need_choice(self, "reduce_op", *POOLS)
        need_one(Out_size=Out_size)
        need_edges(Src_index, Dst_index)
        size = self.nodes(X) if Out_size is None else -1
        return X.with_shape((size, *row))

    def nodes(self, X: Any) -> int:
        """How many nodes there are, as the attribute says it."""
        if len(self.out_size) > 1:
            raise AttributeValueError(f"expected one number in out_size, got {list(self.out_size)}")
        given = self.out_size[0] if self.out_size else 0
        return given if given > 0 else X.shape[0]

    def received(self, f: Any, X: Value, messages: Value, ends: Value, Out_size: Value) -> Any:
        """What the nodes get."""
        size = self.nodes(X)
        return f.pool_rows(messages, ends, Out_size, how=self.reduce_op, size=size)


def need_edges(begins: Spec, ends: Spec) -> int:
    """How many edges there are, of which the nodes where they begin and end are given."""
    first, last = count_of("the nodes where edges begin", begins), count_of("those of ends", ends)
    if not agree(first, last):
        raise ShapeError(f"expected as many ends as beginnings of edges, got {first} and {last}")
    same_dtype(begins=begins, ends=ends)
    return known(first, last)


class graph_send_recv(_SentAlongEdges):
    """Out[i] = the rows of X where edges begin that end at node i, put together.

    X: a row for each node.
    Out: zeros where no edge ends.
    """

    signature = "X, Src_index!, Dst_index!, Out_size?! -> Out, Dst_count~?"

    def infer(self, X: Spec, Src_index: Spec, Dst_index: Spec, Out_size: Spec) -> Specs:
        _, row = rows_of("X", X)
        return self.sent(X, Src_index, Dst_index, Out_size, row), None

    def expand(self, f: Any, X: Value, Src_index: Value, Dst_index: Value, Out_size: Value) -> Any:
        if self.reduce_op in ("SUM", "MEAN") and len(X.shape) == 2 and Out_size is None:
            return dict(Out=lambda: self.product(f, X, Src_index, Dst_index))
        messages = f.gather(X, Src_index)
        return dict(Out=lambda: self.received(f, X, messages, Dst_index, Out_size))

    def product(self, f: Any, X: Value, begins: Value, ends: Value) -> Value:
        """Sums or means as a product with a sparse matrix, for which messages need not be there."""
        size = self.nodes(X)
        ones = f.fill_constant(shape=[begins.shape[0]], dtype=X.dtype, value=1.0)
        sums = f.sparse_product(ends, begins, ones, X, size=size)
        if self.reduce_op == "SUM":
            return sums
        least = f.fill_constant(shape=[size], dtype=X.dtype, value=1.0)
        counts = f.elementwise_max(f.gather_adjoint(ends, ones, size=size), least)
        return f.elementwise_div(sums, counts, axis=0)


class graph_send_ue_recv(_SentAlongEdges):
    """Out[i] = the rows of X where edges begin that end at node i, each with what its edge has,
    put together.

    X: a row for each node.
    Y: a row for each edge; rows of X and Y fit each other as those of element-wise operators do.
    Out: zeros where no edge ends.
    message_op: how a row of X and one of Y are joined: ADD or MUL.
    """

    signature = "X, Y, Src_index!, Dst_index!, Out_size?! -> Out, Dst_count~?"
    message_op: str = "ADD"

    def infer(self, X: Spec, Y: Spec, Src_index: Spec, Dst_index: Spec, Out_size: Spec) -> Specs:
        (_, row), (rows, other) = rows_of("X", X), rows_of("Y", Y)
        count = need_edges(Src_index, Dst_index)
        if not agree(rows, count):
            raise ShapeError(f"expected a row of Y for each of {count} edges, got {rows}")
        row = joined(self, X, Y, row, other)
        return self.sent(X, Src_index, Dst_index, Out_size, row), None

    def expand(self, f, X, Y, Src_index, Dst_index, Out_size) -> Any:
        messages = join(f, self.message_op, f.gather(X, Src_index), Y)
        return dict(Out=lambda: self.received(f, X, messages, Dst_index, Out_size))


class graph_send_uv(Op):
    """out = for each edge the row of x where it begins, and that of y where it ends, joined.

    x, y: a row for each node; rows fit each other as those of element-wise operators do.
    src_index: where each edge begins, int32 or int64.
    dst_index: where it ends.
    message_op: how two rows are joined: ADD or MUL.
    """

    signature = "x, y, src_index!, dst_index! -> out"
    lod = None
    message_op: str = "ADD"

    def infer(self, x: Spec, y: Spec, src_index: Spec, dst_index: Spec) -> Specs:
        (_, row), (_, other) = rows_of("x", x), rows_of("y", y)
        row = joined(self, x, y, row, other)
        return x.with_shape((need_edges(src_index, dst_index), *row))

    def expand(self, f: Any, x: Value, y: Value, src_index: Value, dst_index: Value) -> Any:
        return join(f, self.message_op, f.gather(x, src_index), f.gather(y, dst_index))


def joined(op: Any, x: Spec, y: Spec, row: Any, other: Any) -> Any:
    """The shape of a message."""
    need_choice(op, "message_op", *_MESSAGES)
    same_dtype(X=x, Y=y)
    return broadcast(row, other)


def join(f: Any, how: str, x: Value, y: Value) -> Value:
    """Messages of rows, whose dimensions are aligned at their ends."""
    rank = max(len(x.shape), len(y.shape))
    x, y = (
        t
        if len(t.shape) == rank
        else f.reshape(t, shape=[t.shape[0], *[1] * (rank - len(t.shape)), *t.shape[1:]])
        for t in (x, y)
    )
    return getattr(f, _MESSAGES[how])(x, y)
