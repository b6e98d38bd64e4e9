"""From programs to the bytes of program files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..ground.callsite import CallSite
from ..ground.dtypes import DType, Kind
from ..ir.block import Block
from ..ir.literal import wire_type
from ..ir.operator import FRAMEWORK_ATTRIBUTES, Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.attribute import REQUIRED
from .carried import CarriedBlock, CarriedOperator, CarriedProgram, CarriedVariable, PartOrder
from .newer_programs import SLOTS, TYPES_IN_FILES, is_of_paddle2, renamed_slots
from .schema import ATTRIBUTE_TYPES, COMPLEX_SCALAR, SCALAR_TYPES
from .wire import MESSAGE_CLASSES, delimited, varint_bytes, varint_field, write

#: the version of the format that files say they have: that of fluid 1.8.5
FORMAT_VERSION = 1008005
#: kind of variable -> the field that says what its tensors are like, and the message in it
WITH_TENSOR = {
    Kind.LOD_TENSOR: ("lod_tensor", "VarType.LoDTensorDesc"),
    Kind.SELECTED_ROWS: ("selected_rows", "VarType.TensorDesc"),
    Kind.LOD_TENSOR_ARRAY: ("tensor_array", "VarType.LoDTensorArrayDesc"),
}
KINDS = frozenset(map(int, Kind))
_VARIABLE, _ATTRIBUTE = MESSAGE_CLASSES["VarDesc"], MESSAGE_CLASSES["OpDesc.Attr"]
_FRESH = CarriedOperator(PartOrder((), (), {}, {}), {})
#: wire types of values that take little room
_SHORT = frozenset({"INT", "FLOAT", "BOOLEAN", "BLOCK", "LONG"})
_EXACT = frozenset({int, bool, str, DType})  #: equal values of one type are written alike
_KEPT = 50_000  # encoded attributes


def encode_text(text: str) -> bytes:
    """A text as program files hold it; bytes that were no text are what they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


