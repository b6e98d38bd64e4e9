"""Operators on eager tensors in place of variables: they run at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..errors import SlotError
from ..ground import state
from ..ground.callsite import CallSite
from ..opdef.definition import Op
from .operator import Operator
from .operator_arguments import names_by_slot
from .variable import is_tensor

if TYPE_CHECKING:
    from .block import Block


def run_at_once(
    block: Block,
    runner: Any,
    definition: type[Op],
    inputs: Mapping[str, Any] | None,
    outputs: Mapping[str, Any] | None,
    attrs: dict[str, Any],
    stop_gradient: bool,
    site: CallSite | None,
) -> Operator:
    """Run an operator into the given outputs; what it was, as an operator in no block.

    Args:
        block: where it would have been appended.
        runner: what runs it.
        definition, attrs: of the operator.
        inputs, outputs: slot -> tensors.
        stop_gradient: whether gradients stop at the outputs.
        site: the user's line.

    Raises:
        SlotError: an output is no tensor.
    """
    read = names_by_slot(definition, inputs, "input", site)
    written = names_by_slot(definition, outputs, "output", site)
    ins, outs = {s: (inputs or {})[s] for s in read}, {s: (outputs or {})[s] for s in written}
    if len(list(tensors_in(outs))) < sum(map(len, written.values())):
        raise SlotError(
            f"{definition.type} is given tensors: expected tensors as its outputs, too, got "
            f"variables; make them within fluid.dygraph.guard()"
        )
    runner.into(definition.type, one_or_many(definition, ins), outs, **attrs)
    if stop_gradient:
        for tensor in tensors_in(outs):
            tensor.stop_gradient = True
    return Operator(block, definition.type, read, written, definition(attrs).attr_values())


def blank_at_once(name: str | None, dtype: Any, stop_gradient: bool) -> Any:
    """A tensor that waits for the value of an operator that runs at once.

    Args:
        name: its name; made up when None.
        dtype: its element type until then; float32 when None.
        stop_gradient: whether gradients stop at it.
    """
    kind = state.eager.get()
    made = kind.layer(kind, "create_var", None).new_variable(dtype, stop_gradient)
    if name is not None:
        made.name = name
    return made


def tensors_in(given: Mapping[str, Any] | None) -> Iterator[Any]:
    """The eager tensors in slots."""
    for values in (given or {}).values():
        for each in values if isinstance(values, (list, tuple)) else (values,):
            if is_tensor(each):
                yield each


def runner_at_once(
    type: str, inputs: Mapping[str, Any] | None, outputs: Mapping[str, Any] | None
) -> Any:
    """What runs an operator that is given eager tensors; None where it is given variables.

    Args:
        type: the operator's.
        inputs, outputs: slot -> what a caller put there.
    """
    first = next(chain(tensors_in(inputs), tensors_in(outputs)), None)
    return None if first is None else first.layer(first.results, type, None)


def one_or_many(definition: type[Op], given: Mapping[str, Any]) -> dict[str, Any]:
    """What a caller put into input slots: a list where the slot takes one, else the one alone.

    Args:
        definition: of the operator.
        given: slot -> variables or tensors, of slots that the operator has.
    """
    ins = {}
    for slot, values in given.items():
        listed = list(values) if isinstance(values, (list, tuple)) else [values]
        ins[slot] = listed if definition.input_slots[slot].many else listed[0]
    return ins
