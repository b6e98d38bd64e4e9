"""A cell of a notebook that builds, and is run again after what it built was run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ground import state
from ..ground.callsite import CallSite, caller, warn
from ..ground.notebook_cells import CellRun, may_run, running

if TYPE_CHECKING:
    from .program import Program

#: the run of a cell that was last warned of
_told: state.StateSlot[list[CellRun]] = state.slot("cells that build again", list)


def building_site(program: Program) -> CallSite | None:
    """The user's line that builds into a program; a cell that does so is noted."""
    site = caller()
    if may_run():
        _note_cell(program, site)
    return site


def _note_cell(program: Program, site: CallSite | None) -> None:
    """Remember which cell builds into a program; warn where it did so before, and the program was
    run since.

    Args:
        program: what is built into.
        site: the line that builds.
    """
    run = None if site is None else running(site.file)
    if run is None or program.built_by.get(run.cell) == run.number:
        return
    before = program.built_by.get(run.cell)
    program.built_by[run.cell] = run.number
    told = _told.get()
    if before is None or not program.remembered or run in told:
        return
    told[:] = [run]
    warn(
        "this cell was run before, and builds into a program that was run since: what it builds is "
        "added to what is there, under other names; begin the cell with "
        "fluid.reset_default_programs(), or build into programs that the cell makes",
        site,
    )
