"""Places for the nodes of a picture: in layers, by who reads whom, with few crossings.

Networkx finds the layers; the order in them follows the mean place of neighbours (Sugiyama and
others, Methods for visual understanding of hierarchical system structures, IEEE Transactions on
Systems, Man and Cybernetics 11(2), 1981).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .scene import Link, Scene, SceneNode

if TYPE_CHECKING:
    import networkx

LETTER = 7.2  #: width of a letter of a title
SMALL_LETTER = 6.1  #: of the other lines
LINE = 15.0  #: height of a line
_GAP = 22.0  # between nodes of a layer
_DROP = 44.0  # between layers
_MARGIN = 20.0
_ASIDE = 90.0  # between what computes and what updates
_SWEEPS = 6
_ROW = 8  # nodes without edges that stand in a row
_UPDATES = ("optimize", "learning rate")


@dataclass
class Box:
    """Where a node stands."""

    node: SceneNode
    width: float
    height: float
    x: float = 0.0  #: of its middle
    y: float = 0.0  #: of its upper edge
    layer: int = 0


class Placing:
    """Boxes and their places.

    Args:
        scene: what is drawn.
    """

    def __init__(self, scene: Scene) -> None:
        self.boxes = [_box(node) for node in scene.nodes]
        self.links: list[Link] = [edge for edge in scene.edges if edge.kind != "reads"]
        columns: tuple[list[int], list[int]] = ([], [])
        for k, box in enumerate(self.boxes):
            columns[box.node.role in _UPDATES].append(k)
        parts = [_Column(self.boxes, numbers, self.links) for numbers in columns if numbers]
        height = max((part.height for part in parts), default=20.0)
        left = _MARGIN
        for part in parts:
            part.shift(left, _MARGIN + (height - part.height) / 2)
            left += part.width + _ASIDE
        self.width = max(left - _ASIDE, 120.0) + _MARGIN
        self.height = height + 2 * _MARGIN

    def is_aside(self, link: Link) -> bool:
        """Whether an edge leads from one column to the other."""
        ends = (self.boxes[link.source], self.boxes[link.target])
        return link.kind == "gradient" or len({b.node.role in _UPDATES for b in ends}) == 2


class _Column:
    """Nodes in layers.  What updates parameters has a column of its own.

    Args:
        boxes: of the whole picture.
        numbers: which of them.
        links: of the whole picture.
    """

    def __init__(self, boxes: list[Box], numbers: list[int], links: Sequence[Link]) -> None:
        self.boxes = boxes
        self._numbers = numbers
        own = set(numbers)
        self._links = [e for e in links if e.source in own and e.target in own]
        #: edges downwards: those between backward operators are turned round, so that gradients
        #: stand beside the operators that they are gradients of
        self._down = [
            (e.target, e.source) if e.kind == "back" else (e.source, e.target) for e in self._links
        ]
        self._layers = self._in_layers()
        self._order()
        self._spread()
        self.width = max(boxes[k].x + boxes[k].width / 2 for k in numbers)
        self.height = max(boxes[k].y + boxes[k].height for k in numbers)

    def shift(self, x: float, y: float) -> None:
        """Move all of it."""
        for k in self._numbers:
            self.boxes[k].x += x
            self.boxes[k].y += y

    def _in_layers(self) -> list[list[int]]:
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self._numbers)
        for a, b in self._down:  # folded groups may read each other: such edges bind nothing
            graph.add_edge(a, b)
        for cycle in _cycles(graph):
            graph.remove_edge(*cycle)
        layers = [sorted(layer) for layer in nx.topological_generations(graph)]
        for number, layer in enumerate(layers):
            for k in layer:
                self.boxes[k].layer = number
        # what nothing leads to stands right above what reads it
        for k in reversed([k for layer in layers for k in layer]):
            below = [self.boxes[b].layer for b in graph.successors(k)]
            if below and not graph.in_degree(k):
                self.boxes[k].layer = min(below) - 1
        found: list[list[int]] = [[] for _ in layers]
        for k in self._numbers:
            found[self.boxes[k].layer].append(k)
        return [row for layer in found for row in _rows(layer, graph)]

    def _order(self) -> None:
        """Order each layer by where the neighbours are."""
        near: list[list[int]] = [[] for _ in self.boxes]
        for a, b in self._down:
            near[a].append(b)
            near[b].append(a)
        place = {k: float(i) for layer in self._layers for i, k in enumerate(layer)}
        for sweep in range(_SWEEPS):
            layers = self._layers if sweep % 2 == 0 else self._layers[::-1]
            for layer in layers:
                wanted = {
                    k: sum(place[n] for n in near[k]) / len(near[k]) if near[k] else place[k]
                    for k in layer
                }
                rank = _role_rank(self.boxes, layer)
                layer.sort(key=lambda k: (rank[k], wanted[k], k))
                for i, k in enumerate(layer):
                    place[k] = float(i)

    def _spread(self) -> None:
        """Give each node an x near its neighbours, and each layer a y."""
        y = 0.0
        for layer in self._layers:
            for k in layer:
                self.boxes[k].y = y
            y += max((self.boxes[k].height for k in layer), default=0.0) + _DROP
        near: list[list[int]] = [[] for _ in self.boxes]
        for (a, b), link in zip(self._down, self._links):
            if link.kind != "gradient":
                near[a].append(b)
                near[b].append(a)
        for layer in self._layers:
            self._pack(layer, {})
        for sweep in range(_SWEEPS):
            layers = self._layers if sweep % 2 == 0 else self._layers[::-1]
            for layer in layers:
                wanted = {
                    k: sum(self.boxes[n].x for n in near[k]) / len(near[k])
                    for k in layer
                    if near[k]
                }
                self._pack(layer, wanted)
        left = min(self.boxes[k].x - self.boxes[k].width / 2 for k in self._numbers)
        self.shift(-left, 0.0)

    def _pack(self, layer: Sequence[int], wanted: dict[int, float]) -> None:
        """Put a layer's nodes where they are wanted, as far as they have room: the mean of what
        they take when they give way to the right and to the left.
        """
        right, left = {}, {}
        edge = float("-inf")
        for k in layer:
            box = self.boxes[k]
            right[k] = max(wanted.get(k, box.x), edge + box.width / 2)
            edge = right[k] + box.width / 2 + _GAP
        edge = float("inf")
        for k in reversed(layer):
            box = self.boxes[k]
            left[k] = min(wanted.get(k, box.x), edge - box.width / 2)
            edge = left[k] - box.width / 2 - _GAP
        for k in layer:
            self.boxes[k].x = (right[k] + left[k]) / 2


def _rows(layer: list[int], graph: networkx.DiGraph) -> Iterator[list[int]]:
    """A layer; several rows of it where many nodes have no edges."""
    alone = [k for k in layer if not graph.degree(k)]
    joined = [k for k in layer if graph.degree(k)]
    room = max(_ROW - len(joined), 0)
    yield joined + alone[:room]
    for start in range(room, len(alone), _ROW):
        yield alone[start : start + _ROW]


def _role_rank(boxes: Sequence[Box], layer: Sequence[int]) -> dict[int, int]:
    """Forward operators stand on the left of backward ones."""
    return {k: boxes[k].node.role == "backward" for k in layer}


def _box(node: SceneNode) -> Box:
    widest = max([len(node.title) * LETTER, *(len(line) * SMALL_LETTER for line in node.lines)])
    return Box(node, widest + 26.0, 30.0 + LINE * len(node.lines))


def _cycles(graph: networkx.DiGraph) -> list[tuple[int, int]]:
    """Edges whose removal leaves no cycle: those that lead back in a walk through the graph."""
    found = []
    state: dict[int, int] = {}  # 1: on the way, 2: done
    for start in graph:
        if start in state:
            continue
        stack = [(start, iter(list(graph.successors(start))))]
        state[start] = 1
        while stack:
            node, following = stack[-1]
            for after in following:
                if after not in state:
                    state[after] = 1
                    stack.append((after, iter(list(graph.successors(after)))))
                    break
                if state[after] == 1:
                    found.append((node, after))
            else:
                state[node] = 2
                stack.pop()
    return found
