"""Which variables, values and operators of a program an argument means."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ..errors import ArgumentError, UnknownVariableError, suggestion
from ..ir.block import Block
from ..ir.effects import OperatorPlace
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable

#: operators: one of them; its position in block 0; the numbers of its block and its position; a
#: type; a variable that they write; a condition; or several of these
Operators: TypeAlias = (
    "Operator | int | tuple[int, int] | str | Variable | Callable[[Operator], bool]"
    "| Iterable[Operators]"
)


_T = TypeVar("_T")


class ValueAt(NamedTuple):
    """One of the values that a variable holds in turn, where operators write it several times.

    variable: the variable, or its name.
    after: an operator; the value is what the variable holds when that has run.
    before: an operator; the value is what the variable holds when that begins.

    >>> fluid.transform.ValueAt("x", after=2)
    ValueAt(variable='x', after=2, before=None)
    """

    variable: str | Variable
    after: Operators | None = None
    before: Operators | None = None


VariableLike: TypeAlias = str | Variable
ValueLike: TypeAlias = str | Variable | ValueAt


def place_of(op: Operator) -> str:
    """What messages call an operator: its type, its place and its line."""
    return f"{op.type} ({OperatorPlace(op, op.idx)})"


def name_of(variable: ValueLike) -> str:
    """The name of a variable that an argument means.

    Raises:
        ArgumentError: it means none.
    """
    if isinstance(variable, ValueAt):
        variable = variable.variable
    name = variable.name if isinstance(variable, Variable) else variable
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"expected a variable or its name, got {name!r:.60}")
    return name


def one_or_several(given: _T | Iterable[_T], kinds: Any, what: str) -> list[_T]:
    """What an argument holds that is one thing or several.

    Args:
        given: the argument.
        kinds: the types of one thing.
        what: the things, for the message.

    Raises:
        ArgumentError: it is neither.
    """
    if isinstance(given, kinds):
        return [given]
    if not isinstance(given, Iterable):
        raise ArgumentError(f"expected {what}, got {given!r:.60} of type {type(given).__name__}")
    return list(given)


def names_in_block_0(
    program: Program, variables: Iterable[Variable | str] | Variable | str
) -> list[str]:
    """The names of the variables of block 0 that an argument means: one, or several.

    Raises:
        UnknownVariableError: block 0 has no variable of a name.
        ArgumentError: it means none.
    """
    if not isinstance(program, Program):
        raise ArgumentError(f"expected a program, got {program!r:.60}")
    listed = one_or_several(variables, (str, Variable), "variables or their names")
    names = [name_of(v) for v in listed]
    known = program.global_block().vars
    for name in names:
        if name not in known:
            raise UnknownVariableError(f"block 0 has no variable {name!r}{suggestion(name, known)}")
    return names


def variable_of(program: Program, which: ValueLike) -> Variable:
    """The variable of a program that an argument means: a name means that of block 0, or that of
    the only block which has one.

    Args:
        program: has it.
        which: a variable, of this program or of a copy; or a name.

    Raises:
        UnknownVariableError: the program has no such variable.
        ArgumentError: several blocks have one.
    """
    name = name_of(which)
    given = which.variable if isinstance(which, ValueAt) else which
    if isinstance(given, Variable):
        blocks = program.blocks[given.block.idx : given.block.idx + 1]
    else:
        blocks = program.blocks
    owners = [block for block in blocks if name in block.vars]
    if not owners:
        known = {known: None for block in program.blocks for known in block.vars}
        raise UnknownVariableError(f"the program has no variable {name!r}{suggestion(name, known)}")
    if len(owners) > 1 and owners[0].idx:
        numbers = " and ".join(str(block.idx) for block in owners)
        raise ArgumentError(
            f"blocks {numbers} have a variable {name!r} each; give the variable itself: "
            f"program.block({owners[0].idx}).var({name!r})"
        )
    return owners[0].vars[name]


def operators_of(program: Program, where: Operators) -> list[Operator]:
    """The operators of a program that an argument means, each once, in the program's order.

    Args:
        program: has them.
        where: an operator of the program; its position in block 0; the numbers of its block and its
            position; the type of operators; a variable, by which those are meant that write it; a
            function that says which; or several of these.

    Raises:
        ArgumentError: there is none; says what was looked for.
    """
    chosen: dict[int, Operator] = {}
    for each in _parts(where):
        found = list(_meant_by(program, each))
        if not found:
            raise ArgumentError(_none_there(program, each))
        chosen.update((id(op), op) for op in found)
    if not chosen:
        raise ArgumentError("expected operators, got none")
    return [op for block in program.blocks for op in block.ops if id(op) in chosen]


def operator_of(program: Program, where: Operators) -> Operator:
    """The one operator that an argument of :func:`operators_of` means.

    Raises:
        ArgumentError: there is none, or there are several.
    """
    operators = operators_of(program, where)
    if len(operators) > 1:
        some = ", ".join(place_of(op) for op in operators[:3])
        raise ArgumentError(f"expected one operator, {where!r:.60} means {len(operators)}: {some}")
    return operators[0]


def positions_of(ops: Iterable[Operator]) -> list[tuple[int, int]]:
    """Where operators stand: number of the block and position, which are those of a copy, too."""
    ops = list(ops)
    blocks = {op.block.idx: op.block for op in ops}
    known = {id(op): i for block in blocks.values() for i, op in enumerate(block.ops)}
    return [(op.block.idx, known[id(op)]) for op in ops]


def _parts(where: Operators) -> list[Operators]:
    """One by one what an argument is made of."""
    if isinstance(where, tuple) and len(where) == 2 and all(type(n) is int for n in where):
        return [where]
    if isinstance(where, (str, Operator, Variable)) or not isinstance(where, Iterable):
        return [where]
    return [part for each in where for part in _parts(each)]


def _meant_by(program: Program, where: Operators) -> Iterable[Operator]:
    if isinstance(where, Operator):
        there = where.block.program is program and where in where.block.ops
        return [where] if there else []
    if isinstance(where, Variable):
        return (op for op in _all(program) if _writes(op, variable_of(program, where)))
    if isinstance(where, str):
        of_type = [op for op in _all(program) if op.type == where]
        known = not of_type and any(where in block.vars for block in program.blocks)
        return _meant_by(program, variable_of(program, where)) if known else of_type
    if isinstance(where, int) and not isinstance(where, bool):
        return _at(program, 0, where)
    if isinstance(where, tuple):
        return _at(program, *where)
    if callable(where):
        return [op for op in _all(program) if where(op)]
    raise ArgumentError(
        f"expected operators: positions, types, variables or a function, got {where!r:.60}"
    )


def _all(program: Program) -> Iterable[Operator]:
    return (op for block in program.blocks for op in block.ops)


def _writes(op: Operator, variable: Variable) -> bool:
    return op.writes(variable.name) and op.find_var(variable.name) is variable


def _at(program: Program, block: int, position: int) -> list[Operator]:
    if not 0 <= block < program.num_blocks:
        return []
    ops = program.blocks[block].ops
    return [ops[position]] if -len(ops) <= position < len(ops) else []


def _none_there(program: Program, where: Operators) -> str:
    if isinstance(where, Operator):
        return f"the program has not the operator {where}; give one of this program, not of a copy"
    if isinstance(where, Variable):
        return f"no operator of the program writes {where.name!r}"
    if isinstance(where, str):
        if any(where in block.vars for block in program.blocks):
            return f"no operator of the program writes {where!r}"
        types = {op.type: None for op in _all(program)}
        names = {name: None for block in program.blocks for name in block.vars}
        hint = suggestion(where, {**types, **names})
        return f"the program has no operator of the type {where!r}, and no such variable{hint}"
    if isinstance(where, (int, tuple)):
        index, position = where if isinstance(where, tuple) else (0, where)
        return f"the program has no operator {position} in block {index}"
    return "the function chose none of the operators"


def declaring_block(block: Block, name: str) -> Block | None:
    """The block whose variable a name means in a block; None if there is none."""
    variable = block.find_var_recursive(name)
    return None if variable is None else variable.block
