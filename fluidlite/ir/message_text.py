"""Programs and their parts as the text of fluid 1.8's messages, which old programs print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..ground import state
from ..ground.dtypes import DType, Kind
from ..opdef.sequences import has_no_sequences

if TYPE_CHECKING:
    from .block import Block
    from .operator import Operator
    from .program import Program
    from .variable import Variable


class ProgramTexts(Enum):
    """In which text ``str`` gives programs and their parts."""

    OWN = "this package's"
    MESSAGES = "that of messages, as in fluid 1.8"
    READABLE = "paddle 2's, while to_string gives messages"


#: under the alias, those of the edition that the process means
texts: state.StateSlot[ProgramTexts] = state.slot("texts of programs", lambda: ProgramTexts.OWN)
#: of fluid 1.8.5, in its programs
VERSION = 1008005
#: kind of variable -> the field that holds its tensor
_TENSORS = {
    Kind.LOD_TENSOR: "lod_tensor",
    Kind.LOD_TENSOR_ARRAY: "tensor_array",
    Kind.SELECTED_ROWS: "selected_rows",
}
#: wire type of an attribute -> its field
_FIELDS = {
    "INT": "i", "FLOAT": "f", "STRING": "s", "INTS": "ints", "FLOATS": "floats",
    "STRINGS": "strings", "BOOLEAN": "b", "BOOLEANS": "bools", "BLOCK": "block_idx", "LONG": "l",
    "BLOCKS": "blocks_idx", "LONGS": "longs",
}  # fmt: skip
#: the attributes of every operator that say where it was made and what is kept of the passes
_UNTOLD = ("op_callstack",)


def variable_message(variable: Variable, detail: bool = False) -> str:
    """A variable's message, and with ``detail`` what else it says of itself."""
    return _text([*_variable(variable), *(_said(variable) if detail else ())])


def operator_message(op: Operator) -> str:
    """An operator's message."""
    return _text(_operator(op))


def block_message(block: Block, detail: bool = False) -> str:
    """A block's message."""
    return _text(_block(block, detail))


def program_message(program: Program, detail: bool = False) -> str:
    """A program's message."""
    lines: list[str] = []
    for block in program.blocks:
        lines += _group("blocks", _block(block, detail))
    return _text([*lines, *_group("version", [f"version: {VERSION}"])])


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _group(name: str, lines: Iterable[str]) -> list[str]:
    return [f"{name} {{", *(f"  {line}" for line in lines), "}"]


def _block(block: Block, detail: bool) -> Iterator[str]:
    yield f"idx: {block.idx}"
    yield f"parent_idx: {block.parent_idx}"
    for variable in _in_order(block):
        yield from _group("vars", [*_variable(variable), *(_said(variable) if detail else ())])
    for op in block.ops:
        yield from _group("ops", _operator(op))


def _in_order(block: Block) -> Iterable[Variable]:
    """The variables of a block, as its message has them: in paddle 2 by their names."""
    if texts.get() is ProgramTexts.READABLE:
        return [variable for _, variable in sorted(block.vars.items())]
    return block.vars.values()


def _variable(variable: Variable) -> Iterator[str]:
    fed, trained = variable.is_data, hasattr(variable, "trainable")
    maker = None if trained else variable.op
    yield f"name: {_quoted(variable.name)}"
    field, lines = _TENSORS.get(variable.kind), [f"type: {variable.kind.name}"]
    if field is not None:
        tensor = [f"data_type: {DType(variable.dtype).name}"] if variable.has_dtype else []
        tensor += [f"dims: {size}" for size in (variable.shape if variable.has_shape else ())]
        shown = variable.lod_level or fed or (maker is not None and _shares(maker, variable.name))
        levels = [f"lod_level: {variable.lod_level}"] * bool(shown)
        is_rows = variable.kind is Kind.SELECTED_ROWS
        lines += _group(field, tensor if is_rows else [*_group("tensor", tensor), *levels])
    yield from _group("type", lines)
    by_python = variable.name.startswith("tmp_")  # as x + y
    made = maker is not None and "@GRAD" not in variable.name and not by_python
    if variable.persistable or fed or made:
        yield f"persistable: {str(variable.persistable).lower()}"
    if variable.need_check_feed:
        yield "need_check_feed: true"
    if texts.get() is ProgramTexts.READABLE:
        if variable.is_parameter:
            yield "is_parameter: true"
        yield f"stop_gradient: {str(variable.stop_gradient).lower()}"


def _shares(op: Operator, name: str) -> bool:
    """Whether an output has sequences where an input of the operator has them."""
    definition = op.definition
    slot = next((slot for slot, names in op.outputs.items() if name in names), None)
    if definition is None or definition.lod is None or slot not in definition.output_slots:
        return False
    form = definition.output_slots[slot]
    return slot == "XShape" or not (form.hidden or has_no_sequences(form))


def _said(variable: Variable) -> Iterator[str]:
    """What a variable says beside its message."""
    names = (
        ["error_clip"] if texts.get() is ProgramTexts.READABLE else ["error_clip", "stop_gradient"]
    )
    if hasattr(variable, "trainable"):
        names += ["trainable", "optimize_attr", "regularizer", "do_model_average"]
    for name in names:
        yield f"{name}: {getattr(variable, name)}"


def _operator(op: Operator) -> Iterator[str]:
    for name, slots in (("inputs", op.inputs), ("outputs", op.outputs)):
        for slot, names in slots.items():
            held = [f"arguments: {_quoted(each)}" for each in names]
            yield from _group(name, [f"parameter: {_quoted(slot)}", *held])
    yield f"type: {_quoted(op.type)}"
    for name in op.attr_names:
        if name not in _UNTOLD:
            kind = op.attr_wire(name)
            lines = [f"name: {_quoted(name)}", f"type: {kind}"]
            lines += [f"{_FIELDS[kind]}: {_literal(each)}" for each in _values(op.attr(name))]
            yield from _group("attrs", lines)


def _values(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    if hasattr(value, "idx"):
        return str(value.idx)
    return str(value) if isinstance(value, float) else str(int(value))


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'
