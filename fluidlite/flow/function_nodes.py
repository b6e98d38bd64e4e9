"""What gave a tensor, as OneFlow shows it."""

from __future__ import annotations

from typing import Any

from ..eager.sweep import edges_of, node_of
from . import printing


class FunctionNode:
    """The operator that gave a tensor, or the place where a leaf collects its gradient.

    Args:
        source: a node, an output of one, or a leaf.

    >>> x = fluid.flow.ones(2, requires_grad=True)
    >>> node = (x * 2).exp().grad_fn
    >>> node.name(), [each.name() for each in node.next_functions]
    ('exp_backward', ['scalar_mul_backward'])
    """

    __slots__ = ("_node", "_source")

    def __init__(self, source: Any) -> None:
        self._node = node_of(source)
        self._source: Any = source if self._node is None else self._node

    def name(self) -> str:
        """What OneFlow calls it."""
        node = self._node
        return "accumulate_grad" if node is None else f"{printing.operator_name(node)}_backward"

    @property
    def next_functions(self) -> list[FunctionNode]:
        """What gave the inputs that want gradients; nothing where a gradient released them."""
        node = self._node
        return [] if node is None or node.edges is None else [*map(FunctionNode, edges_of(node))]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionNode) and self._source is other._source

    def __hash__(self) -> int:
        return hash(id(self._source))

    def __repr__(self) -> str:
        place = "" if self._node is None else f" called at {self._node.site}"
        return f"<{self.name()}{place}>"
