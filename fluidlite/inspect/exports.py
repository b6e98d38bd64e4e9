"""A program as a graph for other tools: DOT, Mermaid, networkx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError
from ..ground.docstrings import Family
from ..ground.quoting import dot_string, mermaid_string
from ..ir.program import Program
from .folding import Folding, Group, Item
from .graph import ProgramGraph
from .html import short_type
from .scene import Scene

if TYPE_CHECKING:
    import networkx

_MOST = 50  # nodes of a Mermaid diagram that can be read
_DOT_STYLES = {
    "forward": 'shape=box, fillcolor="#e8f2f9", color="#0072b2"',
    "backward": 'shape=box, style="filled,rounded", fillcolor="#fceee3", color="#c2500a"',
    "optimize": 'shape=octagon, fillcolor="#e4f4ee", color="#0b7d5a"',
    "learning rate": 'shape=box, style="filled,dashed", fillcolor="#f7eaf3", color="#9b4d82"',
}
_CONVERSIONS = Family({"program": "what to convert."}, raises="ArgumentError: it is no program.")


@_CONVERSIONS
def to_networkx(program: Program) -> networkx.MultiDiGraph[Any]:
    """A program as a networkx graph, with a node for each operator and each variable.

    Nodes are ``("op", block, position)`` and ``("var", block, name)``.  An operator has the
    attributes ``kind`` ("operator"), ``type``, ``role``, ``text``, ``namescope``, ``callsite``
    (``"file:line"`` or None) and ``attrs`` (a dictionary); a variable ``kind`` ("variable"),
    ``name``, ``shape``, ``dtype``, ``persistable``, ``is_data``, ``is_parameter``.  An edge from a
    variable to an operator, or the reverse, has the attribute ``slot``.  An edge from a forward
    operator to its gradient operator has ``kind`` "gradient", the others "data".

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.relu(x)
    >>> graph = fluid.inspect.to_networkx(fluid.default_main_program())
    >>> sorted(graph.nodes)
    [('op', 0, 0), ('var', 0, 'relu_0.tmp_0'), ('var', 0, 'x')]
    """
    import networkx as nx

    graph = _graph_of(program)
    network = nx.MultiDiGraph()
    for use in graph.variables:
        variable = use.variable
        network.add_node(
            ("var", variable.block.idx, variable.name),
            kind="variable",
            name=variable.name,
            shape=variable.shape if variable.has_shape else None,
            dtype=variable.dtype.plain if variable.has_dtype else None,
            persistable=variable.persistable,
            is_data=variable.is_data,
            is_parameter=use.is_parameter,
        )
    nodes = [("op", op.block.idx, graph.position(n)) for n, op in enumerate(graph.ops)]
    for node, op, role in zip(nodes, graph.ops, graph.roles):
        network.add_node(
            node,
            kind="operator",
            type=op.type,
            role=role,
            text=str(op),
            namescope=op.namescope,
            callsite=None if op.callsite is None else str(op.callsite),
            attrs=dict(op.attrs),
        )
        for side in ("inputs", "outputs"):
            for slot, name in graph.names(op, side):
                number = graph.variable_number(op.block, name)
                if number is None:
                    variable_node = ("var", op.block.idx, name)
                else:
                    found = graph.variables[number].variable
                    variable_node = ("var", found.block.idx, found.name)
                ends = (variable_node, node) if side == "inputs" else (node, variable_node)
                network.add_edge(*ends, kind="data", slot=slot)
    for gradient, forward in graph.forward_of.items():
        network.add_edge(nodes[forward], nodes[gradient], kind="gradient", slot=None)
    return network


@_CONVERSIONS
def to_dot(program: Program) -> str:
    """A program in the DOT language of Graphviz: roles in colours and shapes, blocks, name scopes
    and layers as clusters.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.relu(x)
    >>> print(fluid.inspect.to_dot(fluid.default_main_program()))
    digraph program {
    ...
    """
    graph = _graph_of(program)
    lines = [
        "digraph program {",
        "  rankdir=TB;",
        '  node [style=filled, fontname="monospace", fontsize=11];',
    ]
    lines += _dot_items(graph, Folding(graph).root)
    fed = {variable for variable, _ in graph.given if graph.variables[variable].variable.is_data}
    for number in sorted(fed):
        variable = graph.variables[number].variable
        label = dot_string(f"{variable.name}\n{short_type(variable)}")
        lines.append(f'  v{number} [label={label}, shape=ellipse, fillcolor="#eef0f2"];')
    for number, reader in graph.given:
        if number in fed:
            lines.append(f"  v{number} -> o{reader};")
    for source, target, number in graph.edges:
        tip = dot_string(graph.variables[number].variable.name)
        lines.append(f"  o{source} -> o{target} [tooltip={tip}];")
    return "\n".join([*lines, "}\n"])


def _dot_items(graph: ProgramGraph, root: Group) -> Iterator[str]:
    """Operators and clusters, without recursion."""
    stack: list[tuple[Item | str, int]] = [(child, 1) for child in reversed(root.children)]
    while stack:
        item, depth = stack.pop()
        indent = "  " * depth
        if isinstance(item, str):
            yield indent + item
        elif isinstance(item, Group):
            yield f"{indent}subgraph cluster_{item.number} {{"
            yield f'{indent}  label={dot_string(item.label)}; color="#99a3ad"; fontsize=10;'
            stack.append(("}", depth))
            stack += [(child, depth + 1) for child in reversed(item.children)]
        else:
            op = graph.ops[item]
            tip = dot_string(str(op))
            style = _DOT_STYLES[graph.roles[item]]
            yield f"{indent}o{item} [label={dot_string(op.type)}, {style}, tooltip={tip}];"


@_CONVERSIONS
def to_mermaid(program: Program, max_nodes: int = _MOST) -> str:
    """A program as a Mermaid flow chart, which many forges show in their documents.

    Args:
        max_nodes: what is more is folded, by role, name scope, layer and repeated part.

    Raises:
        ArgumentError: it is no program, or no node may be shown.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.relu(x)
    >>> print(fluid.inspect.to_mermaid(fluid.default_main_program()))
    flowchart TD
    ...
    """
    if max_nodes < 1:
        raise ArgumentError(f"expected at least one node, got max_nodes={max_nodes}")
    scene = Scene(_graph_of(program), max_nodes)
    lines = ["flowchart TD"]
    for number, node in enumerate(scene.nodes):
        text = mermaid_string("\n".join([node.title, *node.lines[:1]]))
        opening, closing = _MERMAID_SHAPES[node.role]
        name = "data" if node.role == "data" else node.role.replace(" ", "_")
        lines.append(f"  n{number}{opening}{text}{closing}:::{name}")
    for edge in scene.edges:
        arrow = "-.->" if edge.kind == "reads" else "-->"
        if edge.kind != "gradient":
            lines.append(f"  n{edge.source} {arrow} n{edge.target}")
    lines += [f"  classDef {name} {style}" for name, style in _MERMAID_STYLES.items()]
    return "\n".join(lines) + "\n"


_MERMAID_SHAPES = {
    "forward": ("[", "]"),
    "backward": ("(", ")"),
    "optimize": ("{{", "}}"),
    "learning rate": ("[/", "/]"),
    "data": ("([", "])"),
}
_MERMAID_STYLES = {
    "data": "fill:#eef0f2,stroke:#5d6670,color:#1d2126",
    "forward": "fill:#e8f2f9,stroke:#0072b2,color:#1d2126",
    "backward": "fill:#fceee3,stroke:#c2500a,color:#1d2126",
    "optimize": "fill:#e4f4ee,stroke:#0b7d5a,color:#1d2126",
    "learning_rate": "fill:#f7eaf3,stroke:#9b4d82,color:#1d2126",
}


def _graph_of(program: Program) -> ProgramGraph:
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a Program, got {program!r:.60} of type {type(program).__name__}"
        )
    return ProgramGraph(program)
