"""Names that a model has for sizes which it leaves open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ..errors import FluidError
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.shape_inference import declare_outputs
from ..ir.size_names import SizeName, is_size_name
from ..ir.variable import Variable


def name_sizes(program: Program, graph: Any, named: Callable[[str], str]) -> None:
    """Name the open sizes of what a program is fed as the model does, and of what follows.

    Some models call equal sizes differently.  Names that an operator refuses to be unequal are left
    out.

    Args:
        program: of the model.
        graph: of the model.
        named: gives the name of a variable, of that in the model.
    """
    variables = program.global_block().vars
    told: dict[str, list[str]] = {}
    for info in graph.input:
        variable = variables.get(named(info.name))
        dims = info.type.tensor_type.shape.dim
        if variable is not None and len(dims) == variable.ndim:
            unnamed = [f"{info.name}_{axis}" for axis in range(len(dims))]  # as the export says
            told[variable.name] = [
                d.dim_param if n == -1 and is_size_name(d.dim_param) and d.dim_param != own else ""
                for n, d, own in zip(variable.shape, dims, unnamed)
            ]
    refused: set[str] = set()
    while any(name and name not in refused for names in told.values() for name in names):
        trial = program.clone()
        for variable_name, names in told.items():
            known = [None if n in refused else SizeName(n, variable_name) for n in names]
            if any(known):
                trial.global_block().var(variable_name).size_names = tuple(n or None for n in known)
        clash = _clash(trial)
        if clash is None:
            _take_names(program, trial)
            return
        refused |= clash


def _clash(program: Program) -> set[str] | None:
    """Let names flow; None, or names without which an operator takes what it reads."""
    for block in program.blocks:
        for op in block.ops:
            names = _names_read(op)
            if names and op.definition is not None and not _takes(op):
                return next(({name} for name in names if _takes(op, name)), set(names))
    return None


def _named_inputs(op: Operator) -> list[Variable]:
    read = [op.block.find_var_recursive(name) for name in op.input_arg_names if name != EMPTY]
    return [variable for variable in read if variable is not None and variable.size_names]


def _names_read(op: Operator) -> list[str]:
    """The names of sizes of what an operator reads, the rarest first."""
    counts = Counter(n for v in _named_inputs(op) for n in v.size_names if n is not None)
    return sorted(counts, key=lambda name: (counts[name], name))


def _takes(op: Operator, but: str | None = None) -> bool:
    """Whether an operator takes the sizes that it reads, one of them without its name."""
    before = [(variable, variable.size_names) for variable in _named_inputs(op)]
    try:
        for variable, names in before:
            variable.size_names = tuple(None if n == but else n for n in names)
        declare_outputs(op, op.instance(), op.block.var_recursive)
    except FluidError:
        return False
    finally:
        for variable, names in before:
            variable.size_names = names
    return True


def _take_names(program: Program, trial: Program) -> None:
    for block, tried in zip(program.blocks, trial.blocks, strict=True):
        for name, variable in block.vars.items():
            if tried.vars[name].spec == variable.spec:
                variable.size_names = tried.vars[name].size_names
