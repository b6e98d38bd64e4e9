"""Other attributes for the operators of a program."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from ..errors import ArgumentError, AttributeValueError, UnsupportedError, suggestion
from ..ir.literal import wire_type
from ..ir.operator import FRAMEWORK_ATTRIBUTES, Operator
from ..ir.operator_arguments import undeclared_value
from ..ir.program import Program
from ..opdef.attribute import BlockRef
from .editing import transformed
from .explaining import explained
from .pairing import Gradients
from .selecting import Operators, operators_of, place_of, positions_of


def set_attributes(
    program: Program,
    where: Operators,
    attributes: Mapping[str, Any] | Callable[[Operator], Mapping[str, Any]],
    *,
    explain: bool = False,
) -> Program:
    """A program some of whose operators have other attributes.

    The operators that compute their gradients follow.  ``op_device``, ``op_namescope`` and
    ``op_role`` are attributes, too.

    Args:
        program: stays as it is.
        where: which operators: operators, positions in block 0, types, variables that they write, a
            function, or several of these.
        attributes: name -> value; or a function that gives those of an operator.
        explain: print what came of each operator that is not as it was.

    Raises:
        ArgumentError: there are no such operators.
        AttributeValueError: they have no attribute of a name, or take no such value.
        UnsupportedError: the gradient of one is written in other operators.
        FluidError: shapes do not fit any more.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> y = fluid.layers.dropout(x, 0.5)
    >>> changed = fluid.transform.set_attributes(
    ...     fluid.default_main_program(), "dropout", {"is_test": True}
    ... )
    >>> changed.global_block().ops[0].attr("is_test")
    True
    """
    chosen = operators_of(program, where)
    ids = {id(op) for op in chosen}
    gradients = Gradients(program)
    rows: list[tuple[Operator, Mapping[str, Any]]] = []
    for op in chosen:
        new = attributes(op) if callable(attributes) else attributes
        if not isinstance(new, Mapping):
            raise ArgumentError(f"expected attributes of {op.type} by name, got {new!r:.60}")
        rows += [(each, new) for each in (op, *_followers(op, new, gradients, ids))]
    places = positions_of(op for op, _ in rows)

    def change(copied: Program) -> None:
        for (index, position), (op, new) in zip(places, rows):
            _set(copied.blocks[index].ops[position], new, follows=id(op) not in ids)

    return explained(transformed(program, change), explain, "set_attributes", program)


def _followers(
    op: Operator, attributes: Mapping[str, Any], gradients: Gradients, chosen: Container[int]
) -> list[Operator]:
    """The operators whose attributes have to be those of another one.

    Args:
        op: the other one.
        attributes: its new ones.
        gradients: those of the program.
        chosen: the identities of the operators that get attributes anyway.

    Raises:
        UnsupportedError: there are some, and nothing says which.
    """
    definition = op.definition
    own = () if definition is None else definition.attributes
    changed = [name for name, value in attributes.items() if name in own and op.attr(name) != value]
    if not changed:
        return []
    followers = gradients.of(op)
    if not followers and any(id(each) not in chosen for each in gradients.readers(op)):
        raise UnsupportedError(
            f"cannot set {changed[0]!r} of {place_of(op)}: the program has gradients of it in "
            "which the old value is written out; set it before append_backward or minimize"
        )
    return [each for each in followers if id(each) not in chosen]


def _set(op: Operator, attributes: Mapping[str, Any], follows: bool) -> None:
    for name, value in attributes.items():
        definition = op.definition
        declared = None if definition is None else definition.attributes.get(name)
        if follows and declared is None:
            continue
        if declared is not None and declared.kind == "BlockRef":
            raise AttributeValueError(f"{name!r} of {place_of(op)} names a block; it stays")
        if name in FRAMEWORK_ATTRIBUTES or definition is not None:
            op.set_attr(name, value)
        else:
            _set_unknown(op, name, value)


def _set_unknown(op: Operator, name: str, value: Any) -> None:
    """Set an attribute of an operator that nobody defined: one that it has, to a value of its
    type.
    """
    if name not in op.attrs:
        raise AttributeValueError(
            f"{place_of(op)} has no attribute {name!r}{suggestion(name, op.attrs)}"
        )
    before = op.attrs[name]
    value = undeclared_value(op.type, name, value)
    if type(value) is int and type(before) is not bool and isinstance(before, (int, float)):
        value = type(before)(value)
    if isinstance(before, BlockRef) or wire_type(value) != wire_type(before):
        raise AttributeValueError(
            f"expected {name!r} of {place_of(op)} to be of the kind {wire_type(before)}, got "
            f"{value!r:.60}"
        )
    op.replace_attr(name, value)
