"""Passes by their names, for the command line: those of fluidlite, and those of a file."""

from __future__ import annotations

import runpy
from collections.abc import Mapping

from ..errors import UsageError
from ..ir.program import Program
from .expansion import expand
from .passes import ProgramPass, program_pass
from .sharing import share
from .simplification import simplify
from .specialization import fold_constants


@program_pass(name="for_test")
def _for_test(program: Program) -> Program:
    """Without gradients and steps; dropout, batch norm and the like work as in tests."""
    return program.clone(for_test=True)


@program_pass(name="expand")
def _expand(program: Program, whole: bool = False) -> Program:
    """Gradient operators are written out."""
    return expand(program, whole=whole)


@program_pass(name="fold_constants")
def _fold_constants(program: Program) -> Program:
    """What depends on constants alone is computed."""
    return fold_constants(program)


@program_pass(name="share")
def _share(program: Program) -> Program:
    """What is computed twice is computed once."""
    return share(program)


@program_pass(name="simplify")
def _simplify(program: Program, exact: bool = False) -> Program:
    """Laws of algebra are applied."""
    return simplify(program, exact=exact)


#: name -> pass
PASSES: dict[str, ProgramPass] = {
    pass_.name: pass_ for pass_ in (_for_test, _expand, _fold_constants, _share, _simplify)
}


def passes_of(path: str | None) -> Mapping[str, ProgramPass]:
    """Passes by name: fluidlite's, and those that a file of Python defines.

    Args:
        path: of the file, which is run; None for fluidlite's alone.

    Raises:
        UsageError: the file defines no pass.
    """
    if path is None:
        return PASSES
    defined = runpy.run_path(path)
    own = {p.name: p for p in defined.values() if isinstance(p, ProgramPass)}
    if not own:
        raise UsageError(f"{path} defines no pass: a function under transform.program_pass")
    return {**PASSES, **own}
