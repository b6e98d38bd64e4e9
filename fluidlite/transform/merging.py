"""Two programs as one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np

from ..errors import ArgumentError
from ..ground.values import bare
from ..io.inference import append_fetch_ops, prepend_feed_ops
from ..ir.analysis import fed_names, fetched_names
from ..ir.literal import typed_text
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..scope import Scope
from .blocks import append_blocks, holders_in, remove_ends
from .editing import transformed
from .explaining import explained
from .naming import all_names, derivations, rename_in
from .replacing import difference, error_of
from .selecting import VariableLike, name_of, one_or_several, variable_of

#: what trains: a main program and the startup program that gives its variables their first values
Pair: TypeAlias = tuple[Program, Program]
Programs = TypeVar("Programs", Program, Pair)
Shared: TypeAlias = Iterable[VariableLike] | Mapping[VariableLike, VariableLike] | None


def merge(
    a: Programs,
    b: Programs,
    shared: Shared = None,
    scopes: tuple[Scope, Scope] | None = None,
    *,
    explain: bool = False,
) -> Programs:
    """One program that does what one program does, and then what another one does.

    Variables that both share keep the name of the first; others of the second that have a name of
    the first get another one: ``x_1``, ``x_2``, ... (:func:`names_in_merge` says which).  Of
    startup programs, operators of the second that initialize shared variables are left out: they
    have to be those of the first.  Feeding and fetching operators of both stand at the ends, the
    first program's first.

    Args:
        a, b: two programs; or two pairs of a main and a startup program.
        shared: variables of both that are one: names; or name in ``b`` -> name in ``a``, by which
            what ``a`` computes is an input of ``b``, too; None for what stays between runs
            (parameters) and has the same name in both.
        scopes: where the values of the first and of the second are; those of shared variables are
            compared.
        explain: print what came of each operator that is not as it was.

    Returns:
        the program; or the pair.

    Raises:
        UnknownVariableError: a shared variable is missing.
        ShapeError, DTypeError: shared variables differ in shape or element type.
        ArgumentError: they differ in their values or initializers, or the second program computes
            one that the first one gives it.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.fc(x, 3)
    >>> program = fluid.default_main_program()
    >>> both = fluid.transform.merge(program, program.clone())
    >>> [op.first_output for op in both.global_block().ops]
    ['fc_0.tmp_0', 'fc_0.tmp_1', 'fc_0.tmp_0_1', 'fc_0.tmp_1_1']
    """
    first, second = programs_of(a, "the first"), programs_of(b, "the second")
    if len(first) != len(second):
        raise ArgumentError("expected two programs, or two pairs of a main and a startup program")
    one = shared_names(first[0], second[0], shared)
    if scopes is not None:
        _compare_values(first[0], one, scopes)
    names = _new_names(first, second, one)
    merged = [transformed(first[0], partial(_append, other=second[0], names=names, one=one))]
    for startup, other in zip(first[1:], second[1:]):
        for old, new in one.items():
            _compare_initializers(startup, other, old, new)
        known = {old for old, new in one.items() if _initializers(startup, new)}
        append = partial(_append, other=other, names=names, one=one, known=known)
        merged.append(transformed(startup, append))
    given = [program for pair in zip(first, second) for program in pair]
    explained(merged, explain, "merge", *given, left_out="the first program does it")
    return merged[0] if isinstance(a, Program) else (merged[0], merged[1])


def programs_of(given: Program | Pair, which: str) -> list[Program]:
    """A program alone, or a main and a startup program.

    Raises:
        ArgumentError: it is neither.
    """
    if isinstance(given, Program):
        return [given]
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(p, Program) for p in given):
        return [*given]
    raise ArgumentError(
        f"expected {which} to be a program, or a main and a startup program, got {given!r:.60}"
    )


def names_in_merge(a: Program | Pair, b: Program | Pair, shared: Shared = None) -> dict[str, str]:
    """What the variables of block 0 of the second program are called when it is merged with the
    first: old name -> new name of those that get another one.

    Args:
        a, b, shared: as of :func:`merge`.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.relu(x)
    >>> program = fluid.default_main_program()
    >>> fluid.transform.names_in_merge(program, program.clone(), shared=["x"])
    {'relu_0.tmp_0': 'relu_0.tmp_0_1'}
    """
    first, second = programs_of(a, "the first"), programs_of(b, "the second")
    return _new_names(first, second, shared_names(first[0], second[0], shared))


def _new_names(
    first: Sequence[Program], second: Sequence[Program], one: Mapping[str, str]
) -> dict[str, str]:
    """New names of what has to have one; gradients are called after their variables, if they can
    be.
    """
    theirs = {name for program in first for name in program.global_block().vars}
    taken = theirs | {v.name for program in second for v in program.list_vars()}
    held = {name for program in second for name in holders_in(program)}
    own = dict.fromkeys(name for program in second for name in program.global_block().vars)
    names = dict(one)
    for name in sorted(
        own, key=lambda n: len(derivations(n))
    ):  # what others are called after first
        if name in one or name in held:
            continue
        new = _following(name, names)
        if new in theirs or (new != name and new in taken):
            number = 1
            while f"{new}_{number}" in taken:
                number += 1
            new = f"{new}_{number}"
        taken.add(new)
        names[name] = new
    return {old: new for old, new in names.items() if old != new}


def _following(name: str, names: Mapping[str, str]) -> str:
    """What a variable is called after the one that its name is derived from."""
    made = (f + names[base] + behind for f, base, behind in derivations(name) if base in names)
    return next(made, name)


def shared_names(a: Program, b: Program, shared: Shared) -> dict[str, str]:
    """The variables that two programs share: name in the second -> name in the first.

    Raises:
        UnknownVariableError, ShapeError, DTypeError, ArgumentError: as of :func:`merge`.
    """
    mine, theirs = a.global_block().vars, b.global_block().vars
    if shared is None:
        both = [n for n, v in theirs.items() if n in mine and v.persistable and mine[n].persistable]
        held = holders_in(a) | holders_in(b)
        pairs = {n: n for n in both if n not in held}
    elif isinstance(shared, Mapping):
        pairs = {name_of(old): name_of(new) for old, new in shared.items()}
    else:
        listed: list[VariableLike] = one_or_several(
            shared, (str, Variable), "variables or their names as shared"
        )
        pairs = {name_of(each): name_of(each) for each in listed}
    for old, new in pairs.items():
        _check_shared(variable_of(b, old), variable_of(a, new))
    return pairs


def _check_shared(theirs: Variable, mine: Variable) -> None:
    pair = f"the shared variable {mine.name!r}" + (
        "" if mine.name == theirs.name else f" (in the second program {theirs.name!r})"
    )
    for variable in (theirs, mine):
        if variable.block.idx:
            raise ArgumentError(f"{pair} lies in block {variable.block.idx}; expected block 0")
    if differs := difference(mine, theirs):
        what, first, second = differs
        raise error_of(what)(
            f"{pair} has the {what} {first} in the first program, {second} in the second"
        )
    if mine.persistable != theirs.persistable and not theirs.is_data:
        raise ArgumentError(f"{pair} stays between runs in one of the programs only")
    if not theirs.persistable:
        writer = next((op for op in theirs.block.ops if _computes(op, theirs.name)), None)
        if writer is not None:
            raise ArgumentError(
                f"{pair} is computed by the second program, too, by {writer.type}; share what is "
                "fed to it, or leave it out of shared"
            )


def _computes(op: Operator, name: str) -> bool:
    return op.type != "feed" and op.writes(name)


def _compare_values(main: Program, one: Mapping[str, str], scopes: tuple[Scope, Scope]) -> None:
    """Refuse shared variables whose values differ.

    Raises:
        ArgumentError: names them, and says by how much.
    """
    clashes = []
    for old, new in one.items():
        if not main.global_block().vars[new].persistable:
            continue
        first, second = scopes[0].find_var(new), scopes[1].find_var(old)
        if first is None or second is None:
            continue
        mine, theirs = (np.asarray(bare(held.get_tensor())) for held in (first, second))
        if mine.shape != theirs.shape or not np.array_equal(mine, theirs, equal_nan=True):
            by = (
                f"by up to {np.max(np.abs(mine.astype('f8') - theirs.astype('f8'))):.3g}"
                if mine.shape == theirs.shape
                else f"{list(mine.shape)} and {list(theirs.shape)}"
            )
            clashes.append(f"{new!r} ({by})")
    if clashes:
        raise ArgumentError(
            f"shared variables have other values in the second scope: {', '.join(clashes)}; leave "
            "them out of shared, or give both the same"
        )


def _compare_initializers(a: Program, b: Program, old: str, new: str) -> None:
    """Refuse a shared variable that the startup programs initialize in other ways.

    Raises:
        ArgumentError: names it.
    """
    mine, theirs = (_initializers(program, name) for program, name in ((a, new), (b, old)))
    if mine and theirs and mine != theirs:
        raise ArgumentError(
            f"the startup programs initialize the shared variable {new!r} in two ways: "
            f"{'; '.join(mine)} and {'; '.join(theirs)}"
        )


def _initializers(program: Program, name: str) -> list[str]:
    found = [op for op in program.global_block().ops if op.writes(name)]
    return [
        f"{op.type}({', '.join(f'{n}={typed_text(v)}' for n, v in op.attrs.items())})"
        for op in found
    ]


def _append(
    copied: Program,
    other: Program,
    names: Mapping[str, str],
    one: Mapping[str, str],
    known: Collection[str] = (),
) -> None:
    """Append what another program does.

    Args:
        copied: is changed.
        other: stays as it is.
        names: new names of variables of its block 0.
        one: its variables that are shared -> their names in the first.
        known: variables; operators that write these alone are left out.
    """
    theirs = other.clone()
    ends = [f(p.global_block()) for f in (fed_names, fetched_names) for p in (copied, theirs)]
    remove_ends(copied)
    remove_ends(theirs)
    block = theirs.global_block()
    block.set_ops(
        [op for op in block.ops if not (known and set(op.output_arg_names) <= set(known))]
    )
    new = {(0, old): name for old, name in names.items() if old in block.vars}
    rename_in(theirs, all_names(theirs, new))
    append_blocks(copied, theirs)
    copied.random_seed = copied.random_seed or theirs.random_seed
    copied.schedules = {**theirs.schedules, **copied.schedules}
    feeds, more, fetches, wanted = ends
    unfed = [names.get(n, n) for n in more if n not in one]
    if any(ends):
        append_fetch_ops(copied, [*fetches, *(names.get(n, n) for n in wanted)])
        prepend_feed_ops(copied, [*feeds, *unfed])
