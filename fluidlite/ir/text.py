"""Printing programs in the text format; ``ir/parse.py`` reads it back and states the grammar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ground.dtypes import Kind
from ..ground.quoting import python_comment
from .foreign import note_text
from .literal import key_text, name_text, names_text, string_text, typed_text, value_text

if TYPE_CHECKING:
    from ..opdef.attribute import Attribute
    from ..opdef.definition import Op
    from .block import Block
    from .operator import Operator
    from .program import Program
    from .variable import Variable

#: role -> what a section line calls it
SECTIONS = {
    0: "forward",
    1: "backward",
    2: "optimize",
    4: "rpc",
    8: "dist",
    16: "learning rate",
    18: "learning rate optimize",
    256: "loss",
    257: "loss backward",
}
#: what a declaration may say in a word (with "not" in front: that it is not so) -> the field
FLAGS = {
    "trainable": "trainable",
    "persistable": "persistable",
    "stop_gradient": "stop_gradient",
    "check_feed": "need_check_feed",
    "fed": "is_data",
    "average": "do_model_average",
    "distributed": "is_distributed",
}
_COMMENT_COLUMN = 60


def program_text(program: Program, detail: bool = False, call_sites: bool = True) -> str:
    """A program in the text format.

    Args:
        program: what to print.
        detail: print attributes at their default and whole paths of call sites too.
        call_sites: say in comments where operators were made.
    """
    lines = [line.text for line in program_lines(program, detail, call_sites)]
    text = "\n".join([*lines, ""])
    note_text(program, text)
    return text


class TextLine(NamedTuple):
    """A line of a program's text."""

    text: str
    item: Block | Variable | Operator | None  #: what it begins, declares or is


def program_lines(
    program: Program, detail: bool = False, call_sites: bool = True, notes: bool = True
) -> Iterator[TextLine]:
    """The lines of a program's text.

    Args:
        program, detail, call_sites: as of :func:`program_text`.
        notes: name in comments what variables have that the format does not hold.
    """
    yield TextLine(f"program (seed={program.random_seed}) {{", None)
    for block in program.blocks:
        for line in _block_lines(block, detail, call_sites, notes):
            yield TextLine(f"  {line.text}" if line.text else "", line.item)
    yield TextLine("}", None)


def block_text(block: Block, detail: bool = False) -> str:
    """One block in the text format; arguments as of :func:`program_text`."""
    return "\n".join(line.text for line in _block_lines(block, detail, True, True))


def _block_lines(block: Block, detail: bool, call_sites: bool, notes: bool) -> Iterator[TextLine]:
    head = f"block {block.idx}"
    if block.parent_idx >= 0:
        head += f" in {block.parent_idx}"
    if block.forward_block_idx >= 0:
        head += f" of {block.forward_block_idx}"
    yield TextLine(head + " {", block)
    for variable in block.vars.values():
        yield TextLine(f"  {variable_text(variable, notes)}", variable)
    if block.vars and block.ops:
        yield TextLine("", None)
    role = 0
    for op in block.ops:
        if op.role != role:
            role = op.role
            yield TextLine(f"  {section_text(role)}", None)
        line = f"  {operator_text(op, detail)}{marks_text(op)}"
        if call_sites and op.callsite is not None:
            site = str(op.callsite)
            comment = python_comment(site if detail else _short(site))
            line = f"{line:<{_COMMENT_COLUMN}}  # {comment}"
        yield TextLine(line, op)
    yield TextLine("}", None)


def section_text(role: int) -> str:
    """The line above operators that says what they are for."""
    return f"-- {SECTIONS.get(role, f'role {int(role)}')} --"


def variable_text(variable: Variable, notes: bool = True) -> str:
    """The line that declares a variable.

    Args:
        variable: what to print.
        notes: name in a comment what it has that the format does not hold.
    """
    parameter = _has(variable, "trainable")
    word = "param" if parameter else "data" if variable.is_data else "var"
    parts = [f"{word} {name_text(variable.name)}: {_type_text(variable)}"]
    if variable.lod_level:
        parts.append(f"lod={variable.lod_level}")
    parts += _flags_text(variable, word)
    rate = (_field(variable, "optimize_attr") or {}).get("learning_rate", 1.0)
    if isinstance(rate, (int, float)) and rate != 1.0:
        parts.append(f"rate={float(rate)!r}")
    known_by_class = [
        f"{what}: {type(value).__name__}"
        for what in ("regularizer", "gradient_clip_attr", "error_clip")
        if notes and (value := _field(variable, what)) is not None
    ]
    if known_by_class:
        parts.append(f" # {', '.join(known_by_class)}")
    return " ".join(parts)


