"""What of a program is seen in a picture: nodes, folded groups among them, and edges between."""

from __future__ import annotations

from dataclasses import dataclass

from .folding import VISIBLE, Folding, Group
from .graph import ROLES, ProgramGraph, Use
from .html import short_type

_LONGEST = 34  # letters of a name
_PARAMETERS = 3  # in a node


@dataclass(frozen=True)
class SceneNode:
    """What is drawn as one."""

    title: str
    lines: tuple[str, ...]
    role: str  #: one of the roles, or "data"
    is_group: bool


@dataclass(frozen=True)
class Link:
    """An edge between nodes.

    Kinds: "flow"; "back" between backward operators; "reads" from a forward operator to a backward
    one that uses its values; "gradient" from an operator to its gradient.
    """

    source: int  #: position of the node
    target: int
    kind: str


class Scene:
    """What of a program is seen at first.

    Args:
        graph: the program.
        visible: how many nodes there may be; what is more is folded.
    """

    def __init__(self, graph: ProgramGraph, visible: int = VISIBLE) -> None:
        self.graph = graph
        self.nodes: list[SceneNode] = []
        self._stands_for: dict[int, int] = {}  # operator -> position of its node
        folding = Folding(graph, visible)
        for item in folding.items():
            for op in item.ops() if isinstance(item, Group) else (item,):
                self._stands_for[op] = len(self.nodes)
            self.nodes.append(self._group(item) if isinstance(item, Group) else self._op(item))
        links: dict[tuple[int, int], str] = {}
        self._add_data(links)
        for source, target, _ in graph.edges:
            a, b = self._stands_for[source], self._stands_for[target]
            if a != b:
                kind = _kind(graph.roles[source], graph.roles[target])
                if links.get((a, b), "reads") == "reads":
                    links[a, b] = kind
        for gradient, forward in graph.forward_of.items():
            a, b = self._stands_for[forward], self._stands_for[gradient]
            if a != b and links.get((a, b), "reads") == "reads":
                links[a, b] = "gradient"
        self.edges: list[Link] = [Link(a, b, kind) for (a, b), kind in links.items()]

    def _add_data(self, links: dict[tuple[int, int], str]) -> None:
        """Nodes for what is fed, where forward operators read it."""
        places: dict[int, int] = {}
        for number, reader in self.graph.given:
            use = self.graph.variables[number]
            if not use.variable.is_data or self.graph.roles[reader] == "backward":
                continue
            if number not in places:
                places[number] = len(self.nodes)
                lines = (short_type(use.variable),)
                self.nodes.append(SceneNode(shortened(use.variable.name), lines, "data", False))
            links[places[number], self._stands_for[reader]] = "flow"

    def _group(self, group: Group) -> SceneNode:
        role = group.role or ROLES[0]
        return SceneNode(
            shortened(group.label), (f"{len(list(group.ops()))} operators",), role, True
        )

    def _op(self, number: int) -> SceneNode:
        graph = self.graph
        op, role = graph.ops[number], graph.roles[number]
        lines = []
        parameters = [(slot, use) for slot, use in self._uses(number, "inputs") if use.is_parameter]
        if role == "optimize":
            lines = [f"updates {shortened(use.variable.name)}" for _, use in parameters[:1]]
        else:
            written = [use for _, use in self._uses(number, "outputs")]
            lines = [f"\u2192 {_named(use)}" for use in written[:1]]
            if role == "forward":
                lines += [f"{slot} {_named(use)}" for slot, use in parameters[:_PARAMETERS]]
        return SceneNode(shortened(op.type), tuple(lines), role, False)

    def _uses(self, number: int, side: str) -> list[tuple[str, Use]]:
        graph = self.graph
        op = graph.ops[number]
        found = [(slot, graph.variable_number(op.block, n)) for slot, n in graph.names(op, side)]
        return [(slot, graph.variables[k]) for slot, k in found if k is not None]


def shortened(text: str) -> str:
    """A name with its middle left out where it is long."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    if len(text) <= _LONGEST:
        return text
    half = (_LONGEST - 1) // 2
    return f"{text[:half]}\u2026{text[-half:]}"


def _named(use: Use) -> str:
    return f"{shortened(use.variable.name)} {short_type(use.variable)}"


def _kind(source: str, target: str) -> str:
    if source == target == "backward":
        return "back"
    return "reads" if (source, target) == ("forward", "backward") else "flow"
