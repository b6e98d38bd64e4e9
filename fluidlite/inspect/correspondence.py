"""Whether two programs are the same but for names: a correspondence of their graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ground.quoting import escaping
from ..ir.operator import Operator
from ..ir.program import Program
from .network import Node, need_program, value_graph

if TYPE_CHECKING:
    import networkx


class Correspondence(NamedTuple):
    """Whether two programs are the same but for names, and which names stand for each other.

    >>> x = fluid.data("x", [None, 4])
    >>> y = fluid.layers.relu(x)
    >>> program = fluid.default_main_program()
    >>> both = fluid.inspect.correspondence(program, program.clone())
    """

    names: Mapping[
        str, str
    ]  #: of block 0, from the first program to the second; none if they differ
    differences: tuple[str, ...]  #: what one has that the other has not

    def __bool__(self) -> bool:
        return not self.differences

    @escaping
    def __str__(self) -> str:
        if self.differences:
            return "\n".join(self.differences)
        changed = [f"{a} is {b}" for a, b in self.names.items() if a != b]
        return "\n".join(["the same but for names", *changed]) if changed else "the same"


def correspondence(a: Program, b: Program) -> Correspondence:
    """Whether the block 0 of two programs compute the same in the same way, whatever variables are
    called and in which order operators that do not depend on each other stand.

    Args:
        a, b: the programs.

    >>> def net():
    ...     main = fluid.Program()
    ...     with fluid.program_guard(main, fluid.Program()):
    ...         fluid.layers.fc(fluid.data("x", [2, 4]), 3, act="relu")
    ...     return main
    >>> same = fluid.inspect.correspondence(net(), net())
    >>> bool(same), same.names["fc_0.w_0"]
    (True, 'fc_1.w_0')
    """
    import networkx as nx

    need_program(a)
    need_program(b)
    networks = [_ported(program) for program in (a, b)]
    labels = [_refined(network) for network in networks]
    differences = tuple(_missing(networks, labels))
    if differences:
        return Correspondence({}, differences)
    for network, known in zip(networks, labels):
        nx.set_node_attributes(network, known, "label")
    mapping = nx.vf2pp_isomorphism(*networks, node_label="label")
    if mapping is None:
        return Correspondence({}, ("the operators are the same, and read each other otherwise",))
    return Correspondence(
        {n[0]: m[0] for n, m in mapping.items() if n[0] != "op" and len(n) == 2}, ()
    )


def _ported(program: Program) -> networkx.DiGraph[Any]:
    """The graph with a node between a value and an operator for each place in a slot."""
    import networkx as nx

    plain = value_graph(program)
    network: networkx.DiGraph[Any] = nx.DiGraph()
    for node, facts in plain.nodes(data=True):
        op = facts.get("operator")
        if op is None:
            variable = facts["variable"]
            form = "?" if variable is None else str(variable.spec)
            kind = "" if variable is None else f"{variable.is_data}{variable.persistable}"
            network.add_node(node, label=f"value {form} {kind}")
            continue
        network.add_node(node, label=_operator_label(op))
        for before in plain.predecessors(node):
            _add_ports(network, op, node, before, "inputs")
        for after in plain.successors(node):
            _add_ports(network, op, node, after, "outputs")
    return network


def _operator_label(op: Operator) -> str:
    return f"{op.type} {sorted((name, str(value)) for name, value in op.attrs.items())}"


def _add_ports(
    network: networkx.DiGraph[Any], op: Operator, node: Node, value: Node, side: str
) -> None:
    places = [
        f"{slot}[{k}]"
        for slot, names in getattr(op, side).items()
        for k, name in enumerate(names)
        if name == value[0]
    ] or ["within"]
    for spot in places:
        port = ("port", *node, side, spot, *value)
        network.add_node(port, label=f"{side} {spot}")
        ends = (value, port, node) if side == "inputs" else (node, port, value)
        network.add_edges_from(pairwise(ends))


def _refined(network: networkx.DiGraph[Any]) -> dict[Any, str]:
    """Labels that tell nodes apart by what they follow from and by what follows from them: those of
    nodes that correspond are the same.
    """
    import hashlib

    import networkx as nx

    def digest(*texts: str) -> str:
        return hashlib.blake2b("\n".join(texts).encode(), digest_size=16).hexdigest()

    order = list(nx.topological_sort(network))
    plain = nx.get_node_attributes(network, "label")
    behind: dict[Any, str] = {}
    for node in order:
        behind[node] = digest(plain[node], *sorted(behind[n] for n in network.predecessors(node)))
    ahead: dict[Any, str] = {}
    for node in reversed(order):
        ahead[node] = digest(plain[node], *sorted(ahead[n] for n in network.successors(node)))
    return {node: digest(behind[node], ahead[node]) for node in order}


def _missing(networks: list[Any], labels: list[dict[Any, str]]) -> Iterator[str]:
    """What one program has that has no partner in the other."""

    counts = [Counter(known.values()) for known in labels]
    for k, side in enumerate(("first", "second")):
        spare = counts[k] - counts[1 - k]
        for node, label in labels[k].items():
            if spare.get(label, 0) > 0 and node[0] == "op":
                spare[label] -= 1
                kind = networks[k].nodes[node]["label"].partition(" ")[0]
                yield f"only in the {side}: operator {node[1]}: {kind}"
    if counts[0] != counts[1]:
        yield "variables have other shapes or element types, or are fed or stay otherwise"
