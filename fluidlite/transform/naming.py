"""Other names for the variables of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ..errors import ArgumentError, DuplicateVariableError, NameTakenError
from ..ir.analysis import blocks_driven_by
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.variable import Variable
from .editing import verified
from .explaining import explained
from .selecting import declaring_block, place_of, variable_of
from .versions import mentions

#: new names of variables by the numbers of their blocks and their old names
NewNames: TypeAlias = dict[tuple[int, str], str]
Renaming: TypeAlias = Mapping[str | Variable, str] | Callable[[str], str | None]

#: what stands between a name and what is said of it in the names of its gradients and saved values
_DERIVED = ("@GRAD", "@SAVED_", "@VALUE_")
_AGAIN = "grad/"  #: stands, once or more, in front of names of further gradients of a variable
#: attributes that list variables, of operators that drive no block
_LISTING = frozenset({"backward_skip_vars", "of"})


def rename(program: Program, names: Renaming, *, explain: bool = False) -> Program:
    """A program whose variables have other names.

    Gradients (``x@GRAD``, and what begins so) and saved values are called after their variable,
    wherever operators name it: in blocks, in ``op_role_var``, in the attributes of loops.  A
    variable of a block that has the old name, too, keeps it.  Values in a scope stay under their
    old names; the startup program takes the same names by a function.  Random operators draw by the
    name of what they write, so renamed ones draw other numbers.

    Args:
        program: stays as it is.
        names: old name or variable -> new name; or a function that is given the name of each
            variable and gives another one, or None.
        explain: print what came of each operator that is not as it was.

    Raises:
        UnknownVariableError: the program has no such variable.
        DuplicateVariableError: a new name is one that is there.
        NameTakenError: a new name would mean another variable somewhere, or its variable is called
            after another one.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.relu(x)
    >>> renamed = fluid.transform.rename(
    ...     fluid.default_main_program(), {x: "image", y.name: "features"}
    ... )
    >>> print(renamed.global_block().ops[0].to_string().partition("#")[0])
    features = relu(X=image)
    """
    chosen = _chosen(program, names)
    changed = verified(program, lambda copied: rename_in(copied, all_names(program, chosen)))
    return explained(changed, explain, "rename", program)


def renamed_states(program: Program, names: Renaming) -> dict[str, str]:
    """The old and the new names of what stays in a scope between runs, of :func:`rename`.

    Args:
        program: as of :func:`rename`.
        names: as of :func:`rename`.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 2]), 3)
    >>> names = {"fc_0.w_0": "weight", "fc_0.b_0": "bias"}
    >>> fluid.transform.renamed_states(fluid.default_main_program(), names)
    {'fc_0.w_0': 'weight', 'fc_0.b_0': 'bias'}
    """
    new = all_names(program, _chosen(program, names))
    whole = program.global_block().vars
    return {old: name for (k, old), name in new.items() if k == 0 and whole[old].persistable}


def _chosen(program: Program, names: Renaming) -> NewNames:
    """The requested new names."""
    chosen: NewNames = {}
    if isinstance(names, Mapping):
        pairs = [(variable_of(program, old), new) for old, new in names.items()]
    elif callable(names):
        pairs = [(v, new) for v in program.list_vars() if (new := names(v.name)) is not None]
    else:
        raise ArgumentError(
            f"expected a dictionary of new names, or a function that gives them, got {names!r:.60}"
        )
    for variable, new in pairs:
        if not isinstance(new, str) or not new or new == EMPTY:
            raise ArgumentError(f"expected a new name of {variable.name!r}, got {new!r:.60}")
        place = (variable.block.idx, variable.name)
        if chosen.get(place, new) != new:
            raise ArgumentError(
                f"{variable.name!r} was given two names: {chosen[place]!r}, {new!r}"
            )
        chosen[place] = new
    return chosen


def all_names(program: Program, chosen: NewNames) -> NewNames:
    """The new names of variables, and of what is called after them.

    Raises:
        DuplicateVariableError: two variables of a block would have one name.
    """
    names = {place: new for place, new in chosen.items() if place[1] != new}
    if not names:
        return {}
    tied = list(_tied(program))
    count = -1
    while count != len(names):
        count = len(names)
        for a, b in tied:
            for one, other in ((a, b), (b, a)):
                if one in names and other not in chosen:
                    names[other] = names[one]
        _add_derived(program, names)
    for block in program.blocks:
        owner: dict[str, str] = {}
        for name in block.vars:
            new = names.get((block.idx, name), name)
            if new in owner:
                old = owner[new] if name == new else name
                raise DuplicateVariableError(
                    f"cannot rename {old!r} to {new!r}: block {block.idx} has a variable "
                    f"{new!r} already; rename that one, too, or choose another name"
                )
            owner[new] = name
    return names


def _tied(program: Program) -> Iterator[tuple[tuple[int, str], tuple[int, str]]]:
    """Pairs of variables that an operator knows by one name: around the block that it drives, and
    in it.
    """
    for block in program.blocks:
        for op in block.ops:
            driven = blocks_driven_by(op)
            if "local_gradients" in getattr(op.definition, "attributes", ()):
                continue  # it makes the names inside of those of the forward operator
            for index in driven:
                inside = program.blocks[index].vars
                for name in mentions(op) if inside else ():
                    owner = declaring_block(block, name)
                    if name in inside and owner is not None:
                        yield (owner.idx, name), (index, name)


def _add_derived(program: Program, names: NewNames) -> None:
    """Add the variables that are called after others."""
    for block in program.blocks:
        for name in block.vars:
            if (block.idx, name) not in names:
                new = _derived(block, name, names)
                if new != name:
                    names[block.idx, name] = new


def _derived(block: Block, name: str, names: NewNames) -> str:
    """What a name in a block becomes that is made of that of another variable."""
    for front, base, behind in derivations(name):
        owner = declaring_block(block, base)
        if owner is not None:
            return front + names.get((owner.idx, base), base) + behind
    return name


def derivations(name: str) -> list[tuple[str, str, str]]:
    """How a name may be made of another one, the longest first: what stands in front of that, the
    other name, and what stands behind it.

    >>> derivations("grad/x@GRAD@GRAD")[:2]
    [('', 'grad/x@GRAD', '@GRAD'), ('grad/', 'x@GRAD', '@GRAD')]
    """
    if "@" not in name:
        return []
    starts = [0]
    while name.startswith(_AGAIN, starts[-1]):
        starts.append(starts[-1] + len(_AGAIN))
    ends = {at for mark in _DERIVED for at in range(len(name)) if name.startswith(mark, at)}
    return [
        (name[:start], name[start:end], name[end:])
        for end in sorted(ends, reverse=True)
        for start in starts
        if start < end
    ]


def rename_in(program: Program, names: NewNames) -> None:
    """Give variables other names, in a program that is changed.

    Raises:
        NameTakenError: an operator would mean another variable, or finds one by a name that is made
            of another.
    """
    if not names:
        return
    before = [[_meanings(op) for op in block.ops] for block in program.blocks]
    bound = [[_bound_as_renamed(op, names) for op in block.ops] for block in program.blocks]
    for block in program.blocks:
        for op in block.ops:
            _rename_operator(op, names)
    for block in program.blocks:
        for name, variable in block.vars.items():
            variable.name = names.get((block.idx, name), name)
        block.set_vars(block.vars.values())
    program.schedules = {names.get((0, n), n): f for n, f in program.schedules.items()}
    for block, meanings, rows in zip(program.blocks, before, bound):
        for op, meant, known in zip(block.ops, meanings, rows):
            _check_meanings(op, meant, names)
            _check_bound(op, known)


def _new_name(block: Block, name: str, names: NewNames) -> str:
    """What a name in a block becomes.  An operator may give a variable a value that no block
    declares; that is called after another one.
    """
    owner = declaring_block(block, name)
    if owner is not None:
        return names.get((owner.idx, name), name)
    return _derived(block, name, names)


def _rename_operator(op: Operator, names: NewNames) -> None:
    block = op.block
    own = {name: _new_name(block, name, names) for name in mentions(op)}
    changed = {old: new for old, new in own.items() if old != new}
    if changed:
        op.rename(changed)
    if op.role_vars:
        op.role_vars = tuple(
            name if not isinstance(name, str) else _new_name(block, name, names)
            for name in op.role_vars
        )
    driven = blocks_driven_by(op)
    inner = block.program.blocks[driven[0]] if driven else block
    for attribute, value in op.attrs.items():
        listed = isinstance(value, tuple) and all(isinstance(each, str) for each in value)
        if value and listed and (driven or attribute in _LISTING):
            new = tuple(_new_name(inner, each, names) for each in value)
            if new != value:
                op.replace_attr(attribute, new)


def _meanings(op: Operator) -> list[int | None]:
    owners = [declaring_block(op.block, name) for name in mentions(op)]
    return [None if owner is None else owner.idx for owner in owners]


def _check_meanings(op: Operator, before: list[int | None], names: NewNames) -> None:
    for name, owner, now in zip(mentions(op), before, _meanings(op)):
        if owner != now:
            where = "nothing" if owner is None else f"that of block {owner}"
            raise NameTakenError(
                f"the new name {name!r} would mean another variable to {place_of(op)}: that of "
                f"block {now}, not {where}; choose another name"
            )


def _bound(op: Operator) -> list[str]:
    """The names that an operator makes of those in its slots, of variables in the block that it
    drives.
    """
    definition = op.definition
    if definition is None or not definition.block_attributes:
        return []
    instance = op.instance()
    return [*instance.bound_names(op.inputs), *instance.kept_names(op.inputs)]


def _bound_as_renamed(op: Operator, names: NewNames) -> list[tuple[str, str]]:
    """Those names, and what they have to become."""
    bound = _bound(op)
    if not bound:
        return []
    inner = op.block.program.blocks[blocks_driven_by(op)[0]]
    return [(name, _new_name(inner, name, names)) for name in bound]


def _check_bound(op: Operator, before: list[tuple[str, str]]) -> None:
    for (old, expected), now in zip(before, _bound(op) if before else []):
        if now != expected:
            raise NameTakenError(
                f"{place_of(op)} finds {old!r} by the name of the variable that it belongs to; "
                "rename that one, and both have new names"
            )
