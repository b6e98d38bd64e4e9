"""Places for the nodes of a picture in a file: rows by who reads whom, and columns by role.

The page that a browser shows is laid out by dagre; a file has no browser to lay it out.  Networkx
finds the rows.
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
_GAP = 22.0  # between nodes of a row
_DROP = 44.0  # between rows
_MARGIN = 20.0
_ASIDE = 90.0  # between what computes and what updates
_ROW = 8  # nodes without edges that stand in a row
_UPDATES = ("optimize", "learning rate")


@dataclass
class PlacedNode:
    """Where a node stands."""

    node: SceneNode
    width: float
    height: float
    x: float = 0.0  #: of its middle
    y: float = 0.0  #: of its upper edge

    @property
    def column(self) -> int:
        """Forward operators stand on the left, backward ones beside, what updates on the right."""
        return 2 if self.node.role in _UPDATES else int(self.node.role == "backward")


class Placing:
    """The nodes of a scene and their places.

    Args:
        scene: what is drawn.
    """

    def __init__(self, scene: Scene) -> None:
        self.boxes: list[PlacedNode] = [_box(node) for node in scene.nodes]
        self.links: list[Link] = [edge for edge in scene.edges if edge.kind != "reads"]
        computing = [k for k, box in enumerate(self.boxes) if box.column < 2]
        updating = [k for k, box in enumerate(self.boxes) if box.column == 2]
        parts = [self._rows(numbers) for numbers in (computing, updating)]
        heights = [sum(self._height(row) + _DROP for row in rows) - _DROP for rows in parts]
        height = max(20.0, *heights)
        for rows, own in zip(parts, heights):
            y = _MARGIN + (height - own) / 2
            for row in rows:
                for k in row:
                    self.boxes[k].y = y
                y += self._height(row) + _DROP
        left = _MARGIN
        for column, rows in enumerate((parts[0], parts[0], parts[1])):
            own_rows = [[k for k in row if self.boxes[k].column == column] for row in rows]
            width = max((self._width(row) for row in own_rows), default=0.0)
            for row in own_rows:
                x = left + (width - self._width(row)) / 2
                for k in row:
                    self.boxes[k].x = x + self.boxes[k].width / 2
                    x += self.boxes[k].width + _GAP
            if width:
                left += width + (_GAP if column == 0 else _ASIDE)
        right = max((box.x + box.width / 2 for box in self.boxes), default=0.0)
        self.width: float = max(right, _MARGIN + 120.0) + _MARGIN
        self.height: float = height + 2 * _MARGIN

    def is_aside(self, link: Link) -> bool:
        """Whether an edge leads sideways: to what updates, or to a gradient."""
        a, b = self.boxes[link.source].column, self.boxes[link.target].column
        return link.kind == "gradient" or (a == 2) != (b == 2)

    def _rows(self, numbers: list[int]) -> list[list[int]]:
        """Nodes by row, none above what it reads; those without edges in rows of their own."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(numbers)
        own = set(numbers)
        for link in self.links:
            if link.source in own and link.target in own:
                # between backward operators the edges are turned round, so that gradients stand
                # beside the operators that they are gradients of
                ends = (link.source, link.target)
                graph.add_edge(*(ends[::-1] if link.kind == "back" else ends))
        level: dict[int, int] = {}
        parts = nx.condensation(graph)  # folded groups may read each other
        for number, generation in enumerate(nx.topological_generations(parts)):
            for part in generation:
                level.update(dict.fromkeys(parts.nodes[part]["members"], number))
        for k in sorted(level, key=lambda k: -level[k]):
            below = [level[b] for b in graph.successors(k)]
            if below and not graph.in_degree(k):  # stands right above what reads it
                level[k] = max(min(below) - 1, 0)
        found: list[list[int]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
        for k in numbers:
            found[level[k]].append(k)
        return [row for each in found for row in _split(each, graph) if row]

    def _height(self, row: Sequence[int]) -> float:
        return max(self.boxes[k].height for k in row)

    def _width(self, row: Sequence[int]) -> float:
        return sum(self.boxes[k].width + _GAP for k in row) - _GAP if row else 0.0


def _split(row: list[int], graph: networkx.DiGraph) -> Iterator[list[int]]:
    """A row; several where many nodes have no edges."""
    alone = [k for k in row if not graph.degree(k)]
    joined = [k for k in row if graph.degree(k)]
    room = max(_ROW - len(joined), 0)
    yield joined + alone[:room]
    for start in range(room, len(alone), _ROW):
        yield alone[start : start + _ROW]


def _box(node: SceneNode) -> PlacedNode:
    widest = max([len(node.title) * LETTER, *(len(line) * SMALL_LETTER for line in node.lines)])
    return PlacedNode(node, widest + 26.0, 30.0 + LINE * len(node.lines))
