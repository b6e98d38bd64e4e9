"""Another variable in place of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import ArgumentError, DTypeError, FluidError, ShapeError, UnsupportedError
from ..ir.block import Block
from ..ir.operator import Operator, OpRole
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.gradient import GRAD
from ..opdef.spec import agree
from .blocks import subtree
from .editing import transformed
from .explaining import explained
from .selecting import (
    ValueAt,
    ValueLike,
    VariableLike,
    declaring_block,
    name_of,
    place_of,
    variable_of,
)
from .versions import Version, Versions, block_of


def replace(
    program: Program, variable: ValueLike, by: VariableLike, *, explain: bool = False
) -> Program:
    """A program whose operators read one variable where they read another one.

    Operators that the new variable is computed by go on reading the old one: so what a probe, or
    an activation beside the old one, computes can be put in its place.  What nothing reads any more
    stays; :meth:`Program.pruned` and :func:`cut` leave it out.

    Args:
        program: stays as it is.
        variable: what is read; a :class:`ValueAt` where its variable holds several in turn.
        by: the variable of the same block, or of one around it, that is read in its place.
        explain: print what came of each operator that is not as it was.

    Raises:
        UnknownVariableError: there is no such variable.
        ShapeError, DTypeError: they differ in shape or element type.
        ArgumentError: an operator reads the old variable before the new one is there; or the old
            one holds several values.
        UnsupportedError: the program has gradients that would have to be others.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.relu(x)
    >>> loss = fluid.layers.mean(y)
    >>> z = fluid.layers.tanh(x)
    >>> program = fluid.transform.replace(fluid.default_main_program(), y, z)
    Traceback (most recent call last):
    ...
    fluidlite.errors.ArgumentError: mean (operator 1 of block 0, ...) reads 'relu_0.tmp_0' before
    'tanh_0.tmp_0' is computed; ...
    """
    old = variable_of(program, variable)
    block = block_of(program, variable) or old.block
    new = _visible(program, block, by)
    check_alike(old, new)
    if old is new:
        return explained(program.clone(), explain, "replace", program)
    version = _version(program, Versions(block), variable)

    def change(copied: Program) -> None:
        inside = copied.blocks[block.idx]
        read_instead(inside, version, copied.blocks[new.block.idx].vars[new.name])

    return explained(transformed(program, change), explain, "replace", program)


def read_instead(block: Block, version: Version, new: Variable) -> None:
    """Let the operators of a block read a variable in place of a value.

    Args:
        block: is changed, and so are those within it.
        version: the value: those that compute the variable go on reading it.
        new: the variable.

    Raises:
        ArgumentError, UnsupportedError: as of :func:`replace`.
    """
    old = block.var_recursive(version[0])
    readers = [block.ops[i] for i in _readers(Versions(block), version, new.name)]
    check_gradients(block.program, readers, old, new)
    for op in readers:
        _check_driver(op, old, new)
        inner = [each for b in subtree(block.program, [op]) for each in b.ops]
        for reader in (op, *inner):
            if reader.reads(old.name) and declaring_block(reader.block, old.name) is old.block:
                reader.rename_input(old.name, new.name)


def _visible(program: Program, block: Block, by: VariableLike) -> Variable:
    name = name_of(by)
    if isinstance(by, Variable) or declaring_block(block, name) is None:
        variable = variable_of(program, by)
        owner = declaring_block(block, name)
        if owner is None or owner.vars[name] is not variable:
            raise ArgumentError(
                f"variable {name!r} of block {variable.block.idx} is not seen in block {block.idx}"
            )
        return variable
    return block.var_recursive(name)


def difference(old: Variable, new: Variable) -> tuple[str, object, object] | None:
    """In what the declarations of two variables differ: its name, that of each; None if nowhere.
    An element type or a shape that one of them leaves open differs from none.
    """
    for what in ("kind", "dtype", "lod_level"):
        mine, theirs = getattr(old, what), getattr(new, what)
        known = what != "dtype" or (old.has_dtype and new.has_dtype)
        if known and mine != theirs:
            return what, getattr(mine, "name", mine), getattr(theirs, "name", theirs)
    if old.has_shape and new.has_shape:
        alike = old.ndim == new.ndim and all(agree(m, n) for m, n in zip(old.shape, new.shape))
        if not alike:
            return "shape", list(old.shape), list(new.shape)
    return None


def error_of(what: str) -> type[FluidError]:
    """The class of the error that refuses such a difference."""
    return ShapeError if what == "shape" else DTypeError


def check_alike(old: Variable, new: Variable) -> None:
    """Refuse a variable that cannot stand for another one.

    Raises:
        DTypeError, ShapeError: says in what they differ.
    """
    if differs := difference(old, new):
        what, mine, theirs = differs
        raise error_of(what)(
            f"cannot put {new.name!r} in place of {old.name!r}: expected the {what} {mine}, "
            f"got {theirs}"
        )


def _version(program: Program, versions: Versions, variable: ValueLike) -> Version:
    """The value that is replaced.

    Raises:
        ArgumentError: the variable holds several.
    """
    if isinstance(variable, ValueAt):
        return versions.meant(program, variable)
    name = name_of(variable)
    last = versions.last.get(name, 0)
    if last > 1 or (last == 1 and name in versions.read_first):
        raise ArgumentError(
            f"variable {name!r} holds {last + (name in versions.read_first)} values in turn; say "
            f"which by transform.ValueAt({name!r}, after=...)"
        )
    return name, last


def _readers(versions: Versions, version: Version, by: str) -> list[int]:
    """The positions of the operators that are to read the new variable.

    Raises:
        ArgumentError: one runs before the new variable is there, or after it holds another value.
    """
    ops = versions.block.ops
    new = (by, versions.last.get(by, 0))
    at = versions.writer.get(new, -1)
    needed: set[Version] = {new}
    ancestors: set[int] = set()
    for position in range(at, -1, -1):
        if not needed.isdisjoint(versions.writes[position]):
            ancestors.add(position)
            needed.update((*versions.reads[position], *versions.passed_by[position]))
    readers = [i for i, reads in enumerate(versions.reads) if version in reads]
    readers = [i for i in readers if i not in ancestors]
    if readers and readers[0] < at:
        raise ArgumentError(
            f"{place_of(ops[readers[0]])} reads {version[0]!r} before {by!r} is computed; "
            "insert what computes it further ahead (transform.insert_after)"
        )
    return readers


def check_gradients(
    program: Program, readers: Sequence[Operator], old: Variable, new: Variable
) -> None:
    """Refuse to replace what gradients flow through.

    Raises:
        UnsupportedError: says which gradient is there, or would be missing.
    """
    what = f"cannot put {new.name!r} in place of {old.name!r}"
    instead = "; replace before append_backward or minimize, or in clone(for_test=True)"
    for variable in (old, new):
        name = variable.name + GRAD
        if any(name in each.vars for each in program.blocks):
            raise UnsupportedError(
                f"{what}: the program has the gradient {name!r}, which would have to flow another "
                f"way{instead}"
            )
    backward = next((op for op in readers if op.role & OpRole.BACKWARD), None)
    if backward is not None and new.takes_gradient and not new.is_data:
        raise UnsupportedError(
            f"{what}: {place_of(backward)} belongs to gradients, and the program has none of "
            f"{new.name!r}{instead}"
        )


def _check_driver(op: Operator, old: Variable, new: Variable) -> None:
    """Refuse operators that know a variable of their block by the name.

    Raises:
        ArgumentError: says which.
    """
    blocks = subtree(op.block.program, [op])
    if not blocks:
        return
    known = old.name in _bound(op) or op.writes(old.name)
    hidden = next((b for b in blocks if declaring_block(b, new.name) is not new.block), None)
    if known:
        raise ArgumentError(
            f"{place_of(op)} knows {old.name!r} by its name in the block that it drives; assign "
            f"{new.name!r} to it in front of that, by transform.insert_before"
        )
    if hidden is not None:
        raise ArgumentError(
            f"block {hidden.idx}, which {place_of(op)} drives, has a variable {new.name!r} of its "
            "own; rename one of them"
        )


def _bound(op: Operator) -> Iterable[str]:
    return () if op.definition is None else op.instance().bound_names(op.inputs)
