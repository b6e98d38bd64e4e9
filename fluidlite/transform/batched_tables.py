"""Rules of batching of rows that numbers name: of embeddings, and of their gradients."""

from __future__ import annotations

from typing import Any

from ..opdef.definition import lookup
from .batched_rows import divided, joined
from .batching import BatchedValue, Batching, Values


def rows_of_all(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """Rows of a value: of each example's own, or of one that all share."""
    x, index = ins["X"], ins["Index"]
    if not index.is_batched:
        numbers = f.reshape(index, shape=[-1])
        return {"Out": f.value(f.parent.index_select(f.front(x), numbers.variable, dim=1), 0)}
    if -1 in x.shape or -1 in index.shape:
        return None
    table = joined(f, f.batched(x)).variable if x.is_batched else x.variable
    numbers = f.reshaped(_numbers(f, index, x.shape[0] if x.is_batched else 0), [-1])
    shape = (index.shape[0], *x.shape[1:])
    return {"Out": divided(f, f.parent.gather(table, numbers), shape)}


def _numbers(f: Batching, index: BatchedValue, height: int) -> Any:
    """Numbers of rows of the tables of all examples, one after the other: [examples, numbers]."""
    count = index.shape[0] if index.ndim else 1
    numbers = f.reshaped(f.front(index), [-1, count])
    numbers = f.parent.cast(numbers, in_dtype=numbers.dtype, out_dtype="int64")
    if not height:
        return numbers
    ones = f.parent.fill_constant_batch_size_like(
        numbers, shape=[-1, 1], dtype="int64", value=float(height)
    )
    first = f.parent.cumsum(ones, axis=0, exclusive=True)
    return f.parent.elementwise_add(numbers, first)


def tables_of_each(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """The table of each example, to whose rows its updates are added."""
    index = ins["Index"] if "Index" in ins else ins["Ids"]
    updates = ins["Updates"]
    height = op.height if op.type == "selected_rows" else op.size
    if -1 in updates.shape or -1 in index.shape:
        return None
    padding = getattr(op, "padding_idx", -1)
    if padding != -1:
        kept = f.not_equal(index, f.fill_any_like(index, value=padding))
        share = f.cast(f.reshape(kept, shape=[-1]), in_dtype=kept.dtype, out_dtype=updates.dtype)
        updates = f.elementwise_mul(updates, share, axis=0)
        index = index * f.cast(kept, in_dtype=kept.dtype, out_dtype=index.dtype)
    rest = updates.shape[1:]
    numbers = f.reshaped(_numbers(f, f.batched(index), height), [-1])
    rows = joined(f, f.batched(updates)).variable
    # the gradient operator takes the number of rows from an input, of which it reads the shape
    table = f.parent.fill_constant_batch_size_like(
        f.front(updates), shape=[-1, height, *rest], dtype=updates.dtype, value=0.0
    )
    given = {"X": f.reshaped(table, [-1, *rest]), "Index": numbers, "Out@GRAD": rows}
    gradient: Any = lookup("gather_grad")
    outs = f.plain(gradient(), {s: f.value(v) for s, v in given.items()}, {"X@GRAD"})
    return {"Out": divided(f, outs["X@GRAD"].variable, (height, *rest))}


def rows_of_each_table(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """Rows of the table of each example, by numbers that all share or that are its own."""
    table, ids = ins["W"], ins["Ids"]
    if not table.is_batched or op.padding_idx != -1 or -1 in (*table.shape, *ids.shape):
        return None
    rows = f.gather(table, f.reshape(ids, shape=[-1]))
    shape = op.ids_shape(ids.shape)
    return {"Out": f.reshape(rows, shape=[*shape, table.shape[1]])}
