"""A sweep of cotangents back through recorded nodes.

The youngest node comes first, so that all that flows into a node has arrived when it is reached.
Nothing here recurses.  What a node is, and how cotangents pass it, is up to who recorded it: a tape
of values, or eager tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Protocol


class RecordedNode(Protocol):
    """An operator that was applied."""

    count: int  #: nodes that were made later have larger ones


class NodeOutput:
    """One output of a node that has several.

    Args:
        node: which has several outputs.
        index: of the output: something hashable.
    """

    __slots__ = ("index", "node")

    def __init__(self, node: Any, index: Any) -> None:
        self.node: Any = node
        self.index: Any = index

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, NodeOutput) and self.node is other.node and self.index == other.index
        )

    def __hash__(self) -> int:
        return hash((id(self.node), self.index))

    def __repr__(self) -> str:
        return f"<output {self.index} of {repr(self.node)[1:]}"


class CotangentSweep:
    """Cotangents on their way: those of nodes, added up until the node comes, and of leaves.

    An edge, where a cotangent goes, is a node with one output, a :class:`NodeOutput` of one with
    several, or a leaf, which is anything else that is hashable.

    Args:
        wanted: edges to nodes whose cotangents are to be found.
    """

    #: the class of nodes
    nodes: type

    def __init__(self, wanted: frozenset[Any] = frozenset()) -> None:
        self.wanted = wanted
        self.pending: dict[Any, Any] = {}
        self.heap: list[tuple[int, Any]] = []
        self.leaves: dict[Any, Any] = {}
        self.found: dict[Any, Any] = {}  #: cotangents of wanted edges

    def sum(self, a: Any, b: Any) -> Any:
        """The sum of two cotangents."""
        raise NotImplementedError

    def deliver(self, edge: Any, cotangent: Any) -> None:
        """Add a cotangent to those of an edge."""
        kind, pending = type(edge), self.pending
        if kind is self.nodes:
            old = pending.get(edge)
            if old is None:
                pending[edge] = cotangent
                heappush(self.heap, (-edge.count, edge))
            else:
                pending[edge] = self.sum(old, cotangent)
        elif kind is NodeOutput:
            node, index = edge.node, edge.index
            several = pending.get(node)
            if several is None:
                several = pending[node] = {}
                heappush(self.heap, (-node.count, node))
            old = several.get(index)
            several[index] = cotangent if old is None else self.sum(old, cotangent)
        else:
            old = self.leaves.get(edge)
            self.leaves[edge] = cotangent if old is None else self.sum(old, cotangent)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """The nodes that something flows to, each with its cotangent; of one with several outputs
        with a dictionary of them by index.
        """
        heap, pending = self.heap, self.pending
        while heap:
            node = heappop(heap)[1]
            yield node, pending.pop(node)

    def note(self, node: RecordedNode, cotangent: Any) -> None:
        """Remember the cotangents of wanted edges to a node."""
        if not isinstance(cotangent, dict):
            if node in self.wanted:
                self.found[node] = cotangent
            return
        for edge in self.wanted:
            if type(edge) is NodeOutput and edge.node is node:
                self.found[edge] = cotangent.get(edge.index)
