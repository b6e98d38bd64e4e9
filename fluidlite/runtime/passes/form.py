"""What a pass is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...opdef.prepared import KernelLibrary
from ..graph import Graph, Instruction
from ..lower import Lowering
from ..value import Value


@dataclass
class Context:
    """What passes may use beside the graph.

    Args:
        builder: puts instructions into the graph.
        libraries: kernel libraries for this graph, beside NumPy's kernels.
        choices: of each instruction, which kernel was chosen and why; filled by kernel selection.
        composed: instructions whose kernel does more than their operator says; filled by it, too.
    """

    builder: Lowering
    libraries: Sequence[KernelLibrary] = ()
    choices: dict[Instruction, str] = field(default_factory=dict)
    composed: set[Instruction] = field(default_factory=set)

    def replace(self, graph: Graph, instruction: Instruction, value: Value) -> None:
        """Let another value, in the shape of the result of an instruction, stand for it."""
        result = instruction.result
        if value.shape != result.shape:
            with self.builder.at(instruction) as f:
                value = f.reshape(value, shape=list(result.shape))
        graph.replace(instruction, value)


class Pass(NamedTuple):
    """A rewriting of graphs, with a name by which it can be left out."""

    name: str
    #: rewrites the graph; says whether it changed anything
    run: Callable[[Graph, Context], bool]
    #: whether results keep every bit; the docstring of ``run`` states the rounding of the others
    exact: bool = True