class Encoder:
    """Makes the messages of one program file.

    Args:
        call_sites: as of :meth:`Program.to_bytes`.
    """

    def __init__(self, call_sites: bool | None = None) -> None:
        self.call_sites = call_sites
        self.texts: dict[str, bytes] = {}
        self.arguments: dict[str, bytes] = {}
        self.heads: dict[tuple[str, str], bytes] = {}  # of attributes
        self.behind_names: dict[Any, bytes] = {}  # of variables
        self.attributes: dict[Any, bytes] = {}
        self.layouts: dict[Any, tuple[PartOrder, dict[Any, bytes]]] = {}
        self.of_paddle2 = False

    def text(self, text: str) -> bytes:
        """The bytes of a text, made once."""
        found = self.texts.get(text)
        if found is None:
            found = self.texts[text] = encode_text(text)
        return found

    def program(self, program: Program) -> bytes:
        """The bytes of a whole program."""
        version = varint_field(1, FORMAT_VERSION)
        carried = program.carried or CarriedProgram(version, None)
        self.of_paddle2 = is_of_paddle2(program)
        parts = [delimited(1, self.block(block)) for block in program.blocks]
        if carried.compatible is not None:
            parts.append(delimited(3, carried.compatible))
        if carried.version is not None:
            parts.append(delimited(4, carried.version))
        return b"".join([*parts, carried.rest])

    def block(self, block: Block) -> bytes:
        """The message of a block."""
        carried = block.carried or CarriedBlock()
        parts = [varint_field(1, block.idx), varint_field(2, block.parent_idx)]
        parts += [delimited(3, self.variable(v)) for v in block.vars.values()]
        parts += [delimited(4, self.operator(op)) for op in block.ops]
        if block.forward_block_idx >= 0 or carried.forward:
            parts.append(varint_field(5, block.forward_block_idx))
        return b"".join([*parts, carried.rest])

    # -- variables -------------------------------------------------------------------------------

    def variable(self, variable: Variable) -> bytes:
        """The message of a variable."""
        carried = variable.carried or CarriedVariable(lod_level=not hasattr(variable, "trainable"))
        name = self.text(variable.name)
        if carried.message is not None or variable.elements or any(variable.size_names):
            desc = self.description(variable, carried)
            desc.name = name
            made = write(desc)
            return made if carried.original is None else carried.original.instead_of(made)
        is_parameter = carried.is_parameter and hasattr(variable, "trainable")
        flags = variable.persistable, variable.need_check_feed, variable.stop_gradient, is_parameter
        key = variable.kind, variable.dtype, variable.shape, variable.lod_level, flags, carried
        behind = self.behind_names.get(key)
        if behind is None:
            behind = write(self.description(variable, carried))
            if len(self.behind_names) < _KEPT:
                self.behind_names[key] = behind
        return delimited(1, name) + behind

    def description(self, variable: Variable, carried: CarriedVariable) -> Any:
        """The message of a variable without its name."""
        desc = _VARIABLE() if carried.message is None else carried.message.copy()
        type_ = _inner(desc, "type", "VarType")
        is_unknown = type_.has("type") and type_.type not in KINDS
        if not (is_unknown and variable.kind is Kind.RAW):
            type_.type = int(variable.kind)
        field = WITH_TENSOR.get(variable.kind)
        if field is not None:
            inner = _inner(type_, *field)
            if field[0] != "selected_rows":
                if variable.lod_level or carried.lod_level:
                    inner.lod_level = variable.lod_level
                inner = _inner(inner, "tensor", "VarType.TensorDesc")
            if variable.has_dtype or not inner.has("data_type"):
                inner.data_type = int(variable.dtype)
            inner.dims = variable.shape
        if variable.elements:
            reader = _inner(type_, "reader", "VarType.ReaderDesc")
            there = dict(enumerate(reader.lod_tensor))
            reader.lod_tensor = []
            for place, element in enumerate(variable.elements):
                level = there.get(place) or MESSAGE_CLASSES["VarType.LoDTensorDesc"]()
                level.lod_level = element.lod_level
                inner = _inner(level, "tensor", "VarType.TensorDesc")
                inner.data_type, inner.dims = int(element.dtype), element.shape
                reader.lod_tensor.append(level)
        for name in ("persistable", "need_check_feed"):
            value = getattr(variable, name)
            if value or getattr(carried, name):
                setattr(desc, name, value)
        if carried.is_parameter:
            desc.is_parameter = hasattr(variable, "trainable")
        if carried.stop_gradient:
            desc.stop_gradient = variable.stop_gradient
        if any(variable.size_names):
            desc.size_names = [self.text(name or "") for name in variable.size_names]
        return desc

    # -- operators -------------------------------------------------------------------------------

    def operator(self, op: Operator) -> bytes:
        """The message of an operator."""
        carried, joined = op.carried, None
        if carried is None:
            carried, (layout, joined) = _FRESH, self.layout(op)
        else:
            layout = carried.layout
        names = SLOTS.get(op.type, {}) if self.of_paddle2 else {}
        parts = []
        for number, slots, listed in (
            (1, op.inputs, layout.inputs),
            (2, op.outputs, layout.outputs),
        ):
            slots = renamed_slots(slots, names)
            parts += self.slots(number, slots, renamed_slots(listed, names), carried)
        kind = TYPES_IN_FILES.get(op.type, op.type) if self.of_paddle2 else op.type
        parts.append(delimited(3, self.text(kind)))
        wires = layout.wires
        key = None if joined is None or self.call_sites else _values(op)
        fields = joined.get(key) if joined is not None and key is not None else None
        if fields is None:
            fields = b"".join(self.attributes_of(op, layout, carried))
            if joined is not None and key is not None and len(joined) < _KEPT // 10:
                joined[key] = fields
        parts.append(fields)
        if self.call_sites and "op_callstack" not in wires:
            parts.append(self.call_stack(op.callsite, loaded=False))
        if op.is_target is not None:
            parts.append(varint_field(5, op.is_target))
        message = b"".join(parts)
        original = carried.original
        if original is None:
            return message
        # a stack whose frames were left out stands in the original alone
        strips = self.call_sites is False and op.callsite is None and "op_callstack" in wires
        return message + original.rest if strips else original.instead_of(message)

    def attributes_of(
        self, op: Operator, layout: PartOrder, carried: CarriedOperator
    ) -> Iterator[bytes]:
        """The fields of an operator's attributes."""
        attrs, wires = op.attrs, layout.wires
        for name, wire in wires.items():
            if name in attrs:
                field = self.attribute(name, wire or op.attr_wire(name), attrs[name])
            elif not wire:
                field = delimited(4, carried.apart[name])
            elif name == "op_callstack":
                field = self.call_stack(op.callsite, loaded=carried is not _FRESH)
            elif name in FRAMEWORK_ATTRIBUTES:
                field = self.attribute(name, wire, op.attr(name))
            else:
                field = self.attribute(name, wire, layout.defaults.get(name, REQUIRED))
            yield self.part(carried, 4, name, field) if carried.parts else field
        if attrs and not wires.keys() >= attrs.keys():
            added = [name for name in attrs if name not in wires and not self.is_meant(op, name)]
            yield from (self.attribute(name, op.attr_wire(name), attrs[name]) for name in added)

    def layout(self, op: Operator) -> tuple[PartOrder, dict[Any, bytes]]:
        """How an operator is written that no file told anything about, and the fields of attributes
        that were written so.
        """
        key = (op.type, op.lists_given_attrs, tuple(op.inputs), tuple(op.attrs))
        layout = self.layouts.get(key)
        if layout is None:
            names = [
                name
                for name in op.attr_names
                if name != "op_callstack" and not self.is_meant(op, name)
            ]
            wires = {name: op.attr_wire(name) for name in names}
            order = PartOrder(tuple(op.input_names), tuple(op.output_names), wires, defaults_of(op))
            layout = order, {}
            if op.definition is not None:
                self.layouts[key] = layout
        return layout

    def is_meant(self, op: Operator, name: str) -> bool:
        """Whether an attribute is not written, since paddle 2 means it silently."""
        if not self.of_paddle2 or op.definition is None:
            return False
        declared = op.definition.attributes.get(name)
        return declared is not None and declared.edition

    def slots(self, number: int, given: Any, listed: Any, carried: CarriedOperator) -> list[bytes]:
        """The fields of the slots of one side."""
        fields = []
        argument = self.argument
        more = () if given.keys() <= set(listed) else [n for n in given if n not in listed]
        for slot in (*listed, *more):
            message = delimited(1, self.text(slot))
            message += b"".join([argument(name) for name in given.get(slot, ())])
            field = delimited(number, message)
            fields.append(self.part(carried, number, slot, field) if carried.parts else field)
        return fields

    def argument(self, name: str) -> bytes:
        """The field of a name in a slot, made once."""
        field = self.arguments.get(name)
        if field is None:
            field = self.arguments[name] = delimited(2, self.text(name))
        return field

    def part(self, carried: CarriedOperator, number: int, name: str, field: bytes) -> bytes:
        """The field of a slot or an attribute, with what a file says there besides."""
        original = (carried.parts or {}).get((number, name))
        if original is None or not field:
            return field
        size = len(field) - 1
        while 1 + len(varint_bytes(size)) + size > len(field):
            size -= 1
        return delimited(number, original.instead_of(field[len(field) - size :]))

    def call_stack(self, site: CallSite | None, loaded: bool) -> bytes:
        """The field that says where an operator was made: from the file, or from the caller."""
        if self.call_sites is False or site is None or (not self.call_sites and not loaded):
            return b""
        return self.attribute("op_callstack", "STRINGS", site.frames)

    def attribute(self, name: str, wire: str, value: Any) -> bytes:
        """The field of an attribute; nothing for one that has no value."""
        if value is REQUIRED:
            return b""
        key = None
        if wire in _SHORT:
            key = (name, wire, repr(value) if wire == "FLOAT" else value)
        elif isinstance(value, str) and len(value) < 40:
            key = (name, wire, value)
        elif value == ():
            key = (name, wire, None)
        field = self.attributes.get(key)
        if field is None:
            try:
                field = delimited(4, self.message(name, wire, value))
            except (TypeError, ValueError, AttributeError):  # a file said another type
                field = delimited(4, self.message(name, wire_type(value), value))
            if key is not None and len(self.attributes) < _KEPT:
                self.attributes[key] = field
        return field

    def message(self, name: str, wire: str, value: Any) -> bytes:
        """The message of an attribute."""
        number, field = ATTRIBUTE_TYPES[wire]
        head = self.heads.get((name, wire))
        if head is None:
            head = delimited(1, self.text(name)) + varint_field(2, number)
            self.heads[name, wire] = head
        make = self.text if wire.startswith(("STRING", "VAR")) else _MAKE[wire.removesuffix("S")]
        _, tag, encoded, repeated = _ATTRIBUTE.fields[field]
        if repeated:
            return head + b"".join([tag + encoded(make(each)) for each in value])
        return head + tag + encoded(make(value))


