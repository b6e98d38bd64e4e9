"""``core.Graph``: block 0 of a program as operators and variables that are linked.

A graph has a program of its own, a copy of the one that it is made of.  Its nodes hold that
program's operators and variables; :meth:`Graph.as_program` puts what is linked into order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import pairwise
from typing import Any

from ..errors import ArgumentError, UnknownVariableError
from ..ground.reprs import Described
from ..ir.descriptions import OpDesc, VarDesc
from ..ir.operator import EMPTY
from ..ir.program import Program, ProgramDesc, copy_operator

_CONTROL = "__control_var"


class NodeType(Enum):
    """What a node is."""

    Operation = 0
    Variable = 1


class Node:
    """An operator or a variable of a graph, made by that.

    Args:
        number: of the node in its graph.
        name: the variable's, or the operator's type.
        holds: the operator or the variable; None for a variable that nobody declared.
        is_operator: whether the node is an operator.
    """

    Type = NodeType
    Operation = NodeType.Operation
    Variable = NodeType.Variable

    def __init__(self, number: int, name: str, holds: Any, is_operator: bool) -> None:
        self._number, self._name, self._is_operator = number, name, is_operator
        self.holds: Any = holds
        self.inputs: list[Node] = []
        self.outputs: list[Node] = []

    def __repr__(self) -> str:
        return f"Node({self._number}, {self.name()!r})"

    def __hash__(self) -> int:
        return self._number  # sets of nodes have the same order each time

    def __eq__(self, other: object) -> bool:
        return self is other

    def id(self) -> int:
        """The node's number."""
        return self._number

    def name(self) -> str:
        """The variable's name, or the operator's type."""
        return self.holds.type if self._is_operator else getattr(self.holds, "name", self._name)

    def node_type(self) -> NodeType:
        """What the node is."""
        return NodeType.Operation if self._is_operator else NodeType.Variable

    def is_op(self) -> bool:
        """Whether it is an operator."""
        return self._is_operator

    def is_var(self) -> bool:
        """Whether it is a variable."""
        return not self._is_operator

    def is_ctrl_var(self) -> bool:
        """Whether it only says which of two operators is first."""
        return self.is_var() and self._name.startswith(_CONTROL)

    def op(self) -> OpDesc:
        """The operator's description.

        Raises:
            ArgumentError: it is a variable.
        """
        if not self._is_operator:
            raise ArgumentError(f"expected an operator, but node {self.name()!r} is a variable")
        return OpDesc(self.holds)

    def var(self) -> VarDesc | None:
        """The variable's description; None for one that nobody declared.

        Raises:
            ArgumentError: it is an operator.
        """
        if self._is_operator:
            raise ArgumentError(f"expected a variable, but node {self.name()!r} is an operator")
        return None if self.holds is None else VarDesc(self.holds)

    def append_input(self, node: Node) -> None:
        """Link another node to this one."""
        self.inputs.append(node)

    def append_output(self, node: Node) -> None:
        """Link this node to another one."""
        self.outputs.append(node)

    def clear_inputs(self) -> None:
        """Let nothing be linked to it."""
        self.inputs = []

    def clear_outputs(self) -> None:
        """Let it be linked to nothing."""
        self.outputs = []

    def remove_input(self, node: Node | int) -> None:
        """Undo a link to this node; a node or its number."""
        self.inputs = [each for each in self.inputs if node not in (each, each.id())]

    def remove_output(self, node: Node | int) -> None:
        """Undo a link from this node; a node or its number."""
        self.outputs = [each for each in self.outputs if node not in (each, each.id())]


