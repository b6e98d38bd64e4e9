"""Rows that are put together by numbers: segments, and messages along the edges of graphs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...eager.prepared import generator
from ...eager.recording import TensorRecord
from ...errors import ArgumentError, OutOfRangeError, UnsupportedError
from ...functions.creation import to_tensor, zeros_like
from ...functions.selection import gather, scatter_nd_add, where
from ...ground.docstrings import Family
from ...ground.public_names import list_public_names
from ...ground.spellings import given_first
from ...ground.tracebacks import api_boundaries
from ...opdef.operand import Operand

__all__ = [
    "graph_khop_sampler", "graph_reindex", "graph_sample_neighbors", "graph_send_recv",
    "segment_max", "segment_mean", "segment_min", "segment_sum",
]  # fmt: skip

_GRAPHS = Family(
    {
        "row": "the neighbours of the first node, of the second one, ...",
        "colptr": "[nodes + 1]: where those of each begin in ``row``.",
        "return_eids": "whether to give the numbers of what was drawn, too.",
    }
)
_POOLS = ("sum", "mean", "max", "min")


def _array(what: str, tensor: Any, kinds: str = "iu") -> Any:
    if not isinstance(tensor, TensorRecord):
        raise UnsupportedError(
            f"{what}: the number of rows depends on values, which variables of programs have not; "
            f"expected a tensor, got {tensor!r:.60}"
        )
    array = np.asarray(tensor.array)
    if array.dtype.kind not in kinds:
        raise ArgumentError(f"{what}: expected whole numbers, got {array.dtype}")
    return array


def _pooled(data: Any, numbers: Any, count: int, how: str) -> Any:
    """The rows of a tensor put together.

    Args:
        data: [N, ...].
        numbers: [N]: which row of the result each takes part in.
        count: how many rows the result has; those in which none takes part are zeros.
        how: "sum", "mean", "max" or "min".
    """
    places = to_tensor(numbers.astype("int64").reshape(-1, 1))
    zeros = to_tensor(np.zeros((count, *data.array.shape[1:]), data.array.dtype))
    if how in ("sum", "mean"):
        sums = scatter_nd_add(zeros, places, data)
        if how == "sum":
            return sums
        counts = np.maximum(np.bincount(numbers, minlength=count), 1).astype(data.array.dtype)
        shaped = to_tensor(counts.reshape(-1, *[1] * (data.array.ndim - 1)))
        return sums // shaped if data.array.dtype.kind in "iu" else sums / shaped
    array = np.asarray(data.array)
    reduce = np.maximum if how == "max" else np.minimum
    best = np.zeros(zeros.array.shape, array.dtype)
    order = np.argsort(numbers, kind="stable")
    present, starts = np.unique(numbers[order], return_index=True)
    if len(present):
        best[present] = reduce.reduceat(array[order], starts, axis=0)
    values = to_tensor(best)
    if array.dtype.kind in "iu":
        return values
    # the value as a constant; its gradient is that of the rows that are the best, each as a whole
    is_best = to_tensor(array == best[numbers])
    flowing = where(is_best, data - data.detach(), zeros_like(data))
    return values + scatter_nd_add(zeros, places, flowing)


def _of_segments(how: str, data: Operand, segment_ids: Operand, name: str | None = None) -> Any:
    """What is made of the rows that belong to one segment.

    Args:
        how: "sum", "mean", "max" or "min".
        data: [N, ...]; a tensor.
        segment_ids: [N], int32 or int64: the segment of each row, in order.
        name: accepted.

    Returns:
        [segments, ...]; zeros for those without rows.

    Raises:
        ArgumentError: there are more or fewer numbers than rows, or they are not in order.
    """
    what = f"segment_{how}"
    numbers = _array(what, segment_ids)
    rows = _array(what, data, "iuf")
    if numbers.ndim != 1 or len(numbers) != len(rows):
        raise ArgumentError(
            f"{what}: expected a number for each of {len(rows)} rows, got {numbers.shape}"
        )
    if len(numbers) and ((np.diff(numbers) < 0).any() or numbers[0] < 0):
        raise ArgumentError(f"{what}: expected numbers of segments in order, from 0 on")
    return _pooled(data, numbers, int(numbers[-1]) + 1 if len(numbers) else 0, how)


_SUM = """The sums of rows that belong to one segment.

