"""Models of Paddle 2: operators that fluid 1.8 has under another name, or with other attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import UnsupportedError
from ..ground.dtypes import Kind
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.definition import find, lookup
from ..proto.operators import unknown_numbers

Attributes = dict[str, Any]
#: an operator and its attributes -> those of the one in its place; None where there is none
Change = Callable[[Operator, Mapping[str, Any]], tuple[str, Attributes] | None]


def _product(op: Operator, attrs: Mapping[str, Any]) -> tuple[str, Attributes]:
    turned = {
        "transpose_X": attrs.get("trans_x", False),
        "transpose_Y": attrs.get("trans_y", False),
    }
    return "matmul", turned


def _flattened(op: Operator, attrs: Mapping[str, Any]) -> tuple[str, Attributes] | None:
    variable = op.block.find_var_recursive(op.input("X")[0])
    if variable is None or not variable.has_shape:
        return None
    sizes = variable.shape
    first, last = (attrs.get(name, 1) % len(sizes) for name in ("start_axis", "stop_axis"))
    behind = sizes[last + 1 :]
    if min(behind, default=1) < 0:  # a size that only the run knows
        return None
    return "reshape2", {"shape": [*[0] * first, -1, *behind]}


def _largest(op: Operator, attrs: Mapping[str, Any]) -> tuple[str, Attributes] | None:
    usual = attrs.get("axis", -1) == -1 and attrs.get("largest", True)
    return ("top_k", {"k": attrs.get("k", 1)}) if usual else None


def _tiled(op: Operator, attrs: Mapping[str, Any]) -> tuple[str, Attributes] | None:
    variable = op.block.find_var_recursive(op.input("X")[0])
    times = list(attrs.get("repeat_times", ()))
    plain = not any(op.input(name) for name in op.input_names if name != "X")
    fits = plain and variable is not None and variable.has_shape and variable.ndim == len(times)
    return ("expand", {"expand_times": times}) if fits else None


def _resized(kind: str) -> Change:
    def change(op: Operator, attrs: Mapping[str, Any]) -> tuple[str, Attributes] | None:
        scales = set(attrs.get("scale", ()))
        if len(scales) > 1:
            return None
        known = lookup(kind).attributes
        kept = {name: value for name, value in attrs.items() if name in known}
        return kind, {**kept, "scale": scales.pop() if scales else 0.0}

    return change


def _moved(op: Operator, attrs: Mapping[str, Any]) -> tuple[str, Attributes] | None:
    """An operator whose dimensions fluid 1.8 calls ``dims``, and Paddle 2 ``axis``."""
    dims = unknown_numbers(op, "axis")
    if dims is None:
        return None
    if not dims:
        raise UnsupportedError(
            f"{op.type}: expected dimensions to move along, got none, which means all as one in "
            f"models of Paddle 2"
        )
    return op.type, {**attrs, "dims": dims}


#: type in files of Paddle 2 -> what gives the operator in its place
CHANGES: dict[str, Change] = {
    "matmul_v2": _product,
    "flatten_contiguous_range": _flattened,
    "flip": _moved,
    "roll": _moved,
    "silu": lambda op, attrs: ("swish", {"beta": 1.0}),
    "top_k_v2": _largest,
    "tile": _tiled,
    **{
        f"{kind}_v2": _resized(kind)
        for kind in ("nearest_interp", "bilinear_interp", "bicubic_interp", "trilinear_interp")
    },
}


def take_over(program: Program) -> None:
    """Put operators that there are in the place of those that Paddle 2 has for the same, and let
    what it sums up whole have no dimensions.

    Args:
        program: as it was read; is changed.

    Raises:
        UnsupportedError: an operator means something here that it does not mean there.
    """
    newer = _version(program) >= 2_000_000
    for block in program.blocks:
        ops = [_changed(op) if op.type in CHANGES else op for op in block.ops]
        if any(new is not old for new, old in zip(ops, block.ops)):
            block.set_ops(ops)
        for op in ops if newer else ():
            definition = find(op.type)
            if definition is None or "zero_d" not in definition.attributes:
                continue
            results = [block.find_var_recursive(name) for name in op.output("Out")]
            if all(v is not None and _is_bare(v) for v in results):
                op.set_attr("zero_d", True)


def _is_bare(variable: Variable) -> bool:
    """Whether a variable is declared without sizes."""
    return variable.kind is Kind.LOD_TENSOR and not variable.has_shape


def _changed(op: Operator) -> Operator:
    instead = CHANGES[op.type](op, op.attrs)
    if instead is None:
        return op
    type, attrs = instead
    definition = lookup(type)
    slots = {slot.name for slot in (*definition.inputs, *definition.outputs)}
    read = {name: op.input(name) for name in op.input_names if name in slots and op.input(name)}
    written = {name: op.output(name) for name in op.output_names if name in slots}
    return Operator(
        op.block,
        type,
        {name: tuple(names) for name, names in read.items()},
        {name: tuple(names) for name, names in written.items()},
        definition(attrs).attr_values(),
        role=op.role,
        namescope=op.namescope,
        device=op.device,
        callsite=op.callsite,
        foreign=op.foreign,
    )


def _version(program: Program) -> int:
    """The version of the library that wrote a program: 2006002 is 2.6.2; 0 where it says none."""
    message = getattr(program.carried, "version", None) or b""
    number = 0
    for place, byte in enumerate(message[1:]):  # behind the tag of its only field
        number |= (byte & 0x7F) << (7 * place)
    return number
