"""Parts of programs: what computes some variables from others, and chosen operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import ArgumentError, UnknownVariableError, suggestion
from ..ground.dtypes import Kind
from ..ir.analysis import fed_names
from ..ir.block import Block
from ..ir.program import Program
from ..ir.variable import Variable
from .blocks import ENDS
from .explaining import explained
from .parts import WRITTEN_FIRST, CutOut
from .selecting import (
    Operators,
    ValueAt,
    ValueLike,
    declaring_block,
    name_of,
    operators_of,
    place_of,
    variable_of,
)
from .versions import Version, Versions, block_of


def cut(
    program: Program,
    inputs: Iterable[ValueLike],
    outputs: Iterable[ValueLike],
    *,
    explain: bool = False,
) -> Program:
    """The part of a program that computes some variables from others.

    The inputs become data; parameters and what else stays between runs is kept where the part reads
    it.  A name stands for one value: for the last one among the outputs; among the inputs for the
    one that it holds before any operator writes it (data, parameters), else for the one that the
    part reads.  Where a variable holds several in turn, :class:`ValueAt` chooses another one; it is
    called ``x@VALUE_2`` in the part where ``x`` is something else, too.  Variables of a block
    within give one pass of that block, as a program.  A program with operators that feed and fetch
    gets new ones.

    Args:
        program: stays as it is.
        inputs: variables, names or values, visible where the outputs are.
        outputs: variables, names or values of one block.
        explain: print what came of each operator that is not as it was.
    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: the outputs need what is not among the inputs (says what, and which operators
            read it); an input stands for several values; or it is none that can be fed.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> h = fluid.layers.fc(x, 3, act="relu")
    >>> y = fluid.layers.fc(h, 2)
    >>> program = fluid.default_main_program()
    >>> [op.type for op in fluid.transform.cut(program, [h], [y]).global_block().ops]
    ['mul', 'elementwise_add']
    """
    inputs, outputs = _listed(inputs, "inputs"), _listed(outputs, "outputs")
    if not outputs:
        raise ArgumentError("expected outputs of the cut, got none")
    block = _block_of_all(program, outputs)
    for value in inputs:
        if declaring_block(block, name_of(value)) is None:
            known = {n: None for each in program.blocks for n in each.vars}
            hint = suggestion(name_of(value), known)
            raise UnknownVariableError(
                f"block {block.idx} of the program sees no variable {name_of(value)!r}{hint}"
            )
    versions = Versions(block)
    wanted = [_last(program, versions, value) for value in outputs]
    given = _given(program, versions, inputs, wanted)
    kept = needed_for(versions, wanted, given)
    part = CutOut(versions, kept, given, wanted)
    part.check()
    reason = "the outputs do not need it behind the inputs"
    return explained(part.build(program), explain, "cut", program, left_out=reason)


def extract(program: Program, operators: Operators, *, explain: bool = False) -> Program:
    """A program of some operators alone: what others gave them becomes data.

    Args:
        program: stays as it is.
        operators: what chooses operators of one block: operators, positions, types, variables that
            they write, or a function.
        explain: print what came of each operator that is not as it was.

    Raises:
        ArgumentError: there are no such operators, they lie in several blocks, or what they read
            cannot be fed.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(fluid.layers.fc(x, 3, act="relu"), 2)
    >>> part = fluid.transform.extract(fluid.default_main_program(), ["relu", 3])
    >>> [v.name for v in part.list_vars() if v.is_data]
    ['fc_0.tmp_1']
    """
    chosen = operators_of(program, operators)
    block = chosen[0].block
    elsewhere = next((op for op in chosen if op.block is not block), None)
    if elsewhere is not None:
        raise ArgumentError(
            f"expected operators of one block, got {place_of(chosen[0])} and {place_of(elsewhere)}"
        )
    versions = Versions(block)
    ids = {id(op) for op in chosen}
    positions = [i for i, op in enumerate(block.ops) if id(op) in ids and op.type not in ENDS]
    written = {version for i in positions for version in versions.writes[i]}
    read = [v for i in positions for v in (*versions.reads[i], *versions.passed_by[i])]
    inputs = [v for v in dict.fromkeys(read) if v not in written and _is_given(versions, v)]
    others = set(range(len(block.ops))) - set(positions)
    read_elsewhere = {v for i in others for v in versions.reads[i]}
    last = {name: (name, number) for name, number in sorted(written)}
    results = [v for v in last.values() if v in read_elsewhere or v not in read]
    results = [v for v in results if block.var_recursive(v[0]).kind is Kind.LOD_TENSOR]
    results.sort(key=lambda version: versions.writer[version])
    part = CutOut(versions, positions, inputs, results).build(program)
    return explained(part, explain, "extract", program, left_out="it was not chosen")


def _is_given(versions: Versions, version: Version) -> bool:
    """Whether a part without the writer of a value has to be fed it: not what stays in the scope,
    nor what nothing ever gives a value.
    """
    name, number = version
    variable = versions.block.find_var_recursive(name)
    if variable is None or versions.is_absent(version):
        return False
    return number > 0 or not (variable.persistable or variable.kind not in WRITTEN_FIRST)


def _listed(values: Iterable[ValueLike], what: str) -> list[ValueLike]:
    if isinstance(values, (str, Variable, ValueAt)):
        return [values]
    try:
        listed = list(values)
    except TypeError:
        raise ArgumentError(f"expected a list of variables as {what}, got {values!r:.60}") from None
    for value in listed:
        name_of(value)
    return listed


def _block_of_all(program: Program, outputs: Sequence[ValueLike]) -> Block:
    """The block that computes all outputs."""
    blocks = [block_of(program, v) or variable_of(program, v).block for v in outputs]
    for value, block in zip(outputs, blocks):
        if declaring_block(block, name_of(value)) is None:
            raise UnknownVariableError(f"block {block.idx} sees no variable {name_of(value)!r}")
        if block is not blocks[0]:
            raise ArgumentError(
                f"expected outputs of one block, got {name_of(outputs[0])!r} of block "
                f"{blocks[0].idx} and {name_of(value)!r} of block {block.idx}"
            )
    return blocks[0]


def _last(program: Program, versions: Versions, value: ValueLike) -> Version:
    if isinstance(value, ValueAt):
        return versions.meant(program, value)
    return name_of(value), versions.last.get(name_of(value), 0)


def _given(
    program: Program, versions: Versions, inputs: Sequence[ValueLike], wanted: Sequence[Version]
) -> list[Version]:
    """The values that inputs stand for, in the inputs' order.

    Raises:
        ArgumentError: one stands for several.
    """
    block = versions.block
    fed = fed_names(block)

    def begins_with_one(variable: Variable) -> bool:
        return variable.persistable or variable.is_data or variable.name in fed

    chosen: list[Version | None] = []
    for value in inputs:
        name = name_of(value)
        variable = block.find_var_recursive(name)
        assert variable is not None
        if isinstance(value, ValueAt):
            chosen.append(versions.meant(program, value))
        elif begins_with_one(variable) or name in versions.read_first or name not in versions.last:
            chosen.append((name, 0))
        elif versions.last[name] == 1:
            chosen.append((name, 1))
        else:
            chosen.append(None)
    open_names = {name_of(value) for value, known in zip(inputs, chosen) if known is None}
    if not open_names:
        return [known for known in chosen if known is not None]
    all_of = [(n, v) for n in open_names for v in range(versions.last[n] + 1)]
    positions = needed_for(versions, wanted, [*(known for known in chosen if known), *all_of])
    read: dict[str, dict[int, int]] = {name: {} for name in open_names}  # version -> a reader
    for position in positions:
        for name, version in (*versions.reads[position], *versions.passed_by[position]):
            if name in read:
                read[name].setdefault(version, position)
    for name, version in wanted:
        if name in read and not read[name]:
            read[name][version] = -1
    return [
        known or (name_of(value), _only(versions, name_of(value), read[name_of(value)]))
        for value, known in zip(inputs, chosen)
    ]


def _only(versions: Versions, name: str, readers: dict[int, int]) -> int:
    if len(readers) < 2:
        return next(iter(readers), versions.last[name])
    ops = versions.block.ops
    lines = "".join(
        f"\n  the one of {place_of(ops[versions.writer[name, v]])} is read by "
        f"{place_of(ops[reader])}"
        for v, reader in readers.items()
    )
    raise ArgumentError(
        f"the input {name!r} holds {len(readers)} values that the outputs need:{lines}\n"
        f"say which by transform.ValueAt({name!r}, after=...)"
    )


def needed_for(
    versions: Versions, wanted: Iterable[Version], given: Iterable[Version]
) -> list[int]:
    """The positions of the operators that compute values from others, in order."""
    fed = set(given)
    needed = {version for version in wanted if version not in fed}
    positions = []
    for position in range(len(versions.reads) - 1, -1, -1):
        if not needed.isdisjoint(versions.writes[position]):
            positions.append(position)
            read = (v for v in versions.reads[position] if v not in fed)
            needed.update(v for v in read if not versions.is_absent(v))
            needed.update(
                v for v in versions.passed_by[position] if v not in fed and (v[1] or v in needed)
            )
    positions.reverse()
    return positions
