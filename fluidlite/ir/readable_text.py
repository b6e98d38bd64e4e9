"""Programs and their parts as paddle 2 prints them: a line for each variable and operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ground.dtypes import Kind
from ..ground.quoting import printable
from .paddle2_forms import attributes_in_paddle2, inputs_in_paddle2, type_in_paddle2

if TYPE_CHECKING:
    from .block import Block
    from .operator import Operator
    from .program import Program
    from .variable import Variable

_SHAPED = (Kind.LOD_TENSOR, Kind.SELECTED_ROWS)


def readable_variable(variable: Variable) -> str:
    """A variable in one line."""
    words = ["persist"] * variable.persistable
    if variable.is_parameter:
        words += ["trainable"] * bool(getattr(variable, "trainable", False)) + ["param"]
    else:
        words.append("var")
    begin = f"{' '.join(words)} {printable(variable.name)} : {variable.kind.name}"
    if variable.kind not in _SHAPED:
        return f"{begin})"
    shape = tuple(variable.shape) if variable.has_shape else ()
    dtype = variable.dtype.plain if variable.has_dtype else "bool"
    return f"{begin}.shape{shape}.dtype({dtype}).stop_gradient({variable.stop_gradient})"


def readable_operator(op: Operator) -> str:
    """An operator in one line."""
    known = attributes_in_paddle2(op)
    attributes = [f"{name} = {_value(value, kind)}" for name, value, kind in known]
    outputs, inputs = _slots(op.outputs), _slots(inputs_in_paddle2(op))
    told = ", ".join([f"inputs={inputs}", *attributes])
    return printable(f"{outputs} = {type_in_paddle2(op)}({told})")


def readable_block(block: Block) -> str:
    """A block: a line for each variable, and one for each operator."""
    return "\n".join(_lines(block))


def readable_program(program: Program) -> str:
    """A program: its blocks, one after the other."""
    return "".join(f"{readable_block(block)}\n" for block in program.blocks)


def _lines(block: Block) -> Iterator[str]:
    parents = f"parent_idx:{block.parent_idx}  forward_idx:{block.forward_block_idx}"
    yield f"{{ // block_idx:{block.idx}  {parents}  backward_idx:-1"
    yield from (f"    {readable_variable(variable)}" for variable in block.vars.values())
    yield ""
    yield from (f"    {readable_operator(op)}" for op in block.ops)
    yield "}"


def _slots(slots: Mapping[str, Any]) -> str:
    held = ", ".join(f"{slot}={[*names]}" for slot, names in sorted(slots.items()))
    return f"{{{held}}}"


def _value(value: Any, kind: str) -> str:
    if kind.startswith("BLOCK"):
        numbers = [each.idx for each in (value if isinstance(value, (list, tuple)) else [value])]
        return f"block{numbers}"
    if kind.startswith("FLOAT"):  # as C's type of that name holds them
        return str(np.asarray(value, np.float32).tolist())
    if isinstance(value, (list, tuple)):
        return str([*value])
    return str(int(value) if isinstance(value, IntEnum) else value)
