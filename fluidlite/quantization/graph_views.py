"""``framework.IrGraph``: what passes of fluid 1.8 work on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ClassVar, TypeVar

from ..errors import ArgumentError
from ..ground.console import say
from ..ground.docstrings import Family
from ..ground.dtypes import Kind
from ..ground.files import write_text
from ..ground.quoting import dot_string
from ..ground.reprs import Described
from ..ground.spellings import parameters_of
from ..ir.descriptions import OpDesc, VarDesc
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from . import graphs
from .graphs import Graph, Node

R = TypeVar("R")
_NODES = Family(
    {"node": "of ``core.Graph``."}, raises="ArgumentError: the node is one of the other kind."
)


def _of_node(method: Callable[[Node], R]) -> Callable[[IrNode], R]:
    """A method of what a node of the graph says."""

    @wraps(method)
    def asked(self: IrNode) -> R:
        return method(self.node)

    asked.__qualname__ = f"IrNode.{method.__name__}"
    return asked


def _of_declared(method: Callable[[VarDesc], R]) -> Callable[[IrVarNode], R]:
    """A method of what the graph declares a variable to be."""

    @wraps(method)
    def asked(self: IrVarNode) -> R:
        return method(self._declared())

    asked.__qualname__ = f"IrVarNode.{method.__name__}"
    return asked


class IrNode(Described):
    """A node of a graph.

    Args:
        node: of ``core.Graph``.
    """

    _shown = "node=node"
    _of: ClassVar[str | None] = None  #: what nodes of the class are of

    def __init__(self, node: Node) -> None:
        if self._of not in (None, "an operator" if node.is_op() else "a variable"):
            raise ArgumentError(f"expected the node of {self._of}, got that of {node.name()!r}")
        self.node = node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IrNode) and other.node is self.node

    def __hash__(self) -> int:
        return hash(self.node)

    id = _of_node(Node.id)
    name = _of_node(Node.name)
    node_type = _of_node(Node.node_type)
    is_op = _of_node(Node.is_op)
    is_var = _of_node(Node.is_var)
    is_ctrl_var = _of_node(Node.is_ctrl_var)
    var = _of_node(Node.var)
    op = _of_node(Node.op)
    clear_inputs = _of_node(Node.clear_inputs)
    clear_outputs = _of_node(Node.clear_outputs)

    def append_input(self, node: IrNode) -> None:
        """Link another node to this one."""
        self.node.append_input(node.node)

    def append_output(self, node: IrNode) -> None:
        """Link this node to another one."""
        self.node.append_output(node.node)

    def remove_input(self, node: IrNode) -> None:
        """Undo a link to this node."""
        self.node.remove_input(node.node)

    def remove_output(self, node: IrNode) -> None:
        """Undo a link from this node."""
        self.node.remove_output(node.node)

    def remove_input_by_id(self, node_id: int) -> None:
        """Undo a link to this node."""
        self.node.remove_input(node_id)

    def remove_output_by_id(self, node_id: int) -> None:
        """Undo a link from this node."""
        self.node.remove_output(node_id)

    @property
    def inputs(self) -> list[IrNode]:
        """The nodes that are linked to it."""
        return [viewed(node) for node in self.node.inputs]

    @property
    def outputs(self) -> list[IrNode]:
        """The nodes that it is linked to."""
        return [viewed(node) for node in self.node.outputs]


@_NODES
class IrVarNode(IrNode):
    """A variable of a graph."""

    _of = "a variable"

    def _declared(self) -> VarDesc:
        described = self.node.var()
        if described is None:
            raise ArgumentError(f"the graph does not declare what {self.name()!r} is")
        return described

    def set_shape(self, shape: list[int]) -> None:
        """Declare another shape."""
        self._declared().set_shape(shape)

    persistable = _of_declared(VarDesc.persistable)
    type = _of_declared(VarDesc.type)
    dtype = _of_declared(VarDesc.dtype)
    shape = _of_declared(VarDesc.shape)


@_NODES
class IrOpNode(IrNode):
    """An operator of a graph."""

    _of = "an operator"

    def rename_input(self, old_input_name: str, new_input_name: str) -> None:
        """Read another variable; links stay."""
        self.node.holds.rename_input(old_input_name, new_input_name)

    def rename_output(self, old_output_name: str, new_output_name: str) -> None:
        """Write another variable; links stay."""
        self.node.holds.rename_output(old_output_name, new_output_name)

    def input(self, name: str) -> list[str]:
        """The variables in an input slot."""
        return self.op().input(name)

    def output(self, name: str) -> list[str]:
        """The variables in an output slot."""
        return self.op().output(name)

    def set_type(self, new_type: str) -> None:
        """Make it an operator of another type."""
        self.op().set_type(new_type)

    def set_attr(self, name: str, val: Any) -> None:
        """Change an attribute."""
        self.node.holds.mark(name, val)

    _update_desc_attr = set_attr

    def input_arg_names(self) -> list[str]:
        """All variables read."""
        return self.op().input_arg_names()

    def output_arg_names(self) -> list[str]:
        """All variables written."""
        return self.op().output_arg_names()


def viewed(node: Node) -> Any:
    """A node as passes see it."""
    return IrOpNode(node) if node.is_op() else IrVarNode(node)


class IrGraph(Described):
    """A program's block 0 as nodes that are linked; a view of ``core.Graph``.

    Args:
        graph: ``core.Graph(program.desc)``.
        for_test: what passes read to know whether the program trains.

    Raises:
        ArgumentError: this is no such graph.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(x, 3)
    >>> views = fluid.quantization.graph_views
    >>> graph = views.IrGraph(views.Graph(fluid.default_main_program().desc), for_test=True)
    >>> [node.name() for node in graph.topology_sort()]
    ['mul', 'elementwise_add']
    >>> sorted(node.name() for node in graph.all_persistable_nodes())
    ['fc_0.b_0', 'fc_0.w_0']
    """

    def __init__(self, graph: Graph, for_test: bool = False) -> None:
        if not isinstance(graph, Graph):
            raise ArgumentError(
                f"expected core.Graph(program.desc), got {graph!r:.60} of type "
                f"{type(graph).__name__}"
            )
        self.graph = graph
        self._for_test = for_test

    def clone(self) -> IrGraph:
        """The graph again, with nodes of its own."""
        return IrGraph(self.graph.clone(), self._for_test)

    def is_test(self) -> bool:
        """Whether the program does not train."""
        return self._for_test

    def all_nodes(self) -> set[IrNode]:
        """All nodes."""
        return {viewed(node) for node in self.graph.nodes()}

    def all_var_nodes(self) -> set[IrVarNode]:
        """The nodes of variables."""
        return {IrVarNode(node) for node in self.graph.nodes() if node.is_var()}

    def all_persistable_nodes(self) -> set[IrVarNode]:
        """The nodes of variables whose values stay in the scope between runs."""
        return {
            node
            for node in self.all_var_nodes()
            if node.node.holds is not None and node.persistable()
        }

    def all_op_nodes(self) -> set[IrOpNode]:
        """The nodes of operators."""
        return {IrOpNode(node) for node in self.graph.operators()}

    def create_persistable_node(
        self, name: str, var_type: Any, shape: Iterable[int], var_dtype: Any
    ) -> IrVarNode:
        """A node of a new variable whose value stays in the scope between runs.

        Args:
            name: the variable's.
            var_type: what it holds.
            shape: its sizes.
            var_dtype: its element type.
        """
        return self._variable(name, var_type, shape, var_dtype, persistable=True)

    @parameters_of(create_persistable_node)
    def create_var_node(self, name: str, var_type: Any, shape: Any, var_dtype: Any) -> IrVarNode:
        """A node of a new variable."""
        return self._variable(name, var_type, shape, var_dtype, persistable=False)

    def _variable(
        self, name: str, kind: Any, shape: Iterable[int], dtype: Any, persistable: bool
    ) -> IrVarNode:
        block, told = self.graph.program.global_block(), dict(shape=shape, dtype=dtype)
        made = Variable(block, name, kind=Kind(kind), persistable=persistable, **told)
        return self.create_var_node_from_desc(VarDesc(made))

    def create_control_dep_var(self) -> IrVarNode:
        """A node that only says which of two operators is first."""
        return IrVarNode(self.graph.create_control_dep_var())

    def create_var_node_from_desc(self, var_desc: VarDesc) -> IrVarNode:
        """A node of a copy of a variable."""
        return IrVarNode(self.graph.create_var_node(var_desc))

    def create_op_node_from_desc(self, op_desc: OpDesc) -> IrOpNode:
        """A node of a copy of an operator."""
        return IrOpNode(self.graph.create_op_node(op_desc))

    def create_op_node(
        self,
        op_type: str,
        attrs: Mapping[str, Any],
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
    ) -> IrOpNode:
        """A node of a new operator; :meth:`link_to` links it.

        Args:
            op_type: the operator's type.
            attrs: attributes.
            inputs, outputs: slot -> node of a variable, or a list of them.
        """
        desc = OpDesc(Operator(self.graph.program.global_block(), op_type, {}, {}, {}))
        desc.op.lists_given_attrs = True
        for name, value in attrs.items():
            self._update_desc_attr(desc, name, value)
        for slots, put in ((inputs, desc.set_input), (outputs, desc.set_output)):
            for slot, nodes in slots.items():
                put(slot, [n.name() for n in (nodes if isinstance(nodes, list) else [nodes])])
        return self.create_op_node_from_desc(desc)

    def _update_desc_attr(self, desc: OpDesc, name: str, val: Any) -> None:
        desc.op.mark(name, val)

    def update_input_link(
        self, old_input_node: IrNode, new_input_node: IrNode, op_node: IrOpNode
    ) -> None:
        """Let an operator read another variable.

        Args:
            old_input_node, new_input_node: variables.
            op_node: the operator.
        """
        self._check_has(old_input_node, new_input_node, op_node)
        old_input_node.remove_output(op_node)
        op_node.remove_input(old_input_node)
        self.link_to(new_input_node, op_node)
        op_node.rename_input(old_input_node.name(), new_input_node.name())

    def update_output_link(
        self, old_output_node: IrNode, new_output_node: IrNode, op_node: IrOpNode
    ) -> None:
        """Let an operator write another variable; see :meth:`update_input_link`."""
        self._check_has(old_output_node, new_output_node, op_node)
        old_output_node.remove_input(op_node)
        op_node.remove_output(old_output_node)
        self.link_to(op_node, new_output_node)
        op_node.rename_output(old_output_node.name(), new_output_node.name())

    def link_to(self, node_in: IrNode, node_out: IrNode) -> None:
        """Let the second node need the first one."""
        self._check_has(node_in, node_out)
        graphs.link(node_in.node, node_out.node)

    def _check_has(self, *nodes: IrNode) -> None:
        for node in nodes:
            if self.graph.retrieve_node(node.id()) is not node.node:
                raise ArgumentError(f"node {node.id()} ({node.name()}) is not in the graph")

    def safe_remove_nodes(self, remove_nodes: IrNode | Iterable[IrNode]) -> None:
        """Take nodes out, and all links to them."""
        listed = [remove_nodes] if isinstance(remove_nodes, IrNode) else list(remove_nodes)
        graphs.graph_safe_remove_nodes(self.graph, [each.node for each in listed])

    def resolve_hazard(self) -> None:
        """Let what reads a variable be before what writes it anew."""
        self.graph.order_writers()

    def has_circle(self) -> bool:
        """Whether some operators need each other."""
        return graphs.has_circle(self.graph)

    def graph_num(self) -> int:
        """How many parts no link connects."""
        return graphs.graph_num(self.graph)

    def topology_sort(self) -> list[IrOpNode]:
        """The operators in an order in which they can run."""
        return [IrOpNode(node) for node in self.graph.sorted_operators()]

    def build_adjacency_list(self) -> dict[IrNode, set[IrNode]]:
        """Each operator, with those that have to run before it."""
        needed = graphs.build_adjacency_list(self.graph)
        return {viewed(node): {viewed(each) for each in nodes} for node, nodes in needed.items()}

    def draw(
        self,
        save_path: str,
        name: str,
        marked_nodes: Iterable[IrNode] | None = None,
        remove_ctr_var: bool = True,
    ) -> None:
        """Write a picture in the DOT language.

        Args:
            save_path: a folder, which is made.
            name: of the file in it, without ``.dot``.
            marked_nodes: those that have another colour.
            remove_ctr_var: take out what only orders operators, also from the graph.
        """
        if remove_ctr_var:
            self.safe_remove_nodes([n for n in self.all_var_nodes() if n.is_ctrl_var()])
        marked = {node.id() for node in marked_nodes or ()}
        nodes = sorted(self.graph.nodes(), key=Node.id)
        lines = [f"digraph {dot_string(name)} {{"]
        for node in nodes:
            shape = "box" if node.is_op() else "ellipse"
            colour = ", style=filled, fillcolor=yellow" if node.id() in marked else ""
            lines.append(
                f"  n{node.id()} [label={dot_string(node.name())}, shape={shape}{colour}];"
            )
        lines += [f"  n{node.id()} -> n{to.id()};" for node in nodes for to in node.outputs]
        os.makedirs(save_path, exist_ok=True)
        path = os.path.join(save_path, f"{name}.dot")
        write_text(path, "\n".join([*lines, "}", ""]))
        say(f"the graph is in {path}")

    def to_program(self) -> Program:
        """A program of what is linked: operators in order, and the variables that there are."""
        return self.graph.as_program()

    def _find_node_by_name(self, nodes: Iterable[IrNode], node_name: str) -> IrNode:
        found = next((node for node in nodes if node.name() == node_name), None)
        if found is None:
            raise ArgumentError(f"there is no node {node_name!r} among those that were given")
        return found