class Graph(Described):
    """Operators and variables of a program's block 0, linked.

    Args:
        program: what :attr:`Program.desc` gives, or the program.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.relu(fluid.layers.scale(x, 2.0))
    >>> graph = fluid.quantization.graphs.Graph(fluid.default_main_program().desc)
    >>> [node.name() for node in sorted(graph.nodes(), key=lambda node: node.id())]
    ['scale', 'x', 'scale_0.tmp_0', 'relu', 'relu_0.tmp_0']
    """

    def __init__(self, program: ProgramDesc | Program) -> None:
        self.origin: Program = program.program if isinstance(program, ProgramDesc) else program
        self.program: Program = self.origin.clone()
        self._nodes: dict[int, Node] = {}
        self._count = 0
        self._notes: dict[str, Any] = {}
        block = self.program.global_block()
        newest: dict[str, Node] = {}
        for op in block.ops:
            node = self._add(op.type, op, True)
            for name in _names(op.inputs):
                if name not in newest:
                    newest[name] = self._add(name, block.vars.get(name), False)
                link(newest[name], node)
            for name in _names(op.outputs):
                newest[name] = self._add(name, block.vars.get(name), False)
                link(node, newest[name])
        inner = [] if self.program.num_blocks == 1 else list(block.vars.values())
        #: what no operator of block 0 names, but blocks within may
        self._others = [variable for variable in inner if variable.name not in newest]
        self.order_writers()

    def _add(self, name: str, holds: Any, is_operator: bool) -> Node:
        node = self._nodes[self._count] = Node(self._count, name, holds, is_operator)
        self._count += 1
        return node

    # -- nodes -----------------------------------------------------------------------------------

    def nodes(self) -> set[Node]:
        """All nodes."""
        return set(self._nodes.values())

    def create_op_node(self, desc: OpDesc) -> Node:
        """A node of a copy of an operator; what it is linked to is said by links."""
        return self._add(desc.type(), copy_operator(desc.op, self.program.global_block()), True)

    def create_var_node(self, desc: VarDesc) -> Node:
        """A node of a copy of a variable."""
        copied = desc.variable.copy_to(self.program.global_block())
        return self._add(copied.name, copied, False)

    def create_empty_node(self, name: str, kind: NodeType) -> Node:
        """A node of a variable that nobody declared.

        Raises:
            ArgumentError: the node is to be an operator.
        """
        if kind is not NodeType.Variable:
            raise ArgumentError("expected a variable: an operator's node needs its description")
        return self._add(name, None, False)

    def create_control_dep_var(self) -> Node:
        """A node that only says which of two operators is first."""
        return self._add(f"{_CONTROL}@{self._count}", None, False)

    def retrieve_node(self, number: int) -> Node | None:
        """The node of a number; None if it is missing."""
        return self._nodes.get(number)

    def remove_node(self, node: Node) -> Node:
        """Take a node out; links to it stay.

        Raises:
            ArgumentError: the graph has no such node.
        """
        if self._nodes.get(node.id()) is not node:
            raise ArgumentError(f"the graph has no node {node.id()} ({node.name()})")
        return self._nodes.pop(node.id())

    def release_nodes(self) -> list[Node]:
        """Take all nodes out."""
        released, self._nodes = list(self._nodes.values()), {}
        return released

    # -- order -----------------------------------------------------------------------------------

    def operators(self) -> list[Node]:
        """The nodes of operators, as they were made."""
        return [node for node in self._nodes.values() if node.is_op()]

    def before(self, node: Node) -> list[Node]:
        """The operators that have to run before one, as they were made."""
        found = {op for variable in node.inputs for op in variable.inputs}
        return sorted(found - {node}, key=Node.id)

    def sorted_operators(self) -> list[Node]:
        """The operators in an order in which they can run.

        Raises:
            ArgumentError: some need each other.
        """
        done: dict[Node, bool] = {}  # False while what has to run before is being looked at
        for start in self.operators():
            pending: list[tuple[Node, Iterator[Node]]] = []
            current: Node | None = start if start not in done else None
            while current is not None or pending:
                if current is not None:
                    done[current] = False
                    pending.append((current, iter(self.before(current))))
                node, rest = pending[-1]
                current = next((each for each in rest if not done.get(each)), None)
                if current is None:
                    pending.pop()
                    del done[node]  # last in, last in order
                    done[node] = True
                elif current in done:
                    raise ArgumentError(f"operators of the graph need each other: {current.name()}")
        return list(done)

    def order_writers(self, versions: dict[str, list[Node]] | None = None) -> None:
        """Let what reads a variable be before what writes it anew.

        Args:
            versions: nodes of one name in the order in which they are written, by name.
        """
        if versions is None:
            versions = {}
            for node in self._nodes.values():
                if node.is_var() and not node.is_ctrl_var():
                    versions.setdefault(node.name(), []).append(node)
        for _, nodes in sorted(versions.items()):
            for old, new in pairwise(nodes):
                self._order(old, new)

    resolve_hazard = order_writers

    def _order(self, old: Node, new: Node) -> None:
        for writer in new.inputs:
            for reader in old.outputs or old.inputs:
                if reader is writer or set(reader.outputs) & set(writer.inputs):
                    continue
                between = self.create_control_dep_var()
                link(reader, between)
                link(between, writer)

    # -- programs --------------------------------------------------------------------------------

    def as_program(self) -> Program:
        """A program of what is linked: operators in order, and the variables that there are."""
        block = self.program.global_block()
        block.set_ops([node.holds for node in self.sorted_operators()])
        variables: dict[str, Any] = {}
        for node in self._nodes.values():
            if node.is_var() and node.holds is not None:
                variables.setdefault(node.name(), node.holds)
        for variable in self._others:
            variables.setdefault(variable.name, variable)
        block.set_vars(variables.values())
        return self.program.clone()

    def take(self, program: Program) -> None:
        """Become the graph of another program."""
        notes, origin = self._notes, self.origin
        self.__init__(program)  # type: ignore[misc]
        self._notes, self.origin = notes, origin

    def clone(self) -> Graph:
        """The graph again, with nodes of its own."""
        twin = Graph.__new__(Graph)
        twin.origin, twin.program = self.origin, self.program.clone()
        twin._count, twin._notes = self._count, dict(self._notes)
        block, twin._nodes = twin.program.global_block(), {}
        for number, node in self._nodes.items():
            held = node.holds
            if node.is_op():
                held = copy_operator(held, block)
            elif held is not None:
                held = held.copy_to(block)
            twin._nodes[number] = Node(number, node._name, held, node.is_op())
        for number, node in self._nodes.items():
            for side in ("inputs", "outputs"):
                there = [twin._nodes[n.id()] for n in getattr(node, side) if n.id() in self._nodes]
                setattr(twin._nodes[number], side, there)
        twin._others = [variable.copy_to(block) for variable in self._others]
        return twin

    def origin_program_desc(self) -> ProgramDesc:
        """The description of the program that the graph was made of."""
        return self.origin.desc

    # -- notes -----------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether something was noted under a name."""
        return name in self._notes

    def set(self, name: str, value: Any) -> None:
        """Note a value."""
        self._notes[name] = value

    set_not_owned = set

    def erase(self, name: str) -> None:
        """Forget what was noted."""
        self._noted(name)
        del self._notes[name]

    def _noted(self, name: str) -> Any:
        if name not in self._notes:
            raise UnknownVariableError(f"nothing was noted of the graph under {name!r}")
        return self._notes[name]

    get_bool: Callable[..., Any] = _noted
    get_int: Callable[..., Any] = _noted
    get_float: Callable[..., Any] = _noted
    get_double: Callable[..., Any] = _noted
    get_string: Callable[..., Any] = _noted
    get_marked_nodes: Callable[..., Any] = _noted


