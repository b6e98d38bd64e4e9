"""Sweeps through a part of a graph that was computed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ArgumentError
from .nodes import GradNode
from .recording import TensorRecord
from .sweep import BackwardPass, node_of


class _Inside(BackwardPass):
    """A sweep through a part alone, which ends where cotangents leave it.

    Args:
        recording: whether it is recorded.
        edges: where they leave it.
        results: the class of tensors that are made.
    """

    def __init__(self, recording: bool, edges: Sequence[Any], results: type[TensorRecord]) -> None:
        # nothing is released: the nodes at the ends belong to another sweep
        ends = [edge for edge in edges if edge is not None]
        super().__init__(recording, False, wanted=frozenset(ends), results=results)
        self._ends = {node_of(edge) for edge in ends}

    def pull(self, node: GradNode, cotangent: Any, take: tuple[bool, ...] | None) -> Any:
        return [] if node in self._ends else super().pull(node, cotangent, take)

    def hooked(self, node: GradNode, cotangent: Any) -> Any:
        return cotangent if node in self._ends else super().hooked(node, cotangent)


def pulled_through(
    sweep: BackwardPass,
    node: GradNode,
    outs: Sequence[Any],
    cotangent: Mapping[int, Any],
    take: Any,
) -> list[tuple[int, Any]]:
    """Pairs of a source's place and its cotangent, for what was computed again.

    Args:
        sweep: goes back through the node.
        node: stands for the part.
        outs: what the part gives now, with the graph up to the node's edges.
        cotangent: by number of the output.
        take: for each source, whether to compute its cotangent; all that may be when None.

    Raises:
        ArgumentError: the part gives something else than before.
    """
    inside = _Inside(sweep.recording, node.edges, sweep.results)
    for index, value in cotangent.items():
        if index >= len(outs) or outs[index].array.shape != value.shape:
            raise ArgumentError(
                f"the function of a checkpoint gives something else when it is called again; "
                f"it was called at {node.site}"
            )
        edge = outs[index].edge
        if edge is not None:
            inside.deliver(edge, value)
    inside.run()
    pairs, passed = [], {None}
    for place, edge in enumerate(node.edges):
        if edge in passed:  # one tensor in two places has one cotangent
            continue
        passed.add(edge)
        value = (inside.leaves if node_of(edge) is None else inside.found).get(edge)
        if value is not None and (take is None or take[place]):
            pairs.append((place, value))
    return pairs
