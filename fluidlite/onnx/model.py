"""A graph as a model of the `onnx` package, and its file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..files import Transaction
from .graph import Node, OnnxGraph
from .tracing import Cell
from .types import tensor_type

OPSET = 23  #: what onnxruntime 1.23 reads, the newest one for Python 3.10
OLDEST_OPSET = 18  #: from where on reductions take their dimensions as an input
IR_VERSION = 11
LARGEST_FILE = 2_000_000_000  #: bytes of parameters from which on they lie in a file of their own


def model_of(graph: OnnxGraph, opset: int, metadata: Mapping[str, str]) -> Any:
    """The message of a model.

    Args:
        graph: its nodes, inputs and outputs.
        opset: the version of the operators.
        metadata: what the file says of itself.
    """
    import onnx

    names = _Names(graph)
    message = names.message(graph, "main")
    made = onnx.helper.make_model(
        message,
        opset_imports=[onnx.helper.make_opsetid("", opset)],
        producer_name="fluidlite",
        ir_version=IR_VERSION,
    )
    onnx.helper.set_model_props(made, dict(metadata))
    names.put_initializers(made.graph)
    return made


def write_model(model: Any, path: str) -> None:
    """Write a model; its parameters beside it where they are too large for one message."""
    import onnx

    size = sum(len(each.raw_data) for each in model.graph.initializer)
    if size <= LARGEST_FILE:
        with Transaction() as files:
            files.write(path, model.SerializeToString())
        return
    data = os.path.basename(path) + ".data"
    onnx.save_model(model, path, save_as_external_data=True, location=data, size_threshold=1024)


class _Names:
    """Names for what has none, each once, and the initializers."""

    def __init__(self, graph: OnnxGraph) -> None:
        self._taken: dict[str, Cell] = {}
        self._constants: dict[Any, str] = {}
        self._count = 0
        self._initializers: list[tuple[str, Any]] = []
        for cell in (*graph.inputs, *graph.outputs):
            self._taken[cell.name] = cell
        for cell in graph.inputs:
            if cell.default is not None:
                self._initialize(cell.name, np.asarray(cell.default))

    def of(self, value: Any) -> str:
        """The name of a cell or an array; empty for what is absent."""
        if value is None:
            return ""
        if not isinstance(value, Cell):
            return self._array(np.asarray(value))
        if value.constant is not None and self._taken.get(value.name) is not value:
            if not value.name:
                return self._array(np.asarray(value.constant))
            self._own(value)
            self._initialize(value.name, np.asarray(value.constant))
            return value.name
        self._own(value)
        return value.name

    def _own(self, cell: Cell) -> None:
        if self._taken.get(cell.name) is cell and cell.name:
            return
        stem, count = cell.name or "t", 0
        while not cell.name or cell.name in self._taken:
            count += 1
            if stem == "t":
                self._count += 1
            cell.name = f"{stem}.{count if stem != 't' else self._count}"
        self._taken[cell.name] = cell

    def _array(self, array: Any) -> str:
        key = array.dtype.str, array.shape, array.tobytes()
        name = self._constants.get(key)
        if name is None:
            name = f"constant_{len(self._constants)}"
            while name in self._taken:
                name += "_"
            self._constants[key] = name
            self._taken[name] = Cell(name)
            self._initialize(name, array)
        return name

    def _initialize(self, name: str, array: Any) -> None:
        self._initializers.append((name, array))

    def put_initializers(self, message: Any) -> None:
        """Put the parameters into the message of a graph, each copied once.

        They go in when the graph is where it stays, since messages copy what is put into them.
        """
        for name, array in self._initializers:
            tensor = message.initializer.add()
            tensor.name, tensor.data_type = name, tensor_type(array.dtype)
            tensor.dims.extend(array.shape)
            tensor.raw_data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()

    def message(self, graph: OnnxGraph, name: str) -> Any:
        """The message of a graph, or of a body."""
        import onnx

        nodes = [self._node(node) for node in graph.live()]
        outputs = []
        for cell in graph.outputs:
            outputs.append(self._info(cell))
        inputs = [self._info(cell) for cell in graph.inputs]
        return onnx.helper.make_graph(nodes, name, inputs, outputs)

    def _node(self, node: Node) -> Any:
        import onnx

        attrs = {
            name: self.message(v, name) if isinstance(v, OnnxGraph) else v
            for name, v in node.attrs.items()
        }
        ins = [self.of(v) for v in node.inputs]
        while ins and not ins[-1]:
            ins.pop()
        outs = [self.of(v) for v in node.outputs]
        return onnx.helper.make_node(
            node.type, ins, outs, name=f"{node.type}:{outs[0]}", doc_string=node.origin, **attrs
        )

    def _info(self, cell: Cell) -> Any:
        import onnx

        name, spec = self.of(cell), cell.spec
        if spec is None:
            raise UnsupportedError(f"the shape of {name!r} is not known")
        dims = [f"{name}_{i}" if n == -1 else n for i, n in enumerate(spec.shape)]
        return onnx.helper.make_tensor_value_info(name, tensor_type(spec.dtype.dtype), dims)
