"""Where gradients get through between the values of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..backward.around import ways_out
from ..ground.callsite import CallSite
from ..ground.quoting import escaping
from ..ir.analysis import blocks_of, free_reads, reads_of, writes_of
from ..ir.block import Block
from ..ir.operator import Operator, OpRole
from ..ir.variable import Variable
from ..opdef.gradient import is_constant, is_differentiable
from ..opdef.signature import Slot
from .graph import ProgramGraph, ValueKey

#: a value, an operator's number, or what crosses the border of the block that an operator drives:
#: "into" or "out of", its number, and the name
Node = ValueKey | int | tuple[str, int, str]


class Passage(NamedTuple):
    """An operator that a gradient goes through."""

    operator: str
    callsite: CallSite | None
    reads: str  #: the variable on the side of the input
    writes: str  #: the variable on the side of the target

    @escaping
    def __str__(self) -> str:
        return self.operator + place(self.callsite)


class Stop(NamedTuple):
    """A place where a gradient does not get further."""

    variable: str  #: that gets no gradient
    reason: str
    operator: str = ""  #: what made the variable, or what stops the gradient
    callsite: CallSite | None = None

    @escaping
    def __str__(self) -> str:
        text = f"{self.variable!r}: {self.reason}"
        return f"{text}\n    {self.operator}{place(self.callsite)}" if self.operator else text


class Route(NamedTuple):
    """The ways between a variable and targets."""

    connected: bool  #: whether a target depends on the variable
    flows: bool  #: whether a gradient gets to the variable, unless it stops at the variable itself
    path: Sequence[Passage] = ()
    contributions: Sequence[tuple[str, int]] = ()
    stops: Sequence[Stop] = ()


class _Edge(NamedTuple):
    stop: Stop | None
    times: int = 1  #: how often an operator reads a value


class GradientPaths:
    """The values and operators of a graph, in the direction of computation, and what stops a
    gradient between them.

    In blocks that operators drive a name is one value: what a loop reads may be what it wrote in
    the pass before.

    Args:
        block: the block that the targets are in; a gradient gets out of it where it is a branch.
        positions: the operators of that block to look at.
    """

    def __init__(self, block: Block, positions: Iterable[int]) -> None:
        self.block = block
        self._graph = ProgramGraph(block.program)
        out = ways_out(block)
        #: the block and those around it that a gradient gets to, from the inside out
        self._around = {each.idx: each for each, _ in out}
        self._edges: dict[tuple[Node, Node], _Edge] = {}
        self._names: dict[Node, str] = {}
        self._stops: dict[Node, Stop | None] = {}
        for position in positions:
            self._add(block, position)
        for (inner, _), (outer, end) in pairwise(out):
            for position, op in enumerate(outer.ops[:end]):
                if not op.role & (OpRole.OPTIMIZE | OpRole.BACKWARD):
                    self._add(outer, position)
            for name in free_reads(inner):
                self._link(self._value(outer, name, end), self._value(inner, name, 0))

    def between(self, variable: Variable, goals: Sequence[Variable]) -> Route:
        """The ways from a variable to targets.

        Args:
            variable: of the block, one around it, or one that its operators drive.
            goals: variables of the block.
        """
        import networkx as nx

        source = self._first(variable)
        ends = [self._value(self.block, g.name, len(self.block.ops)) for g in goals]
        everything = nx.DiGraph(list(self._edges))
        everything.add_nodes_from([source, *ends])
        leading = set(ends).union(*(nx.ancestors(everything, end) for end in ends))
        between = leading & (nx.descendants(everything, source) | {source})
        if source not in between:
            return Route(False, False)

        def is_closed(node: Node) -> bool:
            return node != source and self._stops.get(node) is not None

        flowing = nx.DiGraph()
        flowing.add_nodes_from([source, *ends])
        flowing.add_edges_from(
            [
                (a, b)
                for (a, b), edge in self._edges.items()
                if edge.stop is None and not is_closed(a) and not is_closed(b)
            ]
        )
        reached = [end for end in ends if not is_closed(end)]
        receiving = set(reached).union(*(nx.ancestors(flowing, end) for end in reached))
        paths = [
            nx.shortest_path(flowing, source, end)
            for end in reached
            if end in between and nx.has_path(flowing, source, end)
        ]
        stops = [s for end in ends if end in between and (s := self._stops.get(end)) is not None]
        for (a, b), edge in self._edges.items():
            if a in between and b in receiving and a not in receiving:
                stop = edge.stop or (self._stops.get(a) if a != source else None)
                if stop is not None:
                    stops.append(stop)
        if not paths:
            return Route(True, False, stops=list(dict.fromkeys(stops)))
        path = min(paths, key=len)
        users_word = [s for s in stops if s.reason == _STOPPED]
        return Route(
            True,
            True,
            self._passages(path),
            self._contributions(path, receiving),
            list(dict.fromkeys(users_word)),
        )

    # -- reading the graph -------------------------------------------------------------------------

    def _operator(self, node: Node) -> Operator | None:
        """The operator that a node is part of."""
        if isinstance(node, ValueKey):
            return None
        return self._graph.ops[node if isinstance(node, int) else node[1]]

    def _passages(self, path: Sequence[Node]) -> list[Passage]:
        passages = []
        for before, node, after in zip(path, path[1:], path[2:]):
            op = self._operator(node)
            if op is None or (isinstance(before, ValueKey) and before.block != op.block.idx):
                continue  # out of the block that it drives: it was told on the way in
            passages.append(Passage(str(op), op.callsite, self._names[before], self._names[after]))
        return passages

    def _contributions(self, path: Sequence[Node], receiving: set[Node]) -> list[tuple[str, int]]:
        """The values on a path whose gradients are sums."""
        counts: dict[Node, dict[Node, int]] = {n: {} for n in path if isinstance(n, ValueKey)}
        for (a, b), edge in self._edges.items():
            if a in counts and b in receiving and edge.stop is None:
                to = b if isinstance(b, (ValueKey, int)) else b[1]
                counts[a][to] = edge.times  # an operator that drives a block counts once
        sums = [(node, sum(by_op.values())) for node, by_op in counts.items()]
        return [
            (self._names[node], count)
            for node, count in reversed(sums)
            if count > 1 and isinstance(node, ValueKey) and node.block in self._around
        ]

    def _first(self, variable: Variable) -> Node:
        """The earliest value that a name holds: its gradient is what backward gives."""
        name, block = variable.name, variable.block
        if name not in self.block.vars and self._is_inside(block):
            return self._named(ValueKey(block.idx, name, None), variable)
        block = self._around.get(block.idx) or list(self._around.values())[-1]
        found = self._value_key(block, name, 0)
        if found not in self._names:  # nothing reads what was there before
            found = self._graph.first_value(block, name)
        return self._named(found, variable)

    def _is_inside(self, block: Block) -> bool:
        """Whether a block lies in the block of the targets."""
        around = block.parent
        while around is not None and around is not self.block:
            around = around.parent
        return around is self.block

    # -- building the graph ------------------------------------------------------------------------

    def _value(self, block: Block, name: str, position: int) -> Node:
        """What a name holds before the operator at a position."""
        found = ValueKey(block.idx, name, None)
        if block.idx in self._around:
            found = self._value_key(block, name, position)
        return self._named(found, block.find_var_recursive(name))

    def _value_key(self, block: Block, name: str, position: int) -> ValueKey:
        outermost = next(reversed(self._around))
        return self._graph.value(block, name, position, block.idx != outermost)

    def _named(self, value: ValueKey, variable: Variable | None) -> Node:
        if value not in self._names:
            self._names[value] = value.name
            self._stops[value] = None if variable is None else _stop_at(variable)
        return value

    def _link(self, a: Node, b: Node, stop: Stop | None = None) -> None:
        old = self._edges.get((a, b))
        if stop is not None:
            self._edges.setdefault((a, b), _Edge(stop))
        elif old is None or old.stop is not None:
            self._edges[a, b] = _Edge(None)
        else:
            self._edges[a, b] = _Edge(None, old.times + 1)

    def _add(self, block: Block, position: int) -> None:
        op = block.ops[position]
        inner = [b for b in blocks_of(op) if b.forward_block_idx < 0]
        if inner:
            self._add_driving(block, position, op, inner[0])
            return
        node = self._graph.number(block, position)
        self._stops[node] = _stop_in(op)
        definition = op.definition
        for slot, name in self._graph.names(op, "inputs"):
            constant = definition is not None and _is_constant(definition.input_slots, slot)
            reason = f"it is read as {slot}, a slot without gradient"
            stop = _stop(name, reason, op) if constant else None
            self._link(self._value(block, name, position), node, stop)
        for slot, name in self._graph.names(op, "outputs"):
            constant = definition is not None and _is_constant(definition.output_slots, slot)
            reason = f"it is written as {slot}, a slot without gradient"
            stop = _stop(name, reason, op) if constant else None
            self._link(node, self._value(block, name, position + 1), stop)

    def _add_driving(self, block: Block, position: int, op: Operator, inner: Block) -> None:
        """An operator that drives a block: its operators, and how values get in and out."""
        for k in range(len(inner.ops)):
            self._add(inner, k)
        number = self._graph.number(block, position)
        states = op.attrs.get("ex_states", ())
        entering = dict(zip(op.inputs.get("initial_states", ()), states))
        entering.update({n: n for n in op.inputs.get("inputs", ())})
        entering.update({n: n for n in free_reads(inner) if n not in states})
        for name, inside in entering.items():
            node = ("into", number, name)
            self._link(self._value(block, name, position), node)
            self._link(node, self._value(inner, inside, 0))
        for after, before in zip(op.attrs.get("states", ()), states):
            self._link(self._value(inner, after, 0), self._value(inner, before, 0))
        written = {n for each in inner.ops for n in writes_of(each)}
        deciding = [n for n in reads_of(op) if n not in entering]
        for name in writes_of(op):
            if name not in written:
                continue
            node, old = ("out of", number, name), self._value(block, name, position)
            new = self._value(block, name, position + 1)
            self._link(self._value(inner, name, 0), node)
            self._link(node, new)
            if old != new:
                self._link(old, node)  # where the block does not run
            for decider in deciding:
                reason = "it only decides whether and how often a block runs"
                stop = _stop(decider, reason, op)
                self._link(self._value(block, decider, position), node, stop)


_STOPPED = "gradients stop at it (stop_gradient)"


def _is_constant(slots: Mapping[str, Slot], name: str) -> bool:
    """Whether nothing flows through a slot: by its definition, or since nobody knows it."""
    return name not in slots or slots[name].constant


def _stop_at(variable: Variable) -> Stop | None:
    """Why a variable takes no gradient."""
    if variable.takes_gradient:
        return None
    if variable.stop_gradient and variable.dtype.is_continuous:
        reason = _STOPPED
    else:
        reason = f"it is {variable.dtype}, and only floats have gradients"
    maker = variable.op
    if maker is None:
        return Stop(variable.name, reason)
    return _stop(variable.name, reason, maker)


def _stop_in(op: Operator) -> Stop | None:
    """Why nothing flows through an operator."""
    definition = op.definition
    if definition is None:
        reason = "the operator that makes it is not defined"
    elif is_constant(definition):
        reason = "the operator that makes it has no gradient"
    elif not is_differentiable(definition) and not blocks_of(op):
        reason = "nobody wrote a gradient rule for the operator that makes it"
    else:
        return None
    return _stop(op.first_output or op.type, reason, op)


def _stop(name: str, reason: str, op: Operator) -> Stop:
    return Stop(name, reason, str(op), op.callsite)


def place(callsite: CallSite | None) -> str:
    """Where an operator was built, to stand behind its text."""
    return "" if callsite is None else f", built at {callsite}"
