"""Names only: where fluid 1.8 scripts look for programs, variables and their guards."""

from __future__ import annotations

from .ir.block import Block
from .ir.name_scope import name_scope
from .ir.operator import Operator, OpRole
from .ir.program import (
    Program,
    default_main_program,
    default_startup_program,
    program_guard,
    switch_main_program,
    switch_startup_program,
)
from .ir.variable import Parameter, Variable
from .runtime.place import cpu_places, cuda_places, is_compiled_with_cuda
from .state import get_flags, in_dygraph_mode, set_flags

__all__ = [
    "Block",
    "OpRole",
    "Operator",
    "Parameter",
    "Program",
    "Variable",
    "cpu_places",
    "cuda_places",
    "default_main_program",
    "default_startup_program",
    "get_flags",
    "in_dygraph_mode",
    "is_compiled_with_cuda",
    "name_scope",
    "program_guard",
    "set_flags",
    "switch_main_program",
    "switch_startup_program",
]
