"""A program as a networkx graph of values and operators, and what graphs tell of programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..errors import ArgumentError, UnknownVariableError, suggestion
from ..ground.quoting import escaping
from ..ir.analysis import fed_names, reads_of, writes_of
from ..ir.block import Block
from ..ir.costs import bytes_of
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.gradient import is_differentiable
from .folding import Folding
from .graph import ProgramGraph, role_of
from .stepping import Trace, place

if TYPE_CHECKING:
    import networkx

#: ``("op", position)``, or ``(name, how often the name was written before)``
Node: TypeAlias = tuple[str, int]
_SOURCE, _TARGET = ("from outside", -1), ("to outside", -1)


def value_graph(program: Program, block: int = 0) -> networkx.DiGraph[Any]:
    """The values and operators of a block as a networkx graph without circles.

    A value is ``(name, n)``: what a name holds that was written ``n`` times before.  An operator is
    ``("op", position)``.  Operators have the attributes ``operator``, ``type``, ``role``; values
    have ``variable``, ``name`` and ``bytes``, with 1 for sizes that are not known.  What a block
    reads that an operator drives counts as read by the operator.

    Args:
        program: any.
        block: the number of the block.

    >>> import networkx
    >>> x = fluid.data("x", [2])
    >>> y = fluid.layers.relu(fluid.layers.scale(x, 2.0))
    >>> graph = fluid.default_main_program().graph()
    >>> networkx.shortest_path(graph, ("x", 0), (y.name, 1))
    [('x', 0), ('op', 0), ('scale_0.tmp_0', 1), ('op', 1), ('relu_0.tmp_0', 1)]
    """
    import networkx as nx

    need_program(program)
    if not isinstance(block, int) or not 0 <= block < program.num_blocks:
        raise ArgumentError(f"expected a block from 0 to {program.num_blocks - 1}, got {block!r}")
    inside = program.blocks[block]
    network: networkx.DiGraph[Any] = nx.DiGraph(program=program, block=block)
    counts: dict[str, int] = {}

    def value(name: str) -> Node:
        node = (name, counts.get(name, 0))
        if node not in network:
            variable = inside.find_var_recursive(name)
            size = 0 if variable is None else bytes_of(variable, 1)
            network.add_node(node, variable=variable, name=name, bytes=size)
        return node

    for position, op in enumerate(inside.ops):
        node = ("op", position)
        network.add_node(node, operator=op, type=op.type, role=role_of(op))
        for name in dict.fromkeys(reads_of(op)):
            network.add_edge(value(name), node)
        for name in dict.fromkeys(writes_of(op)):
            counts[name] = counts.get(name, 0) + 1
            network.add_edge(node, value(name))
    return network


def need_program(program: Any) -> None:
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a program, got {program!r:.60} of type {type(program).__name__}"
        )


def _name(variable: Variable | str) -> str:
    return variable if isinstance(variable, str) else variable.name


def _last(network: networkx.DiGraph[Any], block: Block, variable: Variable | str) -> Node:
    """The last value of a variable."""
    name = _name(variable)
    count = sum(name in writes_of(op) for op in block.ops)
    if (name, count) not in network:
        known = {name for name, _ in network if name != "op"}
        raise UnknownVariableError(
            f"no operator of block 0 reads or writes a variable {name!r}{suggestion(name, known)}"
        )
    return name, count


def _first(network: networkx.DiGraph[Any], name: str) -> Node | None:
    """The value that a variable has from outside, or from an operator that feeds it."""
    if (name, 0) in network:
        return name, 0
    makers = list(network.predecessors((name, 1))) if (name, 1) in network else []
    return (name, 1) if any(network.nodes[n].get("type") == "feed" for n in makers) else None


# -- dominators ------------------------------------------------------------------------------------


def dominators(
    program: Program, target: Variable | str, sources: Iterable[Variable | str] | None = None
) -> list[Variable]:
    """The variables that all ways from some variables to another one go through, in order.

    A program can be cut there into two that have one value in common.

    Args:
        program: any.
        target: the variable where the ways end, as it is written last.
        sources: the variables where they begin; those that are fed when None.

    Raises:
        UnknownVariableError: a variable is missing.
        ArgumentError: the target does not depend on the sources.

    >>> x = fluid.data("x", [2, 4])
    >>> h = fluid.layers.relu(fluid.layers.fc(x, 4))
    >>> y = fluid.layers.softmax(fluid.layers.fc(h, 4) + h)
    >>> [v.name for v in fluid.inspect.dominators(fluid.default_main_program(), y)]
    ['fc_0.tmp_0', 'fc_0.tmp_1', 'relu_0.tmp_0', 'tmp_0']
    """
    import networkx as nx

    network, block = value_graph(program), program.global_block()
    end = _last(network, block, target)
    if sources is None:
        data = [v.name for v in block.vars.values() if v.is_data]
        found = (_first(network, name) for name in dict.fromkeys((*data, *fed_names(block))))
        begins = [begin for begin in found if begin is not None]
    else:
        begins = []
        for name in map(_name, sources):
            begin = _first(network, name)
            if begin is None:
                raise UnknownVariableError(f"no operator of block 0 reads {name!r} first")
            begins.append(begin)
    network.add_edges_from((_SOURCE, begin) for begin in begins)
    if not begins or not nx.has_path(network, _SOURCE, end):
        raise ArgumentError(
            f"{end[0]!r} does not depend on {', '.join(name for name, _ in begins) or 'feeds'}"
        )
    immediate = nx.immediate_dominators(network, _SOURCE)
    way: list[Variable] = []
    node = immediate[end]
    while node != _SOURCE:
        if node[0] != "op" and node not in begins:
            way.append(network.nodes[node]["variable"])
        node = immediate[node]
    way.reverse()
    return way


# -- the critical path -----------------------------------------------------------------------------


class CriticalPath(NamedTuple):
    """The operators that follow from each other and take the longest time together.

    >>> x = fluid.data("x", [2])
    >>> y = fluid.layers.exp(fluid.layers.relu(x))
    >>> relu, exp = fluid.default_main_program().global_block().ops
    >>> times = {relu: 1e-6, exp: 3e-6}
    >>> path = fluid.inspect.critical_path(fluid.default_main_program(), times)
    >>> [op.type for op, _ in path.operators], path.seconds == path.total
    (['relu', 'exp'], True)
    """

    operators: tuple[tuple[Operator, float], ...]  #: in order, with seconds
    seconds: float  #: they take together
    total: float  #: seconds of all operators

    @escaping
    def __str__(self) -> str:
        lines = [f"{1e6 * s:10.1f} us  {op}{place(op)}" for op, s in self.operators]
        share = self.seconds / self.total if self.total else 1.0
        lines.append(
            f"{1e6 * self.seconds:10.1f} us of {1e6 * self.total:.1f}: with any number of "
            f"processors {share:.0%} of the time are left"
        )
        return "\n".join(lines)


def critical_path(program: Program, times: Trace | Mapping[Operator, float]) -> CriticalPath:
    """The way through the operators of block 0 that takes the longest time.

    Args:
        program: what was run.
        times: a trace of a run; or seconds by operator, 0 for missing ones.

    >>> x = fluid.data("x", [2])
    >>> y = fluid.layers.exp(x) + fluid.layers.relu(x)
    >>> main, feed = fluid.default_main_program(), {"x": np.ones(2, "float32")}
    >>> path = fluid.inspect.critical_path(main, fluid.Executor().trace(main, feed))
    >>> len(path.operators), path.seconds < path.total
    (2, True)
    """
    import networkx as nx

    seconds: dict[int, float] = {}
    if isinstance(times, Trace):
        for record in times:
            seconds[id(record.op)] = seconds.get(id(record.op), 0.0) + record.seconds
    else:
        seconds = {id(op): float(each) for op, each in times.items()}
    network = value_graph(program)
    for _, node, facts in network.in_edges(data=True):
        op = network.nodes[node].get("operator")
        facts["seconds"] = 0.0 if op is None else seconds.get(id(op), 0.0)
    for node in [n for n in network if not network.in_degree(n)]:
        op = network.nodes[node].get("operator")
        if op is not None:
            network.add_edge(_SOURCE, node, seconds=seconds.get(id(op), 0.0))
    way = nx.dag_longest_path(network, weight="seconds", default_weight=0.0)
    ops = [network.nodes[node]["operator"] for node in way if node[0] == "op"]
    pairs = tuple((op, seconds.get(id(op), 0.0)) for op in ops)
    total = sum(seconds.get(id(op), 0.0) for op in program.global_block().ops)
    return CriticalPath(pairs, sum(each for _, each in pairs), total)


# -- cuts ------------------------------------------------------------------------------------------


def _names(listed: Iterable[Variable | str] | Variable | str) -> list[str]:
    """The names of one variable or several."""
    several = [listed] if isinstance(listed, (str, Variable)) else listed
    return [_name(each) for each in several]


def gradient_cut(
    program: Program,
    loss: Variable | str,
    stopped: Iterable[Variable | str] | Variable | str,
    kept: Iterable[Variable | str] | Variable | str | None = None,
) -> list[Variable]:
    """The fewest variables that have to stop gradients so that none of a loss gets to some
    parameters, and all get to others.

    Args:
        program: without gradient operators, or with them: these do not count.
        loss: the variable.
        stopped: parameters, or other variables, that are to get no gradient; one or several.
        kept: those that have to get their gradients; all other parameters when None.

    Raises:
        UnknownVariableError: a variable is missing.
        ArgumentError: there is no such cut: an operator that reads one of the stopped writes what
            a kept one depends on, or the loss.

    >>> x = fluid.data("x", [2, 4])
    >>> h = fluid.layers.fc(fluid.layers.fc(x, 4, act="relu"), 4)
    >>> loss = fluid.layers.mean(fluid.layers.fc(h, 1))
    >>> stopped = ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]
    >>> cut = fluid.inspect.gradient_cut(fluid.default_main_program(), loss, stopped)
    >>> [v.name for v in cut]
    ['fc_1.tmp_1']
    """
    import networkx as nx

    network, block = value_graph(program), program.global_block()
    first = {name: (name, 0) for name in _names(stopped)}
    for name, node in first.items():
        if node not in network:
            known = {name for name, _ in network if name != "op"}
            raise UnknownVariableError(
                f"no operator of block 0 reads {name!r}{suggestion(name, known)}"
            )
    if kept is None:
        others = [p.name for p in program.all_parameters() if p.trainable and p.name not in first]
    else:
        others = _names(kept)
    flow = _flow(network)
    end = _last(network, block, loss)
    needed = {end}
    for name in others:
        if (name, 0) in flow:
            needed |= {(name, 0), *nx.descendants(flow, (name, 0))}
    cut = nx.DiGraph()
    for node in flow:
        if node in needed or node in first.values():
            cut.add_edge((node, "in"), (node, "out"))
        else:
            cut.add_edge((node, "in"), (node, "out"), capacity=1)
    cut.add_edges_from(((a, "out"), (b, "in")) for a, b in flow.edges)
    cut.add_edges_from(("source", (node, "in")) for node in first.values() if node in flow)
    if "source" not in cut or (end, "in") not in cut:
        return []
    try:
        size, (near, _) = nx.minimum_cut(cut, "source", (end, "out"))
    except nx.NetworkXUnbounded:
        listed = ", ".join(repr(name) for name in first)
        raise ArgumentError(
            f"no variable on the way stops the gradients of {listed} and no others: an operator "
            f"that reads one of them also reads, or follows from, what is to get a gradient; stop "
            f"the parameters themselves (trainable=False)"
        ) from None
    crossed = [n for n in flow if (n, "in") in near and (n, "out") not in near]
    return [network.nodes[node]["variable"] for node in crossed] if size else []


def _flow(network: networkx.DiGraph[Any]) -> networkx.DiGraph[Any]:
    """The values that gradients flow through, backwards along the edges."""
    import networkx as nx

    flow: networkx.DiGraph[Any] = nx.DiGraph()
    for node, facts in network.nodes(data=True):
        op = facts.get("operator")
        if op is None or facts["role"] != "forward":
            continue
        definition = op.definition
        if definition is not None and not (definition.execute or is_differentiable(definition)):
            continue
        for a in network.predecessors(node):
            for b in network.successors(node):
                if _takes(network, a) and _takes(network, b):
                    flow.add_edge(a, b)
    return flow


def _takes(network: networkx.DiGraph[Any], node: Node) -> bool:
    variable = network.nodes[node]["variable"]
    return variable is not None and bool(variable.takes_gradient)


# -- layers that repeat ----------------------------------------------------------------------------


class RepeatedLayers(NamedTuple):
    """Operators that stand in a program several times, one time behind the other.

    >>> x = fluid.data("x", [None, 4])
    >>> for _ in range(3):
    ...     x = fluid.layers.fc(x, 4, act="relu")
    >>> groups = fluid.inspect.repeated_layers(fluid.default_main_program())
    """

    times: tuple[tuple[Operator, ...], ...]  #: the operators of each time

    @escaping
    def __str__(self) -> str:
        types = ", ".join(op.type for op in self.times[0])
        return f"{len(self.times)} times {types}"


def repeated_layers(program: Program) -> list[RepeatedLayers]:
    """What repeats in a program: three times or more, with the same types and attributes; pictures
    show it folded.

    Args:
        program: any.

    >>> h = fluid.data("x", [2, 4])
    >>> for _ in range(5):
    ...     h = fluid.layers.fc(h, 4, act="relu")
    >>> print(*fluid.inspect.repeated_layers(fluid.default_main_program()))
    5 times mul, elementwise_add, relu
    """
    need_program(program)
    numbered = ProgramGraph(program)
    layers = []
    for group in Folding(numbered).groups:
        if group.kind == "repeat":
            times = [
                [item] if isinstance(item, int) else sorted(item.ops()) for item in group.children
            ]
            operators = [tuple(numbered.ops[n] for n in each) for each in times]
            if len({tuple((op.type, *op.attrs.items()) for op in each) for each in operators}) == 1:
                layers.append(RepeatedLayers(tuple(operators)))
    return layers
