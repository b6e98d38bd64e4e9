"""Programs of paddle 2: what its operators mean silently, and fluid 1.8's do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..ground.dtypes import Kind
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.definition import find
from .wire import MESSAGE_CLASSES, Bytes, read

#: the first version of paddle 2
_PADDLE_2 = 2_000_000


def is_of_paddle2(program: Program) -> bool:
    """Whether a program was read from a file that says that paddle 2 wrote it."""
    message = getattr(program.carried, "version", None) or b""
    version = read(MESSAGE_CLASSES["Version"], Bytes(message, "the version", kind="Version"))
    return bool(version.version >= _PADDLE_2)


def _sums_up(op: Operator) -> bool:
    """Whether what an operator makes of all elements is declared without dimensions."""
    names = op.outputs.get("Out", ()) + op.outputs.get("Loss", ())
    results = [op.block.find_var_recursive(name) for name in names]
    return all(v is not None and _is_bare(v) for v in results)


def _has_fewer(op: Operator) -> bool:
    """Whether Out, or its gradient, is declared with fewer dimensions than X."""
    (x,) = op.inputs.get("X", ("",))
    (out,) = op.outputs.get("Out") or op.inputs.get("Out@GRAD", ("",))
    given, made = (op.block.find_var_recursive(name) for name in (x, out))
    return given is not None and made is not None and len(made.shape) < len(given.shape)


def _counts_padding(op: Operator) -> bool:
    """Whether averages under windows count padding."""
    return op.has_attr("exclusive") and not op.attr("exclusive")


#: operator in files of paddle 2 -> the operator with its formula
TYPES = {
    "adadelta": "adadelta_v2",
    "adam": "adam_v2",
    "lamb": "lamb_v2",
    "leaky_relu_grad": "leaky_relu_v2_grad",
}
#: the other way round
TYPES_IN_FILES = {ours: theirs for theirs, ours in TYPES.items()}
#: operator -> a slot here, and what paddle 2 has instead; of ``leaky_relu`` the rule reads the sign
#: alone, which the argument and the result share; of ``einsum`` the other one holds the operands
SLOTS = {
    "einsum_grad": {"Operands": "InnerCache"},
    "fused_softmax_mask_grad": {"Out": "Softmax"},
    "fused_softmax_mask_upper_triangle_grad": {"Out": "Softmax"},
    "leaky_relu_grad": {"Out": "X"},
    "meshgrid_grad": {"Out@GRAD": "outputs@GRAD"},
    "nextafter": {"X": "x", "Y": "y", "Out": "out"},
}


def renamed_slots(slots: Any, names: Mapping[str, str]) -> Any:
    """Variables by slot, or names of slots, with the slots that have other names renamed.

    Args:
        slots: a mapping or a tuple.
        names: old name -> new one; those of slots that exist are left as they are.
    """
    new = {old: name for old, name in names.items() if old in slots and name not in slots}
    if not new:
        return slots
    if isinstance(slots, tuple):
        return tuple([new.get(slot, slot) for slot in slots])
    return {new.get(slot, slot): variables for slot, variables in slots.items()}


#: attribute -> whether an operator that has it means it; others are meant always
_MEANT: dict[str, Callable[[Operator], bool]] = {
    "clips": _counts_padding,
    "drops": _has_fewer,
    "zero_d": _sums_up,
}


def take_over(program: Program) -> None:
    """Let operators of a program of paddle 2 mean what they mean there.

    Args:
        program: as it was read; is changed.
    """
    if not is_of_paddle2(program):
        return
    for block in program.blocks:
        for op in block.ops:
            definition = find(op.type)
            for name, attribute in definition.attributes.items() if definition else ():
                if attribute.edition and attribute.default is False:
                    meant = _MEANT.get(name)
                    if meant is None or meant(op):
                        op.set_attr(name, True)


def _is_bare(variable: Variable) -> bool:
    """Whether a variable is declared without sizes."""
    return variable.kind is Kind.LOD_TENSOR and not variable.has_shape
