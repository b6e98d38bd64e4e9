"""What ``paddle.geometric`` has, as ``paddle.incubate`` spells it, and samples of several steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...eager.recording import eager
from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from ...opdef.operand import Operand
from .. import geometric
from ..geometric import segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "graph_khop_sampler", "graph_reindex", "graph_sample_neighbors", "graph_send_recv",
    "segment_max", "segment_mean", "segment_min", "segment_sum",
]  # fmt: skip

_INCUBATE = Spelling({})
graph_send_recv: Final = _INCUBATE(geometric.send_u_recv, "graph_send_recv", reduce_op="pool_type")


def _numbered(
    parts: tuple[Any, Any, Any], flag_buffer_hashtable: bool = False
) -> tuple[Any, Any, Any]:
    """The parts as they are.

    Args:
        parts: of a graph.
        flag_buffer_hashtable: accepted.
    """
    return parts


graph_reindex: Callable[..., tuple[Any, Any, Any]] = _INCUBATE(
    geometric.reindex_graph,
    "graph_reindex",
    order="x, neighbors, count, value_buffer, index_buffer, flag_buffer_hashtable, name",
    then=_numbered,
)


def _drawn(parts: tuple[Any, ...], flag_perm_buffer: bool = False) -> tuple[Any, ...]:
    """The neighbours as they are.

    Args:
        parts: what was drawn.
        flag_perm_buffer: accepted.
    """
    return parts


graph_sample_neighbors: Callable[..., tuple[Any, ...]] = _INCUBATE(
    geometric.sample_neighbors,
    "graph_sample_neighbors",
    order="row, colptr, input_nodes, eids, perm_buffer, sample_size, return_eids, "
    "flag_perm_buffer, name",
    then=_drawn,
)


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
        row: the neighbours of the first node, of the second one, ...
        colptr: [nodes + 1]: where those of each begin in ``row``.
        input_nodes: the nodes, each once.
        sample_sizes: for each step how many of each node at most; all when -1.
        sorted_eids: a number for each of ``row``.
        return_eids: whether to give the numbers of edges, too.
        name: accepted.

    Returns:
        [edges, 1]: where each edge begins and where it ends, in new numbers; the old numbers of
        all nodes; the new ones of ``input_nodes``; and the numbers of edges.

    Raises:
        ArgumentError: ``return_eids`` without ``sorted_eids``.
        OutOfRangeError: there is no such node.
    """
    if return_eids and sorted_eids is None:
        raise ArgumentError("graph_khop_sampler: expected sorted_eids, since return_eids is True")
    named = {"sample_sizes": sample_sizes, "return_eids": return_eids}
    found = eager.graph_khop_sampler(row, sorted_eids, colptr, input_nodes, **named)
    return found if return_eids else found[:4]


list_public_names(globals())
api_boundaries(globals())