>>> from fluidlite import paddle
>>> rows, numbers = paddle.to_tensor([1.0, 2.0, 4.0]), paddle.to_tensor([0, 0, 1])
>>> paddle.incubate.segment_sum(rows, numbers).tolist()
[3.0, 4.0]
"""
_OTHERS = "The {} of rows that belong to one segment."
segment_sum: Final = given_first(_of_segments, "sum", "segment_sum", _SUM)
segment_mean: Final = given_first(_of_segments, "mean", "segment_mean", _OTHERS.format("means"))
segment_max: Final = given_first(
    _of_segments, "max", "segment_max", _OTHERS.format("largest elements")
)
segment_min: Final = given_first(
    _of_segments, "min", "segment_min", _OTHERS.format("smallest elements")
)


def graph_send_recv(
    x: Operand,
    src_index: Operand,
    dst_index: Operand,
    pool_type: str = "sum",
    out_size: int | Operand | None = None,
    name: str | None = None,
) -> Any:
    """What comes to each node of a graph along its edges, put together.

    Args:
        x: [nodes, ...]; a tensor.
        src_index: [edges], int32 or int64: where each edge begins.
        dst_index: [edges]: where it ends.
        pool_type: "sum", "mean", "max" or "min".
        out_size: how many nodes the result has; as many as ``x`` when None, or 0 or less.
        name: accepted.

    Raises:
        ArgumentError: there is no such ``pool_type``.
        OutOfRangeError: an edge ends at a node that the result has not.
    """
    if pool_type not in _POOLS:
        raise ArgumentError(f"expected pool_type to be one of {_POOLS}, got {pool_type!r:.60}")
    starts, ends = _array("graph_send_recv", src_index), _array("graph_send_recv", dst_index)
    count = len(_array("graph_send_recv", x, "iuf"))
    if out_size is not None and int(out_size) > 0:  # type: ignore[arg-type]
        count = int(out_size)  # type: ignore[arg-type]
    if len(ends) and ends.max() >= count:
        raise OutOfRangeError(f"graph_send_recv: there is no node {ends.max()} of {count}")
    nodes: Any = x
    return _pooled(gather(nodes, to_tensor(starts)), ends, count, pool_type)


def graph_reindex(
    x: Operand,
    neighbors: Operand,
    count: Operand,
    value_buffer: Operand | None = None,
    index_buffer: Operand | None = None,
    flag_buffer_hashtable: bool = False,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """The nodes of a part of a graph, numbered anew in the order in which they are named.

    Args:
        x: the nodes, int32 or int64, each once.
        neighbors: the neighbours of the first one, of the second one, ...
        count: how many each has, int32; for several kinds of edges one behind the other.
        value_buffer, index_buffer, flag_buffer_hashtable, name: accepted.

    Returns:
        where each edge begins and where it ends, in new numbers, and the old numbers of all.
    """
    nodes, beside = _array("graph_reindex", x), _array("graph_reindex", neighbors)
    counts = _array("graph_reindex", count)
    places = {int(node): number for number, node in enumerate(nodes)}
    for node in beside:
        places.setdefault(int(node), len(places))
    begins = np.array([places[int(node)] for node in beside], nodes.dtype)
    own = np.tile(np.arange(len(nodes)), len(counts) // max(1, len(nodes)))
    ends = np.repeat(own, counts).astype(nodes.dtype)
    return to_tensor(begins), to_tensor(ends), to_tensor(np.array([*places], nodes.dtype))


@_GRAPHS
def graph_sample_neighbors(
    row: Operand,
    colptr: Operand,
    input_nodes: Operand,
    eids: Operand | None = None,
    perm_buffer: Operand | None = None,
    sample_size: int = -1,
    return_eids: bool = False,
    flag_perm_buffer: bool = False,
    name: str | None = None,
) -> tuple[Any, ...]:
    """Some of the neighbours of nodes, drawn without putting any back.

    Args:
        input_nodes: the nodes.
        eids: a number for each of ``row``.
        perm_buffer, flag_perm_buffer, name: accepted.
        sample_size: how many of each at most; all when -1.

    Returns:
        the neighbours, how many each node has, and their ``eids``.

    Raises:
        ArgumentError: ``return_eids`` without ``eids``.
    """
    if return_eids and eids is None:
        raise ArgumentError("graph_sample_neighbors: expected eids, since return_eids is True")
    beside, begins = _array("graph_sample_neighbors", row), _array("graph_sample_neighbors", colptr)
    drawn, counts = _drawn(begins, _array("graph_sample_neighbors", input_nodes), sample_size)
    found = to_tensor(beside.reshape(-1)[drawn]), to_tensor(counts.astype("int32"))
    if not return_eids:
        return found
    return *found, to_tensor(_array("graph_sample_neighbors", eids).reshape(-1)[drawn])


def _drawn(begins: Any, nodes: Any, most: int) -> tuple[Any, Any]:
    """Where neighbours that were drawn are, and how many there are of each node."""
    begins = begins.reshape(-1)
    places = []
    for node in nodes.reshape(-1):
        own = np.arange(begins[node], begins[node + 1])
        if 0 <= most < len(own):
            own = np.sort(generator.get().numpy.choice(own, most, replace=False))
        places.append(own)
    counts = np.array([len(own) for own in places], "int64")
    return np.concatenate(places).astype("int64") if places else np.zeros(0, "int64"), counts


@_GRAPHS
def graph_khop_sampler(
    row: Operand,
    colptr: Operand,
    input_nodes: Operand,
    sample_sizes: list[int],
    sorted_eids: Operand | None = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Any, ...]:
    """The neighbours of nodes, those of these, and so on, numbered anew.

    Args:
        input_nodes: the nodes, each once.
        sample_sizes: for each step how many of each node at most; all when -1.
        sorted_eids: a number for each of ``row``.
        name: accepted.

    Returns:
        [edges, 1]: where each edge begins and where it ends, in new numbers; the old numbers of
        all nodes; the new ones of ``input_nodes``; and the numbers of edges.

    Raises:
        ArgumentError: ``return_eids`` without ``sorted_eids``.
    """
    if return_eids and sorted_eids is None:
        raise ArgumentError("graph_khop_sampler: expected sorted_eids, since return_eids is True")
    beside, begins = _array("graph_khop_sampler", row), _array("graph_khop_sampler", colptr)
    nodes = _array("graph_khop_sampler", input_nodes).reshape(-1)
    places = {int(node): number for number, node in enumerate(nodes)}
    sources, ends, edges = [], [], []
    front = nodes
    for most in sample_sizes:
        drawn, counts = _drawn(begins, front, most)
        reached = beside.reshape(-1)[drawn]
        known = len(places)
        ends += [places[int(node)] for node in np.repeat(front, counts)]
        for node in reached:
            places.setdefault(int(node), len(places))
        sources += [places[int(node)] for node in reached]
        edges.append(drawn)
        front = np.array([*places], nodes.dtype)[known:]
    columns = [np.array(each, nodes.dtype).reshape(-1, 1) for each in (sources, ends)]
    whole = np.array([*places], nodes.dtype), np.arange(len(nodes), dtype=nodes.dtype)
    results = [to_tensor(each) for each in (*columns, *whole)]
    if return_eids:
        numbers = _array("graph_khop_sampler", sorted_eids).reshape(-1)
        results.append(to_tensor(numbers[np.concatenate(edges)]))
    return tuple(results)


list_public_names(globals())
api_boundaries(globals())
