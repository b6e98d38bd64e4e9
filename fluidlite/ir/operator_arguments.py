"""What a caller gives an operator: variables by slot and attributes, as the operator keeps them.

What the operator does not have is left out with a warning, as fluid 1.8 leaves it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import AttributeValueError, SlotError, suggestion
from ..ground.callsite import CallSite, warn
from ..opdef.attribute import BlockRef
from ..opdef.definition import Op

Names = tuple[str, ...]


def attributes_given(
    definition: type[Op], given: Mapping[str, Any] | None, site: CallSite | None
) -> dict[str, Any]:
    """The attributes that a caller gave, without those that are None or that the operator does not
    have.

    Args:
        definition: of the operator.
        given: name -> value.
        site: the user's line, for warnings.
    """
    known = definition.attributes
    attributes = {}
    for name, value in (given or {}).items():
        if name not in known:
            listed = f"it has {', '.join(known)}" if known else "it has none"
            warn(
                f"{definition.type} has no attribute {name!r}{suggestion(name, known)}; {listed}; "
                f"{name} is left out",
                site,
            )
        elif value is not None:
            attributes[name] = value
    return attributes


def names_by_slot(
    definition: type[Op], given: Mapping[str, Any] | None, side: str, site: CallSite | None = None
) -> dict[str, Names]:
    """What a caller put into the slots of one side, as names, checked against the definition.

    Args:
        definition: of the operator.
        given: slot -> variable, name, or a list of them; None and empty lists count as absent.
        side: "input" or "output".
        site: the user's line, for warnings: a slot that the operator does not have is left out.

    Raises:
        SlotError: a slot is missing, or holds the wrong number of variables.
    """
    inputs = side == "input"
    slots = definition.input_slots if inputs else definition.output_slots
    by_slot: dict[str, Names] = {}
    unknown = []
    for slot, values in (given or {}).items():
        declared = slots.get(slot)
        if declared is None:
            unknown.append(slot)
            continue
        only = getattr(values, "name", None)  # one variable, in most cases
        if only.__class__ is str:
            by_slot[slot] = (only,)
            continue
        names = _names(values, definition.type, slot)
        if len(names) > 1 and not declared.many:
            raise SlotError(
                f"{side} slot {slot} of {definition.type} takes one variable, got {len(names)}: "
                f"{', '.join(names)}"
            )
        if names:
            by_slot[slot] = names
    for name in definition.required_inputs if inputs else definition.required_outputs:
        if name not in by_slot:
            missing = f"{definition.type} needs a variable in its {side} slot {name}"
            others = "".join(f"; {_no_slot(definition.type, side, s, slots)}" for s in unknown)
            raise SlotError(missing + others)
    for slot in unknown:
        listed = f"it has {', '.join(slots) or 'none'}"
        warn(f"{_no_slot(definition.type, side, slot, slots)}; {listed}; {slot} is left out", site)
    return (
        by_slot if len(by_slot) < 2 else {name: by_slot[name] for name in slots if name in by_slot}
    )


def _no_slot(type: str, side: str, slot: str, slots: Mapping[str, Any]) -> str:
    return f"{type} has no {side} slot {slot!r}{suggestion(slot, slots)}"


def _names(values: Any, type: str, slot: str) -> Names:
    if values is None:
        return ()
    if not isinstance(values, (list, tuple)):
        values = (values,)
    names = tuple([_name(v) for v in values])
    for value, name in zip(values, names):
        if not isinstance(name, str):
            raise SlotError(
                f"slot {slot} of {type} takes variables or their names, got {value!r:.60} of type "
                f"{value.__class__.__name__}"
            )
    return names


def _name(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, str) else getattr(value, "name", None)


def by_number(value: Any) -> Any:
    """An attribute's value, with the number of a block in the block's place."""
    if isinstance(value, (list, tuple)):
        return [by_number(each) for each in value]
    return getattr(value, "idx", value) if hasattr(value, "ops") else value


def undeclared_value(type: str, name: str, value: Any) -> Any:
    """The value of an attribute that nobody declared, as an operator keeps it.

    Args:
        type, name: of the operator and the attribute.
        value: a number, a truth value, a text, a block, or a list of such.

    Raises:
        AttributeValueError: it is something else.
    """
    if isinstance(value, (list, tuple)):
        return tuple(undeclared_value(type, name, each) for each in value)
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.item() if value.size == 1 else value
    index = getattr(value, "idx", None)  # a block
    if isinstance(index, int):
        return BlockRef(index)
    if isinstance(value, (bool, int, float, str)):
        return int(value) if isinstance(value, bool) else value  # as every version of fluid
    raise AttributeValueError(
        f"{type}: attribute {name!r} takes a number, a truth value, a text or a list of such, got "
        f"{value!r:.60} of type {value.__class__.__name__}"
    )
