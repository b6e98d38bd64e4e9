"""Scalars, histograms and graphs of programs in the files of TensorBoard."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from ..ground.files import usable_path
from ..ir.program import Program


class Board:
    """Writes to a folder that TensorBoard reads, through tensorboardX (extra ``tensorboard``).

    Args:
        folder: created if it does not exist.

    Raises:
        ArgumentError: tensorboardX is not installed.
    """

    def __init__(self, folder: str) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise ArgumentError(
                'files for TensorBoard need tensorboardX: pip install "fluidlite[tensorboard]"'
            ) from None
        self._writer: Any = SummaryWriter(usable_path("write", folder))

    def scalar(self, name: str, value: float, step: int) -> None:
        """Write a number of a step."""
        self._writer.add_scalar(name, float(value), step)

    def histogram(self, name: str, array: Any, step: int) -> None:
        """Write how the elements of an array are distributed."""
        self._writer.add_histogram(name, array, step)

    def graph(self, program: Program) -> None:
        """Write the operators of a program, and who reads whose results."""
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.graph_pb2 import GraphDef
        from tensorboardX.proto.node_def_pb2 import NodeDef

        nodes: list[Any] = []
        writers: dict[str, str] = {}
        for block in program.blocks:
            for index, op in enumerate(block.ops):
                name = f"block_{block.idx}/{op.type}_{index}"
                sources = [writers.get(each, each) for each in op.input_arg_names]
                nodes.append(NodeDef(name=_legal(name), op=op.type, input=map(_legal, sources)))
                writers.update(dict.fromkeys(op.output_arg_names, name))
            written = set(writers)
            for variable in block.vars.values():
                if variable.name not in written:
                    nodes.append(NodeDef(name=_legal(variable.name), op="Variable"))
        graph = GraphDef(node=nodes)
        event = Event(graph_def=graph.SerializeToString())
        self._writer.file_writer.add_event(event)

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._writer.close()


def _legal(name: str) -> str:
    return name.replace("@", ".").replace(":", ".")
