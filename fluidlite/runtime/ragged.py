"""Which steps work on sequences of several lengths.

Their numbers of rows are others in every run, so they are interpreted: neither new lengths nor a
new number of rows makes a new plan.  Steps between them, the optimizer's among them, are compiled.
"""

from __future__ import annotations

from ..ground.dtypes import Kind
from ..ir.analysis import reads_of, writes_of
from ..ir.program import Program
from ..ir.variable import Variable


def ragged_names(program: Program) -> frozenset[str]:
    """The names of variables whose number of rows depends on lengths of sequences.

    Those that are declared so, those that an operator gives sequences, and what is computed from
    them: but for results whose sizes are all
    known, and results with one row for each sequence.

    Args:
        program: all blocks of it are looked at.
    """
    ragged = {
        name
        for block in program.blocks
        for name, variable in block.vars.items()
        if variable.lod_level or variable.kind is Kind.LOD_RANK_TABLE
    }
    ragged |= {
        name
        for block in program.blocks
        for op in block.ops
        if op.definition is not None and op.definition.host
        for slot in op.definition.outputs
        if slot.ragged  # how its rows form sequences follows from values, whatever is declared
        for name in op.outputs.get(slot.name, ())
    }
    if not ragged:
        return frozenset()
    pairs = []
    for block in program.blocks:
        for op in block.ops:
            definition = op.definition
            fixed = () if definition is None else definition.per_sequence
            excused = {name for slot in fixed for name in op.outputs.get(slot, ())}
            grown = [
                name
                for name in writes_of(op)
                if name not in excused and _may_grow(block.find_var_recursive(name))
            ]
            if grown:
                pairs.append((reads_of(op), grown))
    before = 0
    while before != len(ragged):  # what a loop writes is read in its next pass
        before = len(ragged)
        for reads, grown in pairs:
            if not ragged.isdisjoint(reads):
                ragged.update(grown)
    return frozenset(ragged)


def _may_grow(variable: Variable | None) -> bool:
    """Whether the sizes of a variable are not all known."""
    if variable is None or variable.persistable:
        return False
    return variable.kind is not Kind.LOD_TENSOR or not variable.has_shape or -1 in variable.shape
