"""Graphs of ONNX nodes while they are built: values, nodes, and how a graph becomes a message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..ground.dtypes import as_dtype
from ..opdef.spec import Spec
from .tracing import NUMPY_FORMS, REDUCED_AT, Cell, TracedArray
from .types import tensor_type


@dataclass(eq=False)
class Node:
    """One node: what it reads (cells, arrays or None for what is absent), and what it makes."""

    type: str
    inputs: list[Any]
    outputs: list[Cell]
    attrs: dict[str, Any]
    origin: str = ""  #: the user's operator and line


@dataclass(eq=False)
class OnnxGraph:
    """Nodes in order.

    ``graph.Relu(x)`` appends a node of that type and gives its output; ``outputs=2`` asks for
    several.  Arrays and numbers may stand for values: they become constants.
    """

    parent: OnnxGraph | None = None
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Cell] = field(default_factory=list)
    outputs: list[Cell] = field(default_factory=list)
    origin: str = ""  #: what is being written out
    inner: OnnxGraph | None = None  #: the body that is being written
    checks: list[str] = field(default_factory=list)  #: what a run here checks, and ONNX does not
    #: of whole numbers that are kept as floats, the same as integers
    rounded: dict[Cell, TracedArray] = field(default_factory=dict)

    #: whether kernels see -1 for the size of a batch that is not known: they only reshape by it
    keeps_batch: bool = False

    @property
    def top(self) -> OnnxGraph:
        """The graph of the model."""
        return self if self.parent is None else self.parent.top

    @property
    def innermost(self) -> OnnxGraph:
        """The graph that takes the next nodes: of the bodies that are being written the last."""
        return self if self.inner is None else self.inner.innermost

    def value(self, spec: Spec | None, name: str = "", constant: Any = None) -> TracedArray:
        """A value without a node: an input, or a parameter."""
        made = TracedArray(self, spec, Cell(name, constant))
        made.cell.spec = spec
        return made

    def constant(self, array: Any) -> TracedArray:
        """An array as a value."""
        array = np.asarray(array)
        return self.value(Spec(array.shape, as_dtype(array.dtype)), constant=array)

    def node(self, type: str, ins: Iterable[Any], outputs: int = 1, **attrs: Any) -> Any:
        """Append a node; gives its output, or a tuple of them."""
        results = [TracedArray(self, None) for _ in range(outputs)]
        read = [v.cell if isinstance(v, TracedArray) else v for v in ins]
        given = {name: v for name, v in attrs.items() if v is not None}
        self.nodes.append(Node(type, read, [v.cell for v in results], given, self.origin))
        return results[0] if outputs == 1 else tuple(results)

    def __getattr__(self, type: str) -> Callable[..., Any]:
        if not type[:1].isupper():
            raise AttributeError(type)
        return lambda *ins, **attrs: self.node(type, ins, **attrs)

    def form(self, function: Any) -> Callable[..., Any]:
        """What writes a function of NumPy down.

        Raises:
            UnsupportedError: it has no form.
        """
        if function not in NUMPY_FORMS:
            raise UnsupportedError(f"{function.__name__} of NumPy has no form in ONNX here")
        return NUMPY_FORMS[function]

    def by_method(self, ufunc: Any, method: str, ins: Any, named: Mapping[str, Any]) -> Any:
        """Write down what a method of a ufunc computes.

        Raises:
            UnsupportedError: it has no form.
        """
        if method != "reduceat" or ufunc not in REDUCED_AT:
            raise UnsupportedError(f"{ufunc.__name__}.{method} has no form in ONNX here")
        return REDUCED_AT[ufunc](self, ins[0], [*np.asarray(ins[1]).tolist(), len(ins[0])])

    def like(self, value: Any, dtype: Any) -> Any:
        """A value in another element type; itself where it has that."""
        if not isinstance(value, TracedArray):
            return np.asarray(value).astype(dtype)
        if value.spec is not None and value.dtype == np.dtype(dtype):
            return value
        made = self.innermost.Cast(value, to=tensor_type(dtype))
        made.spec = None if value.spec is None else value.spec.with_dtype(np.dtype(dtype))
        return made

    def live(self) -> list[Node]:
        """The nodes that outputs depend on."""
        wanted, live_nodes = {id(v) for v in self.outputs}, []
        for node in reversed(self.nodes):
            if any(id(v) in wanted for v in node.outputs):
                live_nodes.append(node)
                wanted.update(id(v) for v in read_by(node))
        return live_nodes[::-1]


def read_by(node: Node) -> Iterable[Cell]:
    """The cells that a node reads, those that its bodies capture among them."""
    yield from (v for v in node.inputs if isinstance(v, Cell))
    for body in node.attrs.values():
        if isinstance(body, OnnxGraph):
            made = {id(v) for n in body.nodes for v in n.outputs} | {id(v) for v in body.inputs}
            read = [v for n in body.live() for v in read_by(n)] + body.outputs
            yield from (v for v in read if id(v) not in made)
