"""``paddle.geometric`` of paddle 2.6: messages along the edges of graphs, segments, and samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..eager.recording import eager
from ..errors import ArgumentError
from ..functions.shaping import concat
from ..ground.docstrings import Family
from ..ground.public_names import list_public_names
from ..ground.spellings import given_first
from ..ground.tracebacks import api_boundaries
from ..opdef.operand import Operand
from .holders import hold

__all__ = [
    "reindex_graph", "reindex_heter_graph", "sample_neighbors", "segment_max", "segment_mean",
    "segment_min", "segment_sum", "send_u_recv", "send_ue_recv", "send_uv",
    "weighted_sample_neighbors",
]  # fmt: skip

_GRAPHS = Family(
    {
        "src_index": "[edges], int32 or int64: the node where each edge begins.",
        "dst_index": "[edges]: the node where it ends.",
        "reduce_op": 'how messages to one node are put together: "sum", "mean", "max" or "min".',
        "message_op": 'how two rows are joined: "add", "sub", "mul" or "div".',
        "out_size": "how many nodes the result has; as many as ``x`` when None, or 0 or less.",
        "row": "the neighbours of the first node, of the second one, ...",
        "colptr": "[nodes + 1]: where those of each begin in ``row``.",
        "input_nodes": "the nodes whose neighbours are drawn.",
        "sample_size": "how many of each at most; all when -1.",
        "eids": "a number for each of ``row``.",
        "return_eids": "whether to give the numbers of what was drawn, too.",
        "perm_buffer": "accepted.",
        "value_buffer": "accepted.",
        "index_buffer": "accepted.",
        "name": "accepted.",
    }
)
_LEAST = 1e-12  #: what is added to a divisor, as in paddle 2


def _choice(name: str, value: str, *choices: str) -> str:
    if value not in choices:
        raise ArgumentError(f"expected {name} to be one of {choices}, got {value!r:.60}")
    return value.upper()


def _pool(reduce_op: str) -> str:
    return _choice("reduce_op", reduce_op, "sum", "mean", "max", "min")


def _size(out_size: Any) -> dict[str, Any]:
    """The attribute, or the slot, that says how many nodes a result has."""
    if isinstance(out_size, Operand):
        return {"Out_size": out_size}
    return {"out_size": [0 if out_size is None else max(0, int(out_size))]}


def _message(message_op: str, y: Any) -> tuple[str, Any]:
    """A difference is the sum with the opposite, a quotient the product with the reciprocal."""
    how = _choice("message_op", message_op, "add", "sub", "mul", "div")
    if how == "SUB":
        return "ADD", -y
    return ("MUL", 1.0 / (y + _LEAST)) if how == "DIV" else (how, y)


@_GRAPHS
def send_u_recv(
    x: Operand,
    src_index: Operand,
    dst_index: Operand,
    reduce_op: str = "sum",
    out_size: int | Operand | None = None,
    name: str | None = None,
) -> Any:
    """What comes to each node of a graph along its edges, put together.

    Args:
        x: [nodes, ...]: what each node sends.

    Returns:
        [out_size, ...]; zeros where no edge ends.

    Raises:
        ArgumentError: there is no such ``reduce_op``.
        OutOfRangeError: an edge begins or ends at an unknown node.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([1.0, 2.0, 4.0])
    >>> begins, ends = paddle.to_tensor([0, 1, 2]), paddle.to_tensor([2, 2, 0])
    >>> paddle.geometric.send_u_recv(x, begins, ends).tolist()
    [4.0, 0.0, 3.0]
    """
    how = _pool(reduce_op)
    return eager.graph_send_recv(x, src_index, dst_index, reduce_op=how, **_size(out_size))


@_GRAPHS
def send_ue_recv(
    x: Operand,
    y: Operand,
    src_index: Operand,
    dst_index: Operand,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: int | Operand | None = None,
    name: str | None = None,
) -> Any:
    """What comes to each node of a graph along its edges, joined with what the edges have, and put
    together.

    Args:
        x: [nodes, ...]: what each node sends.
        y: [edges, ...]: what each edge has; its rows fit those of ``x`` by broadcasting.

    Returns:
        [out_size, ...]; zeros where no edge ends.

    Raises:
        ArgumentError: there is no such ``message_op`` or ``reduce_op``.
        OutOfRangeError: an edge begins or ends at an unknown node.

    >>> from fluidlite import paddle
    >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([10.0, 20.0])
    >>> begins, ends = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
    >>> paddle.geometric.send_ue_recv(x, y, begins, ends, "mul").tolist()
    [0.0, 50.0]
    """
    how, y = _message(message_op, y)
    pool = _pool(reduce_op)
    return eager.graph_send_ue_recv(
        x, y, src_index, dst_index, message_op=how, reduce_op=pool, **_size(out_size)
    )


@_GRAPHS
def send_uv(
    x: Operand,
    y: Operand,
    src_index: Operand,
    dst_index: Operand,
    message_op: str = "add",
    name: str | None = None,
) -> Any:
    """For each edge of a graph, what the node has where it begins, and that where it ends, joined.

    Args:
        x: [nodes, ...]: what nodes have where edges begin.
        y: [nodes, ...]: what they have where edges end; rows fit each other by broadcasting.

    Returns:
        [edges, ...].

    Raises:
        ArgumentError: there is no such ``message_op``.
        OutOfRangeError: an edge begins or ends at an unknown node.

    >>> from fluidlite import paddle
    >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([10.0, 20.0])
    >>> paddle.geometric.send_uv(x, y, paddle.to_tensor([0, 0]), paddle.to_tensor([0, 1])).tolist()
    [11.0, 21.0]
    """
    how, y = _message(message_op, y)
    return eager.graph_send_uv(x, y, src_index, dst_index, message_op=how)


def _of_segments(how: str, data: Operand, segment_ids: Operand, name: str | None = None) -> Any:
    """What is made of the rows that belong to one segment.

    Args:
        how: "SUM", "MEAN", "MAX" or "MIN".
        data: [N, ...]: int32, int64 or floats.
        segment_ids: [N], int32 or int64: the segment of each row, in ascending order.
        name: accepted.

    Returns:
        [segments, ...]; zeros for those without rows.

    Raises:
        ShapeError: there are more or fewer numbers than rows.
        OutOfRangeError: they are not in order.
    """
    return eager.segment_pool(data, segment_ids, pooltype=how)


_SUM = """The sums of rows that belong to one segment.