def _has(variable: Variable, name: str) -> bool:
    """Whether a variable has a field, as only some have; ``hasattr`` would look for a method of
    that name in each that has not.
    """
    return name in variable.__dict__ or hasattr(type(variable), name)


def _field(variable: Variable, name: str) -> Any:
    """A field of a variable; None where it has none of that name."""
    return getattr(variable, name) if _has(variable, name) else None


def _type_text(variable: Variable) -> str:
    kind = "" if variable.kind is Kind.LOD_TENSOR else variable.kind.name.lower()
    if kind and not variable.has_shape and not variable.has_dtype:
        return kind
    dtype = variable.dtype.plain if variable.has_dtype else "?"
    sizes: Iterable[int | str] = variable.shape
    if variable.size_names:
        sizes = [name or n for name, n in zip(variable.size_names, variable.shape)]
    shape = ", ".join(map(str, sizes)) if variable.has_shape else "?"
    return f"{kind} {dtype}[{shape}]".lstrip()


def _flags_text(variable: Variable, word: str) -> Iterator[str]:
    """What is unusual about a variable, each in one word or two."""
    usual = {"trainable": True}
    if word == "param":
        usual["persistable"] = True
    elif word == "data":
        usual["is_data"] = usual["stop_gradient"] = True
    for flag, field in FLAGS.items():
        value = _field(variable, field)
        if value is not None and value != usual.get(
            field, None if field == "do_model_average" else False
        ):
            yield flag if value else f"not {flag}"


def operator_text(op: Operator, detail: bool = False) -> str:
    """An operator in one line: ``out = type(Slot=name, attribute=value)``."""
    definition = op.definition
    arguments = [
        f"{key_text(slot)}={names_text(names, _is_list(definition, slot, 'input_slots'))}"
        for slot, names in op.inputs.items()
    ]
    call = (
        f"{key_text(op.type)}({', '.join([*arguments, *_attribute_texts(op, definition, detail)])})"
    )
    outputs = op.outputs
    if not outputs:
        return call
    slot = only_output(definition)
    if slot is not None and list(outputs) == [slot] and len(outputs[slot]) == 1:
        return f"{name_text(outputs[slot][0])} = {call}"
    left = [
        f"{key_text(slot)}={names_text(names, _is_list(definition, slot, 'output_slots'))}"
        for slot, names in outputs.items()
    ]
    return f"{{{', '.join(left)}}} = {call}"


def only_output(definition: type[Op] | None) -> str | None:
    """The output slot that need not be named: the only one, where it takes one variable."""
    if definition is None or len(definition.outputs) != 1 or definition.outputs[0].many:
        return None
    return definition.outputs[0].name


def _attribute_texts(op: Operator, definition: type[Op] | None, detail: bool) -> Iterator[str]:
    declared = {} if definition is None else definition.attributes
    for name, value in op.attrs.items():
        if detail and name in declared and not op.lists_given_attrs:
            continue
        yield f"{key_text(name)}={_attribute_text(declared.get(name), value)}"
    if not detail or op.lists_given_attrs:
        return
    for attribute in declared.values():
        if attribute.name in op.attrs or not attribute.local:
            value = op.attrs.get(attribute.name, attribute.default)
            yield f"{key_text(attribute.name)}={_attribute_text(attribute, value)}"


def _attribute_text(declared: Attribute | None, value: Any) -> str:
    if declared is None:
        return typed_text(value)
    return f"block {value}" if declared.kind == "BlockRef" else value_text(value)


def marks_text(op: Operator) -> str:
    """What stands behind an operator in a program."""
    parts = ["bare"] if op.lists_given_attrs else []
    if op.role_vars:
        parts.append(f"for {names_text(op.role_vars, many=True)}")
    if op.namescope != "/":
        parts.append(f"at {string_text(op.namescope)}")
    if op.device:
        parts.append(f"on {string_text(op.device)}")
    return "".join(f" {part}" for part in parts)


def _is_list(definition: type[Op] | None, slot: str, side: str) -> bool:
    found = getattr(definition, side).get(slot) if definition is not None else None
    return found is not None and found.many


def _short(site: str) -> str:
    return site.replace("\\", "/").rsplit("/", 1)[-1]
