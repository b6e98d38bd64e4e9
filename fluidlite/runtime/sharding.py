"""Which variables are split over the devices of a mesh, and the mesh that is used."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..ground import state
from ..ground.weak_tables import WeakTable
from ..ir.program import Program
from ..ir.variable import Variable


class Split(NamedTuple):
    """How a variable is split."""

    dimension: int
    over: str  #: the axis of the mesh


#: by program, the layouts of its variables by name
_layouts: state.StateSlot[WeakTable[Program, dict[str, Split]]] = state.slot("layouts", WeakTable)
#: the mesh that programs run on: of JAX; None for one device
mesh_in_use: state.StateSlot[Any] = state.slot("mesh", lambda: None)


def set_layout(variable: Variable, layout: Split) -> None:
    """Let a variable be split."""
    table = _layouts.get()
    program = variable.block.program
    known = table.of(program)
    (table.keep(program, {}) if known is None else known)[variable.name] = layout


def layouts_of(program: Program) -> dict[str, Split]:
    """The layouts of a program's variables, by name; states of an optimizer are split as their
    parameter is.
    """
    said = _layouts.get().of(program) or {}
    layouts = dict(said)
    block = program.global_block()
    for op in block.ops:
        for name in op.inputs.get("Param", ()):
            if name not in said:
                continue
            shape = block.vars[name].shape
            for other in (n for names in op.inputs.values() for n in names):
                known = block.vars.get(other)
                if known is not None and known.persistable and known.shape == shape:
                    layouts.setdefault(other, said[name])
    return layouts
