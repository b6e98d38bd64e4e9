"""What loops and branches have in common: values that go from pass to pass, and what gradients
keep of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..ground.dtypes import Kind
from ..ir.analysis import GradientReads, read_by_gradients
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..onnx.control import block_of
from ..onnx.tracing import Cell, TracedArray
from ..onnx.writing import spec_of
from ..opdef.gradient import GRAD
from ..opdef.spec import Spec, spec
from .literals import ATOM, Part, Reference, operand, parts_of
from .statements import SourceGraph, Update, cells_in
from .writing import DRIVERS, SourceWriter

CHOICE = 5  #: how tightly ``a if b else c`` binds


@dataclass
class SavedPasses:
    """What gradients read of the passes through a block.

    Args:
        cell: a list with a tuple for each pass; of a branch a tuple, or None.
        values: what the tuples hold, by name: as the block had them.
    """

    cell: Cell
    values: Mapping[str, TracedArray]
    item: Update | None  #: the statement that keeps them


def drives(*types: str) -> Callable[[Any], Any]:
    """A decorator: the function writes operators of these types, which drive blocks."""

    def register(function: Any) -> Any:
        DRIVERS.update(dict.fromkeys(types, function))
        return function

    return register


def update(
    graph: SourceGraph, pairs: Iterable[tuple[Cell, list[Part]]], appends: bool = False
) -> Update | None:
    """Append an assignment of several values at once; or what is appended to lists."""
    pairs = list(pairs)
    if not pairs:
        return None
    targets, sources = ([*each] for each in zip(*pairs))
    graph.statements.append(Update(targets, sources, graph.origin, appends))
    found: Update = graph.statements[-1]
    return found


def keep_read(saved: SavedPasses, taken: dict[str, TracedArray], body: list[Any]) -> None:
    """Let passes keep no more than gradients turn out to read.

    Args:
        saved: of the passes.
        taken: what is kept, as the gradients know it; loses what they do not read.
        body: the statements of the gradients.
    """
    read = {cell for item in body for cell in cells_in(item)}
    for name in [name for name, value in taken.items() if value.cell not in read]:
        del taken[name]
    if saved.item is not None:
        at = saved.item.targets.index(saved.cell)
        saved.item.sources[at] = tuple_of(saved.values[name] for name in taken)


def carried(graph: SourceGraph, known: Spec | None, name: str) -> TracedArray:
    """A value that statements assign several times."""
    return graph.value(known, name)


def known_spec(value: Any) -> Spec:
    found: Spec = spec_of(value)
    return found._replace(lod_level=0)


def as_value(graph: SourceGraph, value: Any, name: str) -> TracedArray:
    if isinstance(value, TracedArray):
        return value
    if isinstance(value, np.ndarray):
        return graph.constant(value)
    raise UnsupportedError(f"it writes {name!r}, which is no tensor")


def is_array(block: Block, name: str) -> bool:
    variable = block.find_var_recursive(name)
    return variable is not None and variable.kind is Kind.LOD_TENSOR_ARRAY


def gradient_reads(op: Operator) -> GradientReads:
    """What gradients read of the block that an operator drives."""
    return read_by_gradients(op.block.program).get(block_of(op).idx, GradientReads())


def saved_names(op: Operator) -> list[str]:
    """The variables of the block among these, in order."""
    return sorted(gradient_reads(op).own)


def tuple_of(values: Iterable[Any]) -> list[Part]:
    return parts_of(tuple(values))


def saved_of(op: Operator, slot: str, env: Mapping[str, Any]) -> SavedPasses:
    """What the operator whose gradient one is has kept.

    Raises:
        UnsupportedError: that has no form itself.
    """
    found: SavedPasses | None = env.get(op.inputs[slot][0])
    if found is None:
        raise UnsupportedError("the operator whose gradient it is has none")
    return found


def taken_values(graph: SourceGraph, saved: SavedPasses) -> dict[str, TracedArray]:
    """Values for what was saved of a pass, as the header of a loop names them."""
    return {name: carried(graph, v.spec, f"{name}") for name, v in saved.values.items()}


def kept_values(frame: Mapping[str, Any], names: Iterable[str]) -> dict[str, TracedArray]:
    found = {name: frame[name] for name in names if name in frame}
    return {name: v for name, v in found.items() if isinstance(v, TracedArray)}


def zeros(writer: SourceWriter, value: Any) -> Any:
    return writer.fill_zeros_like(value)


def differentiated(op: Operator, slots: Iterable[str]) -> list[tuple[str, str, str]]:
    """What is differentiated: the name, what the block calls its gradient, and where that goes."""
    names = {slot: op.inputs.get(slot, ()) for slot in slots}
    local = op.instance().gradient_names(names)  # type: ignore[attr-defined]
    triples: list[tuple[str, str, str]] = []
    for slot, listed in names.items():
        outs = op.outputs.get(f"{slot}{GRAD}", ())
        for x, out in zip(listed, outs or [EMPTY] * len(listed)):
            triples.append((x, local[len(triples)], out))
    return triples


def popped(graph: SourceGraph, saved: SavedPasses, taken: Mapping[str, TracedArray]) -> Update:
    """Take what was kept of the last pass from the list."""
    cells = [value.cell for value in taken.values()]
    return Update(cells, [[Reference(saved.cell), ".pop()"]], graph.origin, unpacks=True)


def item_of(graph: SourceGraph, value: Any) -> Any:
    """A value of one element as a number of Python's."""
    made = graph.expression([*operand(graph.like(value, np.int64), ATOM), ".item()"])
    made.spec = spec([], "int64")
    return made
