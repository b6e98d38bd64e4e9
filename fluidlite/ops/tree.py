"""Convolution over trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from ..errors import OutOfRangeError
from ..opdef.annotations import Array, Specs, Value
from ..opdef.attribute import REQUIRED, need_least
from ..opdef.definition import Detached, Op
from ..opdef.spec import Spec, need_float, need_integer, need_ndim, need_shape, same_dtype


class tree_conv(Op):
    """Out = for each node of a tree, features of the nodes below it by weights of their places.

    A window holds a node and what is below it by fewer than ``max_depth`` edges.  A node's weights
    are a mixture of three matrices of Filter, by how far up and how far to the right it is in the
    window (Mou et al., Convolutional neural networks over tree structures, AAAI 2016).

    NodesVector: features of nodes, [batch, nodes, features].
    EdgeSet: edges (parent, child) of a tree for each of the batch, [batch, edges, 2]; nodes are
        counted from 1, the children of a node from left to right, and the first edge with a 0 is
        behind the last one.
    Filter: [features, 3, size, filters].
    Out: [batch, nodes, size, filters]; 0 for nodes that are not in the tree.
    max_depth: how many layers of nodes a window has; at least 2.
    """

    signature = "NodesVector, EdgeSet!, Filter -> Out"
    max_depth: int = 2
    lod: ClassVar[str | None] = None

    def infer(self, NodesVector: Spec, EdgeSet: Spec, Filter: Spec) -> Specs:
        need_float(NodesVector=NodesVector)
        need_integer(EdgeSet=EdgeSet)
        same_dtype(NodesVector=NodesVector, Filter=Filter)
        need_least(self, 2, "max_depth")
        need_ndim(3, NodesVector=NodesVector, EdgeSet=EdgeSet)
        need_ndim(4, Filter=Filter)
        batch, nodes, features = NodesVector.shape
        edges, filters = (batch, EdgeSet.shape[1], 2), (features, 3, *Filter.shape[2:])
        need_shape("EdgeSet", EdgeSet, edges, "for NodesVector", NodesVector)
        need_shape("Filter", Filter, filters, "for NodesVector", NodesVector)
        return NodesVector.with_shape([batch, nodes, *Filter.shape[2:]])

    def expand(self, f: Any, NodesVector: Value, EdgeSet: Value, Filter: Value) -> Value:
        batch, nodes, features = NodesVector.shape
        size, filters = Filter.shape[2:]
        places = f.tree_places(EdgeSet, nodes=nodes, max_depth=self.max_depth)
        places = f.cast(places, in_dtype=places.dtype, out_dtype=NodesVector.dtype)
        windows = f.matmul(places, NodesVector)  # [batch, nodes * 3, features]
        windows = f.reshape(windows, shape=[batch * nodes, 3 * features])
        weights = f.transpose(Filter, axis=[1, 0, 2, 3])
        weights = f.reshape(weights, shape=[3 * features, size * filters])
        return f.reshape(f.matmul(windows, weights), shape=[batch, nodes, size, filters])


class tree_places(Detached):
    """Out = how much of each of three matrices a node gets in the window of each node of a tree.

    EdgeSet: as of `tree_conv`.
    Out: float64, [batch, nodes * 3, nodes]: for each node and matrix the shares of all nodes.
    nodes: how many nodes the features are of.
    max_depth: as of `tree_conv`.
    """

    signature = "EdgeSet! -> Out"
    nodes: int = REQUIRED
    max_depth: int = REQUIRED

    def infer(self, EdgeSet: Spec) -> Specs:
        return EdgeSet.with_shape([EdgeSet.shape[0], self.nodes * 3, self.nodes]).with_dtype(
            "float64"
        )

    def run(self, xp: Any, EdgeSet: Array) -> Array:
        out = xp.zeros((len(EdgeSet), self.nodes, 3, self.nodes))
        for shares, edges in zip(out, EdgeSet.tolist()):
            children, count = self.tree(edges)
            for root in range(1, count + 1):
                for node, of_matrices in self.window(children, root):
                    shares[root - 1, :, node - 1] = of_matrices
        return xp.reshape(out, (len(out), -1, self.nodes))

    def tree(self, edges: list[Any]) -> tuple[Any, ...]:
        """The children of each node, and how many nodes there are."""
        children = {}
        for parent, child in edges:
            if parent == 0 or child == 0:
                break
            for node in (parent, child):
                if not 1 <= node <= self.nodes:
                    raise OutOfRangeError(
                        f"expected nodes in [1, {self.nodes}], those with features, in EdgeSet, "
                        f"got the edge {[parent, child]}"
                    )
            children.setdefault(parent, []).append(child)
        # as in fluid, edges behind the last one count as nodes, too
        count = 1 + sum(1 for parent, child in edges if parent and child)
        return children, min(count, self.nodes)

    def window(self, children: dict[Any, Any], root: int) -> Iterator[Any]:
        """The nodes of the window of a node, each with its shares of the three matrices."""
        yield root, (0.0, 0.0, 1.0)
        layer, seen = [root], {root}
        for depth in range(1, self.max_depth):
            top = (self.max_depth - depth) / self.max_depth
            below = []
            for parent in layer:
                siblings = children.get(parent, ())
                for k, node in enumerate(siblings):
                    if node in seen:
                        continue
                    seen.add(node)
                    below.append(node)
                    across = k / (len(siblings) - 1) if len(siblings) > 1 else 0.5
                    one = (1 - top) * across
                    yield node, (one, (1 - top) * (1 - one), top)
            if not below:
                return
            layer = below
