"""The nodes of a model of ONNX with its functions written out, counted before any is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import FileFormatError
from .functions import OnnxFunction, key_of

TIMES = 100  #: how many times the nodes that a file holds it may have with functions written out
Functions = Mapping[tuple[str, str, str], OnnxFunction]


def check_expansion(model: Any, functions: Functions, path: str, most: int, deepest: int) -> None:
    """Refuse a model whose functions call each other so that a few of them make very many nodes.

    Args:
        model: the message.
        functions: those of the model.
        path: what messages call the model.
        most: nodes that any model may have.
        deepest: how deep functions may lie in each other.

    Raises:
        FileFormatError: it would have more nodes, or functions lie deeper; names the function.
    """
    if not functions:
        return
    held = sum(1 for _ in _nodes(model.graph.node))
    held += sum(1 for each in functions.values() for _ in _nodes(each.nodes))
    counting = _Counting(functions, path, min(most, TIMES * held), deepest)
    counting.total("the graph", model.graph.node, 1)


class _Counting:
    def __init__(self, functions: Functions, path: str, most: int, deepest: int) -> None:
        self._functions, self._path = functions, path
        self._most, self._deepest = most, deepest
        self._known: dict[tuple[str, str, str], int] = {}

    def total(self, where: str, nodes: Iterable[Any], depth: int) -> int:
        """The number of nodes that some nodes are, written out."""
        if depth > self._deepest:
            raise FileFormatError(
                f"{self._path}: expected bodies and functions at most {self._deepest} deep in each "
                f"other, found more at {where}"
            )
        count = 0
        for node in _nodes(nodes):
            key = key_of(node)
            function = self._functions.get(key)
            count += 1
            if function is not None:
                if key not in self._known:
                    inner = self.total(f"the function {key[1]!r}", function.nodes, depth + 1)
                    self._known[key] = inner
                count += self._known[key]
            if count > self._most:
                which = where if function is None else f"the function {key[1]!r}"
                raise FileFormatError(
                    f"{self._path}: expected at most {self._most} nodes with all functions written "
                    f"out, found more at {which}"
                )
        return count


def _nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """Nodes, and those of the bodies of loops and branches among them."""
    left = list(nodes)
    while left:
        node = left.pop()
        yield node
        for attribute in node.attribute:
            left += attribute.g.node
            for graph in attribute.graphs:
                left += graph.node
