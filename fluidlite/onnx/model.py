"""A graph as a model of the `onnx` package, and its file."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from ..errors import UnsupportedError
from ..ground.files import Transaction
from ..ground.quoting import encodable
from .graph import Node, OnnxGraph
from .tracing import Cell
from .types import tensor_type

OPSET = 22  #: onnxruntime 1.23, the newest one for Python 3.10, lacks QuantizeLinear of 23
OLDEST_OPSET = 18  #: from where on reductions take their dimensions as an input
IR_VERSION = 11
SMALLEST_BESIDE = 1024  #: bytes of an array from which on it may lie in a file of its own
ALIGNMENT = 64  #: of parameters in a file of their own
#: the numbers of fields of messages: a model's graph, a graph's parameters, a tensor's numbers
_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9
LARGEST_FILE = 2_000_000_000  #: bytes of parameters from which on they lie in a file of their own


@dataclass
class OnnxModel:
    """A message without its parameters, and these by name.

    Messages copy what is put into them, so the parameters go from where they are to the file.
    """

    message: Any
    initializers: dict[str, Any]


def model_of(graph: OnnxGraph, opset: int, metadata: Mapping[str, str]) -> OnnxModel:
    """The message of a model.

    Args:
        graph: its nodes, inputs and outputs.
        opset: the version of the operators.
        metadata: what the file says of itself.
    """
    import onnx

    names = _Names(graph)
    message = names.message(graph, "main")
    model = onnx.helper.make_model(
        message,
        opset_imports=[onnx.helper.make_opsetid("", opset)],
        producer_name="fluidlite",
        ir_version=IR_VERSION,
    )
    onnx.helper.set_model_props(model, dict(metadata))
    return OnnxModel(model, names.initializers)


def write_model(model: OnnxModel, path: str) -> None:
    """Write a model; its large parameters beside it where they are too large for one message."""
    size = sum(array.nbytes for array in model.initializers.values())
    beside = {
        name: array
        for name, array in model.initializers.items()
        if size > LARGEST_FILE and array.nbytes >= SMALLEST_BESIDE
    }
    data = os.path.basename(path) + ".data"
    tensors = _tensors(model.initializers, beside, data)
    inside = [None if name in beside else a for name, a in model.initializers.items()]
    with Transaction() as files:
        if beside:
            with files.open(os.path.join(os.path.dirname(path), data)) as file:
                for array in beside.values():
                    file.write(_bytes_of(array))
                    file.write(bytes(-array.nbytes % ALIGNMENT))
        with files.open(path) as file:
            _write_message(file, model.message, list(zip(tensors, inside)))


def _tensors(initializers: Mapping[str, Any], beside: Container[str], data: str) -> Iterator[Any]:
    """The messages of parameters, without their numbers; some of these lie in a file beside."""
    import onnx

    position = 0
    for name, array in initializers.items():
        tensor = onnx.TensorProto(name=name, data_type=tensor_type(array.dtype), dims=array.shape)
        if name in beside:
            tensor.data_location = onnx.TensorProto.EXTERNAL
            said = {"location": data, "offset": position, "length": array.nbytes}
            for key, value in said.items():
                tensor.external_data.add(key=key, value=str(value))
            position += array.nbytes + -array.nbytes % ALIGNMENT
        yield tensor


def _write_message(file: BinaryIO, message: Any, parameters: list[tuple[Any, Any]]) -> None:
    """Write a model, and the parameters behind the other fields of its graph.

    A field is its number and the kind of its content, the length of that, and the content.

    Args:
        file: where to.
        message: of the model; loses its graph.
        parameters: pairs of a message and an array, which is None where that lies elsewhere.
    """
    graph = message.graph.SerializeToString()
    message.ClearField("graph")
    begins = []
    for tensor, array in parameters:
        begin = tensor.SerializeToString()
        count = 0 if array is None else array.nbytes
        if array is not None:
            begin += _field(_RAW_DATA, count)
        begins.append(_field(_INITIALIZER, len(begin) + count) + begin)
    numbers = sum(array.nbytes for _, array in parameters if array is not None)
    file.write(message.SerializeToString())
    file.write(_field(_GRAPH, len(graph) + sum(map(len, begins)) + numbers))
    file.write(graph)
    for begin, (_, array) in zip(begins, parameters, strict=True):
        file.write(begin)
        if array is not None:
            file.write(_bytes_of(array))


def _field(number: int, length: int) -> bytes:
    """What stands before the content of a field."""
    head = bytearray([number << 3 | 2])
    while length > 127:
        head.append(length & 127 | 128)
        length >>= 7
    return bytes([*head, length])


def _bytes_of(array: Any) -> Any:
    """The numbers of an array as a file has them; a view where they lie so in memory."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return plain.reshape(-1).view(np.uint8).data


class _Names:
    """Names for what has none, each once, and the initializers."""

    def __init__(self, graph: OnnxGraph) -> None:
        self._taken: dict[str, Cell] = {}
        self._constants: dict[Any, str] = {}
        self._count = 0
        self.initializers: dict[str, Any] = {}
        for cell in (*graph.inputs, *graph.outputs):
            cell.name = encodable(cell.name, None)  # messages hold UTF-8
            self._taken[cell.name] = cell
        for cell in graph.inputs:
            if cell.default is not None:
                self.initializers[cell.name] = np.asarray(cell.default)

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
            self.initializers[value.name] = np.asarray(value.constant)
            return value.name
        self._own(value)
        return value.name

    def _own(self, cell: Cell) -> None:
        cell.name = encodable(cell.name, None)
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
            self.initializers[name] = array
        return name

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
        names = cell.size_names if len(cell.size_names) == spec.ndim else [None] * spec.ndim
        dims = [
            (given or f"{name}_{i}") if n == -1 else n
            for i, (n, given) in enumerate(zip(spec.shape, names))
        ]
        return onnx.helper.make_tensor_value_info(name, tensor_type(spec.dtype.dtype), dims)
