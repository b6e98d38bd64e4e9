"""More operators, in front of operators of a program and behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias, cast

from .. import unique_name
from ..errors import ArgumentError, UnknownVariableError
from ..ground.docstrings import Family
from ..ir.analysis import blocks_driven_by
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program, program_guard
from ..ir.variable import Variable
from .editing import copied_operator, transformed
from .explaining import explained
from .merging import Programs, programs_of
from .replacing import check_alike, check_gradients, read_instead
from .selecting import Operators, one_or_several, operators_of, place_of, positions_of
from .versions import Versions, mentions

Results: TypeAlias = Variable | Sequence[Variable | None] | None
Insertion: TypeAlias = Callable[..., Results] | Operator | Iterable[Operator]


_INSERTED = Family(
    {
        "program": "stays as it is; or a main and a startup program, where what is inserted has "
        "parameters.",
        "at": "which operators; all of them get what is inserted.",
        "explain": "print what came of each operator that is not as it was.",
    },
    returns="the program; or the pair.",
    raises="ArgumentError: there are no such operators; or the function returns something else, or "
    "makes parameters without a startup program.\n"
    "ShapeError, DTypeError: what an operator is to read is unlike what it reads.\n"
    "UnsupportedError: the program has gradients that would have to be others.",
)


@_INSERTED
def insert_before(
    program: Programs, at: Operators, what: Insertion, *, explain: bool = False
) -> Programs:
    """A program with more operators in front of some.

    Args:
        what: a function that is given the variables that an operator reads, and builds by layers;
            what it returns, the operator reads in their place: variables, in their order, None for
            those that stay.  Or operators, of any program, whose variables are declared where they
            are missing.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(x, 3)
    >>> program = fluid.transform.insert_before(
    ...     fluid.default_main_program(), "mul", lambda x, w: (None, fluid.layers.tanh(w))
    ... )
    >>> [op.type for op in program.global_block().ops]
    ['tanh', 'mul', 'elementwise_add']
    """
    return _inserted(program, at, what, False, explain)


@_INSERTED
def insert_after(
    program: Programs, at: Operators, what: Insertion, *, explain: bool = False
) -> Programs:
    """A program with more operators behind some.

    Args:
        what: a function that is given the variables that an operator writes, and builds by layers;
            what it returns, operators behind read in their place: variables, in their order, None
            for those that stay.  Or operators, as of :func:`insert_before`.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.relu(fluid.layers.relu(x))
    >>> program = fluid.transform.insert_after(
    ...     fluid.default_main_program(), "relu", lambda y: fluid.layers.scale(y, 0.5)
    ... )
    >>> [op.type for op in program.global_block().ops]
    ['relu', 'scale', 'relu', 'scale']
    """
    return _inserted(program, at, what, True, explain)


def _inserted(
    program: Programs, at: Operators, what: Insertion, behind: bool, explain: bool
) -> Programs:
    main, *startups = programs_of(program, "the program")
    places = positions_of(operators_of(main, at))
    grown: list[Program] = [startup.clone() for startup in startups]
    insert = partial(_insert, places=places, what=what, behind=behind, startups=grown)
    changed = transformed(main, insert)
    for startup in grown:
        startup.verify()
    name = "insert_after" if behind else "insert_before"
    explained((changed, *grown), explain, name, main, *startups)
    return cast("Programs", (changed, grown[0]) if grown else changed)


def _insert(
    copied: Program,
    places: Sequence[tuple[int, int]],
    what: Insertion,
    behind: bool,
    startups: Sequence[Program],
) -> None:
    chosen = [copied.blocks[index].ops[position] for index, position in places]
    names = FreeNames(copied)
    for op in chosen:
        if not callable(what):
            given = one_or_several(what, Operator, "a function or operators to insert")
            _insert_copies(op, given, behind)
            continue
        block, count = op.block, len(op.block.ops)
        sides = op.outputs if behind else op.inputs
        variables = [block.var_recursive(n) for each in sides.values() for n in each if n != EMPTY]
        results = _built(block, what, variables, startups, names)
        new = block.ops[count:]
        at = op.idx + behind
        block.set_ops([*block.ops[:at], *new, *block.ops[at:count]])
        replacements = _replacements(results, variables)
        if behind:
            _read_behind(op, variables, replacements)
        else:
            _read_in_place(op, variables, replacements)


class FreeNames(unique_name.NameGenerator):
    """Gives names that no variable of a program has.

    Args:
        program: may grow meanwhile.
    """

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def __call__(self, stem: str) -> str:
        """The next name of a stem."""
        name = super().__call__(stem)
        while any(name in block.vars for block in self.program.blocks):
            name = super().__call__(stem)
        return name


def _built(
    block: Block,
    what: Callable[..., Results],
    variables: Sequence[Variable],
    startups: Sequence[Program],
    names: unique_name.NameGenerator,
) -> Results:
    """What a function builds at the end of a block, and returns."""
    program = block.program
    startup = startups[0] if startups else Program()
    before, program.current_block_idx = program.current_block_idx, block.idx
    with program_guard(program, startup), unique_name.guard(names):
        results = what(*variables)
    program.current_block_idx = before
    if not startups and startup.global_block().ops:
        made = startup.global_block().ops[0].first_output
        raise ArgumentError(
            f"what is inserted has the parameter {made!r}, which needs a first value: give a pair "
            "of programs, (main, startup), and take the pair that is returned"
        )
    return results


def _replacements(results: Results, variables: Sequence[Variable]) -> list[Variable | None]:
    """What takes the place of each variable.

    Raises:
        ArgumentError: a function returned something else.
    """
    if results is None:
        return [None] * len(variables)
    listed = one_or_several(results, Variable, "the function to return variables")
    for result in listed:
        if result is not None and not isinstance(result, Variable):
            raise ArgumentError(f"expected the function to return variables, got {result!r:.60}")
    if len(listed) > len(variables):
        raise ArgumentError(
            f"expected the function to return up to {len(variables)} variables, got {len(listed)}"
        )
    return [*listed, *[None] * (len(variables) - len(listed))]


def _read_behind(
    op: Operator, variables: Sequence[Variable], results: Sequence[Variable | None]
) -> None:
    """Let operators behind one read results in place of what it writes."""
    for old, new in zip(variables, results):
        if new is not None and new is not old:
            check_alike(old, new)
            version = Versions(op.block).at(old.name, op.idx + 1)
            read_instead(op.block, version, new)


def _read_in_place(
    op: Operator, variables: Sequence[Variable], results: Sequence[Variable | None]
) -> None:
    """Let an operator read results in place of what it reads.

    Raises:
        ArgumentError: it drives a block, which knows variables by their names.
    """
    changed = [(o, n) for o, n in zip(variables, results) if n is not None and n is not o]
    if changed and blocks_driven_by(op):
        raise ArgumentError(
            f"{place_of(op)} drives a block, which knows variables by their names; return nothing "
            "for it, or replace what it reads where that is computed"
        )
    for old, new in changed:
        check_alike(old, new)
        check_gradients(op.block.program, [op], old, new)
    left = iter(results)
    for slot, names in list(op.inputs.items()):
        read = [(name, None if name == EMPTY else next(left)) for name in names]
        op.set_input(slot, *(name if new is None else new.name for name, new in read))


def _insert_copies(op: Operator, ops: Sequence[Operator], behind: bool) -> None:
    """Insert copies of operators; missing variables are declared.

    Raises:
        UnknownVariableError: a variable is nowhere declared.
        ArgumentError: one drives blocks.
    """
    block = op.block
    copies = []
    for source in ops:
        if not isinstance(source, Operator):
            raise ArgumentError(f"expected a function or operators to insert, got {source!r:.60}")
        if blocks_driven_by(source):
            raise ArgumentError(f"{place_of(source)} drives a block; insert it by a function")
        for name in mentions(source):
            if block.find_var_recursive(name) is None:
                variable = source.find_var(name)
                if variable is None:
                    raise UnknownVariableError(
                        f"{source.type}, which is inserted, names {name!r}, which nothing declares"
                    )
                block.declare(variable.copy_to(block))
        copies.append(copied_operator(source, block, {}))
    at = op.idx + behind
    block.set_ops([*block.ops[:at], *copies, *block.ops[at:]])
