"""Parts of graphs: neighbours that are drawn, and nodes that are numbered anew.

A graph lies as its neighbours do: those of the first node, of the second one, and so on (``Row``),
and where those of each begin (``Col_Ptr``).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import OutOfRangeError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import attr
from ..opdef.definition import ValueShaped
from ..opdef.spec import Spec, agree, need_integer, same_dtype, size_of


class graph_reindex(ValueShaped):
    """The nodes of a part of a graph, numbered anew in the order in which they are named.

    X: the nodes, int32 or int64, each once.
    Neighbors: the neighbours of the first one, of the second one, ...
    Count: how many each has, int32; for several kinds of edges one after the other.
    HashTable_Value, HashTable_Index: accepted.
    Reindex_Src: where each edge begins, in new numbers.
    Reindex_Dst: where it ends.
    Out_Nodes: the old numbers of all nodes.
    """

    signature = (
        "X!, Neighbors!, Count!, HashTable_Value?!, HashTable_Index?! -> "
        "Reindex_Src, Reindex_Dst, Out_Nodes"
    )
    grad = None

    def infer(self, X: Spec, Neighbors: Spec, Count: Spec) -> Specs:
        need_integer(X=X, Neighbors=Neighbors, Count=Count)
        same_dtype(X=X, Neighbors=Neighbors)
        edges = X.with_shape([size_of(Neighbors.shape)])
        return edges, edges, X.with_shape([-1])

    def run(self, xp: Any, X: Array, Neighbors: Array, Count: Array) -> Arrays:
        nodes, beside, counts = X.reshape(-1), Neighbors.reshape(-1), Count.reshape(-1)
        kinds, rest = divmod(len(counts), max(1, len(nodes)))
        if rest or (counts < 0).any() or counts.sum() != len(beside):
            raise ShapeError(
                f"expected in Count how many of {len(beside)} neighbours each of {len(nodes)} "
                f"nodes has, got {len(counts)} numbers of the sum {counts.sum()}"
            )
        ends = np.repeat(np.tile(np.arange(len(nodes), dtype=X.dtype), kinds), counts)
        known, numbers = _numbered(np.concatenate([nodes, beside]))
        if len(known) and len(np.unique(nodes)) < len(nodes):
            raise OutOfRangeError("expected each node once in X, got one twice")
        return numbers[len(nodes) :].astype(X.dtype), ends, known


def _numbered(nodes: Array) -> tuple[Array, Array]:
    """Nodes in the order of their first place, and the number of each in that order."""
    ascending, first, inverse = np.unique(nodes, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return ascending[order], rank[inverse.reshape(-1)]


def drawn(
    generator: Any, begins: Array, nodes: Array, most: int, weights: Array | None = None
) -> tuple[Array, Array]:
    """Where neighbours that are drawn without putting any back are, and how many of each node.

    Args:
        generator: a source of random numbers.
        begins: [nodes + 1]: where the neighbours of each begin.
        nodes: those whose neighbours are drawn.
        most: how many of each; all when it is below 0.
        weights: of neighbours; one of weight w is drawn before others as the smallest of times
            that are exponentially distributed with the rate w (Efraimidis and Spirakis, 2006).
    """
    if len(nodes) and not 0 <= nodes.min() <= nodes.max() < len(begins) - 1:
        raise OutOfRangeError(
            f"expected nodes from 0 to {len(begins) - 2}, got {nodes.min()} to {nodes.max()}"
        )
    first, counts = begins[nodes].astype(np.int64), np.diff(begins)[nodes].astype(np.int64)
    if (counts < 0).any():
        raise OutOfRangeError("expected where the neighbours of each node begin in ascending order")
    before = np.cumsum(counts) - counts
    owner = np.repeat(np.arange(len(nodes)), counts)
    places = np.arange(len(owner)) + np.repeat(first - before, counts)
    if most < 0 or not (counts > most).any():
        return places, counts
    times = generator.standard_exponential(len(places))
    if weights is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(weights[places] > 0, times / weights[places], np.inf)
    order = np.lexsort((times, owner))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - np.repeat(before, counts)
    return places[rank < most], np.minimum(counts, most)


class _DrawnNeighbours(ValueShaped, abstract=True):
    """Neighbours that are drawn."""

    random: ClassVar[bool] = True
    grad = None
    folds: ClassVar[bool] = False
    return_eids: bool = False

    def of_graph(self, row: Spec, begins: Spec, nodes: Spec, eids: Spec | None) -> None:
        """Check what a graph lies as."""
        need_integer(neighbours=row, beginnings=begins, nodes=nodes)
        if self.return_eids and eids is None:
            raise ShapeError("expected numbers of edges, since return_eids is True")
        if eids is not None and not agree(size_of(eids.shape), size_of(row.shape)):
            raise ShapeError(
                f"expected a number for each of {size_of(row.shape)} edges, got "
                f"{size_of(eids.shape)}"
            )

    def specs(self, row: Spec, nodes: Spec, eids: Spec | None) -> Specs:
        """Those of the neighbours, how many there are, and the numbers of edges."""
        some = row.with_shape([-1])
        counts = row.with_shape([size_of(nodes.shape)]).with_dtype(DType.INT32)
        return some, counts, some if self.return_eids else None

    def chosen(self, row: Array, places: Array, counts: Array, eids: Array) -> Arrays:
        """The results, of the places of what was drawn."""
        numbers = eids.reshape(-1)[places] if self.return_eids else None
        return row.reshape(-1)[places], counts.astype(np.int32), numbers


class graph_sample_neighbors(_DrawnNeighbours):
    """Out = some of the neighbours of nodes, drawn without putting any back.

    Row: the neighbours of the first node, of the second one, ...
    Col_Ptr: where those of each begin, and where the last ones end.
    X: the nodes.
    Eids: a number for each of Row.
    Perm_Buffer: accepted.
    Out_Count: how many neighbours each node has in Out, int32.
    Out_Eids: the Eids of Out, where ``return_eids`` asks for them.
    sample_size: how many of each node at most; all when -1.
    """

    signature = "Row!, Col_Ptr!, X!, Eids?!, Perm_Buffer?! -> Out, Out_Count, Out_Eids?"
    sample_size: int = -1
    flag_perm_buffer: bool = attr(False, inert=True)

    def infer(self, Row: Spec, Col_Ptr: Spec, X: Spec, Eids: Spec) -> Specs:
        self.of_graph(Row, Col_Ptr, X, Eids)
        return self.specs(Row, X, Eids)

    def run(self, xp: Any, rng: Any, Row: Array, Col_Ptr: Array, X: Array, Eids: Array) -> Arrays:
        found = drawn(rng(0), Col_Ptr.reshape(-1), X.reshape(-1), self.sample_size)
        return self.chosen(Row, *found, Eids)


class weighted_sample_neighbors(_DrawnNeighbours):
    """out_neighbors = some of the neighbours of nodes, those of large weights sooner than others.

    row: the neighbours of the first node, of the second one, ...
    colptr: where those of each begin, and where the last ones end.
    edge_weight: the weight of each of ``row``; those of none come last.
    input_nodes: the nodes.
    eids: a number for each of ``row``.
    out_count: how many neighbours each node has in ``out_neighbors``, int32.
    out_eids: the ``eids`` of ``out_neighbors``, where ``return_eids`` asks for them.
    sample_size: how many of each node at most; all when -1.
    """

    signature = (
        "row!, colptr!, edge_weight!, input_nodes!, eids?! -> out_neighbors, out_count, out_eids?"
    )
    sample_size: int = -1

    def infer(
        self, row: Spec, colptr: Spec, edge_weight: Spec, input_nodes: Spec, eids: Spec
    ) -> Specs:
        self.of_graph(row, colptr, input_nodes, eids)
        if not agree(size_of(edge_weight.shape), size_of(row.shape)):
            raise ShapeError(
                f"expected a weight for each of {size_of(row.shape)} edges, got "
                f"{size_of(edge_weight.shape)}"
            )
        return self.specs(row, input_nodes, eids)

    def run(self, xp, rng, row, colptr, edge_weight, input_nodes, eids) -> Arrays:
        nodes, weights = input_nodes.reshape(-1), edge_weight.reshape(-1)
        found = drawn(rng(0), colptr.reshape(-1), nodes, self.sample_size, weights)
        return self.chosen(row, *found, eids)


class graph_khop_sampler(_DrawnNeighbours):
    """The neighbours of nodes, those of these, and so on, numbered anew.

    Row: the neighbours of the first node, of the second one, ...
    Eids: a number for each of Row.
    Col_Ptr: where those of each begin, and where the last ones end.
    X: the nodes, each once.
    Out_Src: [edges, 1]: where each edge begins, in new numbers.
    Out_Dst: [edges, 1]: where it ends.
    Sample_Index: the old numbers of all nodes.
    Reindex_X: the new numbers of X.
    Out_Eids: the Eids of the edges, where ``return_eids`` asks for them.
    sample_sizes: for each step how many of each node at most; all when -1.
    """

    signature = "Row!, Eids?!, Col_Ptr!, X! -> Out_Src, Out_Dst, Sample_Index, Reindex_X, Out_Eids?"
    sample_sizes: list[int] = ()

    def infer(self, Row: Spec, Eids: Spec, Col_Ptr: Spec, X: Spec) -> Specs:
        self.of_graph(Row, Col_Ptr, X, Eids)
        edges, some = X.with_shape([-1, 1]), X.with_shape([-1])
        new = X.with_shape([size_of(X.shape)])
        return edges, edges, some, new, some if self.return_eids else None

    def run(self, xp: Any, rng: Any, Row: Array, Eids: Array, Col_Ptr: Array, X: Array) -> Arrays:
        nodes, generator = X.reshape(-1), rng(0)
        known = front = nodes
        ends, beside, edges = [nodes[:0]], [nodes[:0]], [np.zeros(0, np.int64)]
        for most in self.sample_sizes:
            places, counts = drawn(generator, Col_Ptr.reshape(-1), front, most)
            ends.append(np.repeat(front, counts))
            beside.append(Row.reshape(-1)[places])
            edges.append(places)
            reached, _ = _numbered(np.concatenate([known, beside[-1]]))
            known, front = reached, reached[len(known) :]
        begins = np.concatenate(beside)
        named = np.concatenate([nodes, begins, np.concatenate(ends)])
        _, numbers = _numbered(named)
        sources, targets = numbers[len(nodes) :].astype(X.dtype).reshape(2, -1, 1)
        new = np.arange(len(nodes), dtype=X.dtype)
        numbered = Eids.reshape(-1)[np.concatenate(edges)] if self.return_eids else None
        return sources, targets, known, new, numbered