def _names(slots: Any) -> list[str]:
    """Each name once, slots in the order of their names."""
    return list(dict.fromkeys(n for s in sorted(slots) for n in slots[s] if n != EMPTY))


def link(first: Node, second: Node) -> None:
    """Let the second node need the first one."""
    first.append_output(second)
    second.append_input(first)


def graph_safe_remove_nodes(graph: Graph, nodes: Iterable[Node]) -> None:
    """Take nodes out, and all links to them.

    Args:
        graph: is changed.
        nodes: of it.
    """
    for node in list(nodes):
        for other in node.inputs:
            other.remove_output(node)
        for other in node.outputs:
            other.remove_input(node)
        graph.remove_node(node)


def graph_num(graph: Graph) -> int:
    """How many parts of a graph no link connects.

    Args:
        graph: to look at.
    """
    left, count = graph.nodes(), 0
    while left:
        reached, count = [left.pop()], count + 1
        while reached:
            node = reached.pop()
            near = left.intersection(node.inputs + node.outputs)
            left -= near
            reached += near
    return count


def has_circle(graph: Graph) -> bool:
    """Whether some operators need each other.

    Args:
        graph: to look at.
    """
    try:
        graph.sorted_operators()
    except ArgumentError:
        return True
    return False


def topology_sort(graph: Graph) -> list[Node]:
    """The operators in an order in which they can run.

    Args:
        graph: to look at.

    Raises:
        ArgumentError: some need each other.
    """
    return graph.sorted_operators()


def build_adjacency_list(graph: Graph) -> dict[Node, set[Node]]:
    """Each operator, with those that have to run before it.

    Args:
        graph: to look at.
    """
    return {node: set(graph.before(node)) for node in graph.operators()}
