"""What passes over programs may need, give and keep."""

from __future__ import annotations

from collections.abc import Iterator

from ..ground.contracts import Condition, Invariant
from ..ground.public_names import list_public_names
from ..ir.analysis import blocks_driven_by, fed_names, fetched_names
from ..ir.operator import Operator, OpRole
from ..ir.program import Program


def _operators(program: Program) -> Iterator[Operator]:
    for block in program.blocks:
        yield from block.ops


def _said(op: Operator) -> str:
    where = "" if op.callsite is None else f", made at {op.callsite}"
    return f"operator {op.type} of block {op.block.idx}{where}"


def _gradients_fault(program: Program) -> str | None:
    op = next((op for op in _operators(program) if op.role & OpRole.BACKWARD), None)
    return None if op is None else f"{_said(op)}, computes gradients"


def _steps_fault(program: Program) -> str | None:
    op = next((op for op in _operators(program) if op.role & OpRole.OPTIMIZE), None)
    return None if op is None else f"{_said(op)}, updates parameters"


def _control_fault(program: Program) -> str | None:
    op = next((op for op in _operators(program) if blocks_driven_by(op)), None)
    return None if op is None else f"{_said(op)}, drives a block"


def _sizes_fault(program: Program) -> str | None:
    tensors = (v for v in program.list_vars() if v.has_shape)
    variable = next((v for v in tensors if -1 in v.shape), None)
    if variable is None:
        return None
    return f"variable {variable.name!r} has shape {list(variable.shape)}"


def _known_fault(program: Program) -> str | None:
    op = next((op for op in _operators(program) if op.definition is None), None)
    return None if op is None else f"{_said(op)}, is of a type that nobody defined"


def _test_fault(program: Program) -> str | None:
    def trains(op: Operator) -> bool:
        return "is_test" in getattr(op.definition, "attributes", ()) and not op.attr("is_test")

    op = next((op for op in _operators(program) if trains(op)), None)
    return None if op is None else f"{_said(op)}, works as in training"


#: no operator computes gradients
no_gradients: Condition[Program] = Condition("no operator computes gradients", _gradients_fault)
#: no operator updates parameters
no_updates: Condition[Program] = Condition("no operator updates parameters", _steps_fault)
#: no operator drives a block
no_control_flow: Condition[Program] = Condition("no operator drives a block", _control_fault)
#: all sizes are declared
known_sizes: Condition[Program] = Condition("all sizes are declared", _sizes_fault)
#: every operator has a definition
known_operators: Condition[Program] = Condition("every operator has a definition", _known_fault)
#: dropout, batch norm and the like work as in tests
for_test: Condition[Program] = Condition("operators work as in tests", _test_fault)


def _interface(program: Program) -> dict[str, object]:
    block = program.global_block()
    forms = {v.name: f"fed as {v.spec}" for v in block.vars.values() if v.is_data}
    fetched = dict.fromkeys(fetched_names(block), "fetched")
    return {**dict.fromkeys(fed_names(block), "fed"), **forms, **fetched}


def _persistable(program: Program) -> dict[str, object]:
    return {v.name: str(v.spec) for v in program.list_vars() if v.persistable}


def _gradients(program: Program) -> dict[str, object]:
    written = (n for op in _operators(program) for n in op.output_arg_names)
    return {n: "computed" for n in written if n.endswith("@GRAD")}


#: what is fed and fetched, with shapes and element types
interface: Invariant[Program] = Invariant("what is fed and fetched", _interface)
#: variables that stay between runs: parameters, what optimizers keep
persistable: Invariant[Program] = Invariant("variables that stay between runs", _persistable)
#: the names of gradients
gradients: Invariant[Program] = Invariant("the gradients", _gradients)

__all__ = [
    "for_test", "gradients", "interface", "known_operators", "known_sizes", "no_control_flow",
    "no_gradients", "no_updates", "persistable",
]  # fmt: skip

list_public_names(globals())