def _values(op: Operator) -> Any:
    """What the fields of an operator's attributes depend on; None for values of other types."""
    values: list[Any] = [op.role, op.namescope, op.device, tuple(op.role_vars)]
    for value in op.attrs.values():
        kind = type(value)
        if kind is float:
            values.append(repr(value))  # tells the signs of zeros
        elif kind in _EXACT or (kind is tuple and not value):
            values += (kind, value)
        else:
            return None
    return tuple(values)


def _inner(message: Any, name: str, kind: str) -> Any:
    """A message within another one, which is made if it is missing."""
    if not message.has(name):
        setattr(message, name, MESSAGE_CLASSES[kind]())
    return getattr(message, name)


def _scalar(value: bool | complex) -> Any:
    """The message of a number."""
    if isinstance(value, complex):
        parts = MESSAGE_CLASSES["Complex"](r=value.real, i=value.imag)
        return MESSAGE_CLASSES["Scalar"](type=COMPLEX_SCALAR, c=parts)
    number, field = SCALAR_TYPES[type(value)]
    return MESSAGE_CLASSES["Scalar"](type=number, **{field: value})


def defaults_of(op: Operator) -> dict[str, Any]:
    """The defaults of an operator's attributes."""
    definition = op.definition
    return {} if definition is None else {a.name: a.default for a in definition.attributes.values()}


def _int32(value: int) -> int:
    """The same 32 bits with a sign: some of fluid's constants use it."""
    value = int(value)
    return value - (1 << 32) if value >= 1 << 31 else value


#: wire type of one value -> what makes it
_MAKE: dict[str, Callable[[Any], Any]] = {
    "INT": _int32,
    "BLOCK": _int32,
    "LONG": int,
    "FLOAT": float,
    "FLOAT64": float,
    "BOOLEAN": bool,
    "SCALAR": _scalar,
}


def dtype_of(number: int) -> DType | None:
    """The element type of a number in a file; None for one that is unknown here."""
    try:
        return DType(number)
    except ValueError:
        return None