>>> from fluidlite import paddle
>>> rows, numbers = paddle.to_tensor([1.0, 2.0, 4.0]), paddle.to_tensor([0, 0, 1])
>>> paddle.geometric.segment_sum(rows, numbers).tolist()
[3.0, 4.0]
"""
_OTHERS = "The {} of rows that belong to one segment."
segment_sum: Final = given_first(_of_segments, "SUM", "segment_sum", _SUM)
segment_mean: Final = given_first(_of_segments, "MEAN", "segment_mean", _OTHERS.format("means"))
segment_max: Final = given_first(
    _of_segments, "MAX", "segment_max", _OTHERS.format("largest elements")
)
segment_min: Final = given_first(
    _of_segments, "MIN", "segment_min", _OTHERS.format("smallest elements")
)


@_GRAPHS
def reindex_graph(
    x: Operand,
    neighbors: Operand,
    count: Operand,
    value_buffer: Operand | None = None,
    index_buffer: Operand | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """The nodes of a part of a graph, numbered anew in the order in which they are named.

    Args:
        x: the nodes, int32 or int64, each once.
        neighbors: the neighbours of the first one, of the second one, ...
        count: how many each has, int32.

    Returns:
        where each edge begins and where it ends, in new numbers, and the old numbers of all.

    >>> from fluidlite import paddle
    >>> nodes, beside = paddle.to_tensor([5, 3]), paddle.to_tensor([9, 3, 5])
    >>> begins, ends, names = paddle.geometric.reindex_graph(
    ...     nodes, beside, paddle.to_tensor([2, 1], dtype="int32")
    ... )
    >>> begins.tolist(), ends.tolist(), names.tolist()
    ([2, 1, 0], [0, 0, 1], [5, 3, 9])
    """
    return eager.graph_reindex(x, neighbors, count, value_buffer, index_buffer)


@_GRAPHS
def reindex_heter_graph(
    x: Operand,
    neighbors: Sequence[Operand],
    count: Sequence[Operand],
    value_buffer: Operand | None = None,
    index_buffer: Operand | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """The nodes of a part of a graph with several kinds of edges, numbered anew.

    Args:
        x: the nodes, int32 or int64, each once.
        neighbors: for each kind of edges, the neighbours of the first node, of the second one, ...
        count: for each kind, how many each node has, int32.

    Returns:
        where each edge begins and where it ends, in new numbers, those of the first kind first,
        and the old numbers of all nodes.
    """
    beside: Any = concat(neighbors)  # type: ignore[arg-type]
    return eager.graph_reindex(x, beside, concat(count), value_buffer, index_buffer)  # type: ignore[arg-type]


_DRAWN = _GRAPHS.extended(
    {},
    returns="the neighbours, how many each node has, and their ``eids``.",
    raises="ArgumentError: ``return_eids`` without ``eids``.\n"
    "OutOfRangeError: there is no such node.",
)


def _drawn(
    function: str, operator: Any, inputs: Sequence[Any], size: int, eids: Any, return_eids: bool
) -> tuple[Any, ...]:
    """What an operator draws; its inputs have ``eids``, too."""
    if return_eids and eids is None:
        raise ArgumentError(f"{function}: expected eids, since return_eids is True")
    drawn: tuple[Any, ...] = operator(*inputs, sample_size=size, return_eids=return_eids)
    return drawn if return_eids else drawn[:2]


@_DRAWN
def sample_neighbors(
    row: Operand,
    colptr: Operand,
    input_nodes: Operand,
    sample_size: int = -1,
    eids: Operand | None = None,
    return_eids: bool = False,
    perm_buffer: Operand | None = None,
    name: str | None = None,
) -> tuple[Any, ...]:
    """Some of the neighbours of nodes, drawn without putting any back."""
    inputs = (row, colptr, input_nodes, eids, perm_buffer)
    operator = eager.graph_sample_neighbors
    return _drawn("sample_neighbors", operator, inputs, sample_size, eids, return_eids)


@_DRAWN
def weighted_sample_neighbors(
    row: Operand,
    colptr: Operand,
    edge_weight: Operand,
    input_nodes: Operand,
    sample_size: int = -1,
    eids: Operand | None = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Any, ...]:
    """Some of the neighbours of nodes, those of large weights sooner than others.

    Args:
        edge_weight: the weight of each of ``row``; those of none come last.
    """
    inputs = (row, colptr, edge_weight, input_nodes, eids)
    operator = eager.weighted_sample_neighbors
    return _drawn("weighted_sample_neighbors", operator, inputs, sample_size, eids, return_eids)


list_public_names(globals())
api_boundaries(globals())
hold(globals())
