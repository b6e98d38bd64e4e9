"""Whether two programs are the same: in what they say, not in where it was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .block import Block
from .literal import typed_text
from .operator import Operator
from .program import Program
from .variable import Variable

#: what the text says of variables, and of parameters besides
VARIABLE_FIELDS = (
    *("kind", "has_shape", "shape", "has_dtype", "dtype", "lod_level"),
    *("persistable", "stop_gradient", "is_data", "need_check_feed"),
)
PARAMETER_FIELDS = ("trainable", "optimize_attr", "do_model_average", "is_distributed")
_OPERATOR_FIELDS = ("type", "role", "role_vars", "namescope", "device", "lists_given_attrs")


def differences(a: Program, b: Program) -> list[str]:
    """In what two programs differ, a line each; nothing when they are the same.

    The order of variables, operators, slots and attributes counts.  Call sites do not, and neither
    do initializers, regularizers and clipping, which the text format does not hold.

    Args:
        a, b: the programs.
    """
    return list(_differences(a, b))


def _differences(a: Program, b: Program) -> Iterator[str]:
    if a.random_seed != b.random_seed:
        yield f"seed: {a.random_seed}, {b.random_seed}"
    if a.num_blocks != b.num_blocks:
        yield f"blocks: {a.num_blocks}, {b.num_blocks}"
    for mine, theirs in zip(a.blocks, b.blocks):
        yield from _block_differences(mine, theirs)


def _block_differences(a: Block, b: Block) -> Iterator[str]:
    where = f"block {a.idx}"
    yield from _field_differences(where, a, b, ("idx", "parent_idx", "forward_block_idx"))
    for name in a.vars.keys() ^ b.vars.keys():
        yield f"{where}: variable {name!r} is in {'one' if name in a.vars else 'the other'} only"
    if list(a.vars) != list(b.vars) and a.vars.keys() == b.vars.keys():
        yield f"{where}: variables in another order"
    for name in a.vars.keys() & b.vars.keys():
        yield from _variable_differences(f"{where}, variable {name}", a.vars[name], b.vars[name])
    if len(a.ops) != len(b.ops):
        yield f"{where}: operators: {len(a.ops)}, {len(b.ops)}"
    for i, (mine, theirs) in enumerate(zip(a.ops, b.ops)):
        yield from _operator_differences(f"{where}, operator {i}", mine, theirs)


def _variable_differences(where: str, a: Variable, b: Variable) -> Iterator[str]:
    if type(a) is not type(b):
        yield f"{where}: {type(a).__name__}, {type(b).__name__}"
        return
    yield from _field_differences(where, a, b, VARIABLE_FIELDS)
    if hasattr(a, "trainable"):
        yield from _field_differences(where, a, b, PARAMETER_FIELDS)


def _operator_differences(where: str, a: Operator, b: Operator) -> Iterator[str]:
    yield from _field_differences(where, a, b, _OPERATOR_FIELDS)
    for side in ("inputs", "outputs"):
        mine, theirs = (list(getattr(op, side).items()) for op in (a, b))
        if mine != theirs:
            yield f"{where}, {side}: {mine}, {theirs}"
    mine, theirs = ([f"{n}={typed_text(v)}" for n, v in op.attrs.items()] for op in (a, b))
    if mine != theirs:
        yield f"{where}, attributes: {mine}, {theirs}"


def _field_differences(where: str, a: Any, b: Any, fields: tuple[str, ...]) -> Iterator[str]:
    for field in fields:
        mine, theirs = getattr(a, field), getattr(b, field)
        if mine != theirs:
            yield f"{where}, {field}: {mine}, {theirs}"
