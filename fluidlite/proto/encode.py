"""From programs to the bytes of program files."""

from __future__ import annotations

from typing import Any

from ..dtypes import DType, Kind
from ..ir.block import Block
from ..ir.callsite import CallSite
from ..ir.literal import wire_type
from ..ir.operator import FRAMEWORK_ATTRIBUTES, Operator
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.attribute import REQUIRED
from .carried import CarriedBlock, CarriedOperator, CarriedProgram, CarriedVariable, Layout
from .schema import ATTRIBUTE_TYPES, message_classes
from .wire import delimited, varint_field

#: the version of the format that files say they have: that of fluid 1.8.5
FORMAT_VERSION = 1008005
_WITH_TENSOR = {
    Kind.LOD_TENSOR: "lod_tensor",
    Kind.SELECTED_ROWS: "selected_rows",
    Kind.LOD_TENSOR_ARRAY: "tensor_array",
}
_NO_LAYOUT = Layout((), (), (), ())
_FRESH = CarriedOperator(_NO_LAYOUT)


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
        self.messages = message_classes()
        self.texts: dict[str, bytes] = {}

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
        desc = self.messages["VarDesc"]()
        desc.name = self.text(variable.name)
        desc.type.type = int(variable.kind)
        field = _WITH_TENSOR.get(variable.kind)
        if field is not None:
            inner = getattr(desc.type, field)
            if field != "selected_rows":
                if variable.lod_level or carried.lod_level:
                    inner.lod_level = variable.lod_level
                inner = inner.tensor
            inner.data_type = int(variable.dtype)
            inner.dims.extend(variable.shape)
        for name in ("persistable", "need_check_feed"):
            value = getattr(variable, name)
            if value or getattr(carried, name):
                setattr(desc, name, value)
        if carried.is_parameter:
            desc.is_parameter = hasattr(variable, "trainable")
        if carried.stop_gradient:
            desc.stop_gradient = variable.stop_gradient
        made: bytes = desc.SerializeToString() + carried.rest
        original = carried.original
        return original.raw if original is not None and made == original.seen else made

    # -- operators -------------------------------------------------------------------------------

    def operator(self, op: Operator) -> bytes:
        """The message of an operator."""
        carried = op.carried or _FRESH
        layout = carried.layout
        desc = self.messages["OpDesc"]()
        fresh = carried is _FRESH
        self._slots(desc.inputs, op.inputs, op.input_names if fresh else layout.inputs)
        self._slots(desc.outputs, op.outputs, op.output_names if fresh else layout.outputs)
        desc.type = self.text(op.type)
        wires = dict(zip(layout.attributes, layout.wires))
        names: Any = wires
        if fresh or not wires.keys() >= op.attrs.keys():
            names = dict.fromkeys([*wires, *(op.attr_names if fresh else op.attrs)])
        for name in names:
            if name in carried.apart:
                desc.attrs.add().MergeFromString(carried.apart[name])
            elif name == "op_callstack":
                self._call_stack(desc, op.callsite, loaded=name in wires)
            else:
                self._attribute(desc, op, name, wires.get(name))
        if self.call_sites and "op_callstack" not in names and op.callsite is not None:
            self._call_stack(desc, op.callsite, loaded=False)
        made: bytes = desc.SerializeToString() + carried.rest
        original = carried.original
        return original.raw if original is not None and made == original.seen else made

    def _slots(self, slots: Any, given: Any, listed: Any) -> None:
        text = self.text
        for name in listed:
            slots.add(parameter=text(name), arguments=[text(n) for n in given.get(name, ())])
        for name, names in given.items():
            if name not in listed:
                slots.add(parameter=text(name), arguments=[text(n) for n in names])

    def _call_stack(self, desc: Any, site: CallSite | None, loaded: bool) -> None:
        """Write where an operator was made: what a file said, or else where it is asked for."""
        if self.call_sites is False or site is None or (not self.call_sites and not loaded):
            return
        lines = site.stack or (f'  File "{site.file}", line {site.line}',)
        self._put(desc.attrs.add(), "op_callstack", "STRINGS", lines)

    def _attribute(self, desc: Any, op: Operator, name: str, wire: str | None) -> None:
        if name in FRAMEWORK_ATTRIBUTES:
            value = op.attr(name)
            wire = FRAMEWORK_ATTRIBUTES[name]
        else:
            definition = op.definition
            declared = None if definition is None else definition.attributes.get(name)
            if name in op.attrs:
                value = op.attrs[name]
            elif declared is not None:
                value = declared.default
            else:
                return
            if value is REQUIRED:
                return
            if not wire:
                wire = wire_type(value) if declared is None else declared.wire
        self._put(desc.attrs.add(), name, wire, value)

    def _put(self, attr: Any, name: str, wire: str, value: Any) -> None:
        number, field = ATTRIBUTE_TYPES[wire]
        attr.name = self.text(name)
        attr.type = number
        if wire == "STRING":
            attr.s = self.text(value)
        elif wire == "STRINGS":
            attr.strings.extend([self.text(each) for each in value])
        elif wire in ("INT", "BLOCK"):
            setattr(attr, field, _int32(value))
        elif wire in ("INTS", "BLOCKS"):
            getattr(attr, field).extend([_int32(each) for each in value])
        elif wire in ("LONGS", "FLOATS", "BOOLEANS"):
            getattr(attr, field).extend(value)
        else:
            setattr(attr, field, value)


def _int32(value: int) -> int:
    """The same 32 bits with a sign: some of fluid's constants use it."""
    value = int(value)
    return value - (1 << 32) if value >= 1 << 31 else value


def dtype_of(number: int) -> DType | None:
    """The element type of a number in a file; None for one that is unknown here."""
    try:
        return DType(number)
    except ValueError:
        return None
