"""From the bytes of program files to programs."""

from __future__ import annotations

import contextlib
import re
import warnings
from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

from ..dtypes import Kind
from ..errors import FluidError, NoGradientError, UnknownOperatorError
from ..ir.block import Block
from ..ir.callsite import CallSite
from ..ir.literal import EmptyList
from ..ir.operator import FRAMEWORK_ATTRIBUTES, Names, Operator
from ..ir.program import Program
from ..ir.variable import Parameter, Variable
from ..opdef.attribute import Attribute, BlockRef, Long
from ..opdef.definition import Op, lookup
from .carried import (
    CarriedBlock,
    CarriedOperator,
    CarriedProgram,
    CarriedVariable,
    Layout,
    Original,
)
from .encode import Encoder, dtype_of
from .schema import ATTRIBUTE_TYPE_OF, ATTRIBUTE_TYPES, message_classes
from .wire import Bytes, Field, decoded, signed

#: what one of them takes, in bytes
_BLOCK, _VARIABLE, _OPERATOR, _SLOT = 1000, 500, 250, 250
_FRAME = re.compile(r'File "(.+?)", line (\d+)')
_LIBRARY = re.compile(r"[/\\](?:site-packages|paddle|fluidlite)[/\\]")
#: attribute in files -> field of an operator
_FIELDS = {
    "op_role": "role",
    "op_role_var": "role_vars",
    "op_namescope": "namescope",
    "op_device": "device",
    "op_callstack": "callsite",
}
#: attributes that steer how a library computes, not what
_KNOBS = {"mkldnn_data_type", "workspace_size_MB", "exhaustive_search", "head_number"}
_KNOBS_BEGIN = re.compile(r"use_|fuse_|fused_|with_quant|Scale_|scale_(in|out|x|y)$|[xy]_data_format")
_WRAPPED: dict[str, Callable[[Any], Any]] = {"LONG": Long, "BLOCK": BlockRef}


def memory_limit(size: int) -> int:
    """What a program read from a file of ``size`` bytes may take: a file that asks for far more is
    none that somebody wrote.
    """
    return max(4 * size + (16 << 20), 8 * size)


class Step(NamedTuple):
    """What to do with one attribute of an operator."""

    name: str
    wire: str  #: "" where it is kept as it is
    read: Callable[[Any], Any]  #: from the message
    declared: Attribute | None
    convert: bool
    framework: bool


class Plan(NamedTuple):
    """How operators of one layout are read."""

    type: str
    definition: type[Op] | None
    layout: Layout
    carried: CarriedOperator
    steps: list[Step]
    bare: bool  #: lists_given_attrs
    order: tuple[str, ...]  #: the attributes in order of their definition


class Decoder:
    """Reads one program file.

    Args:
        program: takes what is read; without variables and operators.
        data: the bytes.
        name: what messages call them: the path of a file.
    """

    def __init__(self, program: Program, data: bytes, name: str) -> None:
        self.program = program
        self.bytes = Bytes(bytes(data), name)
        self.messages = message_classes()
        self.encoder = Encoder()
        self.texts: dict[str, str] = {}  # equal names are stored once
        self.shared: dict[Any, Any] = {}  # so are shapes and records
        self.plans: dict[Any, Plan] = {}
        self.ignored: dict[str, None] = {}  # attributes and slots that mean nothing here
        self.budget = memory_limit(len(data))
        self.count = 0  # of blocks

    # -- small things ----------------------------------------------------------------------------

    def text(self, raw: bytes) -> str:
        """A text, stored once."""
        text = raw.decode("utf-8", "surrogateescape")
        return self.texts.setdefault(text, text)

    def share(self, value: Any) -> Any:
        """An equal value that was seen before, or this one."""
        return self.shared.setdefault(value, value)

    def charge(self, cost: int, at: int) -> None:
        """Refuse a file that would take far more memory than it has bytes."""
        self.budget -= cost
        if self.budget < 0:
            limit = memory_limit(len(self.bytes.data))
            self.bytes.fail(at, f"a program that fits {limit} bytes of memory", "more of it")

    # -- programs and blocks ---------------------------------------------------------------------

    def run(self) -> None:
        """Read everything.

        Raises:
            FileFormatError: the bytes are no program.
        """
        data = self.bytes.data
        if not data:
            self.bytes.fail(0, "a program", "nothing: the file is empty")
        blocks: list[Field] = []
        version = compatible = None
        rest = []
        for field in self.bytes.fields(0, len(data), "a program"):
            if field.wire == 2 and field.number == 1:
                blocks.append(field)
            elif field.wire == 2 and field.number == 3:
                compatible = data[field.begin : field.end]
            elif field.wire == 2 and field.number == 4:
                version = data[field.begin : field.end]
            else:
                rest.append(data[field.start : field.end])
        if not blocks:
            self.bytes.fail(len(data), "a block", "the end of the file")
        self.count = len(blocks)
        self.program.carried = CarriedProgram(version, compatible, b"".join(rest))
        self.program.blocks = []
        for number, field in enumerate(blocks):
            self.block(number, field)
        self.program.touch()
        if self.ignored:
            warnings.warn(
                f"{self.bytes.name}: fluidlite does not know {', '.join(self.ignored)}; the "
                "program runs without them, and they are kept when it is saved",
                UserWarning,
                stacklevel=2,
            )

    def block(self, number: int, whole: Field) -> None:
        """Read a block, and put it into the program."""
        data = self.bytes.data
        numbers = {1: -1, 2: -2, 5: -1}
        given, rest = set(), []
        variables, operators = array("q"), array("q")  # where they begin and end
        for field in self.bytes.fields(whole.begin, whole.end, "a block"):
            if field.wire == 2 and field.number == 3:
                variables.extend((field.begin, field.end))
            elif field.wire == 2 and field.number == 4:
                operators.extend((field.begin, field.end))
            elif field.wire == 0 and field.number in numbers:
                numbers[field.number] = signed(field.value, 32)
                given.add(field.number)
            else:
                rest.append(data[field.start : field.end])
        index, parent, forward = numbers.values()
        fail = self.bytes.fail
        if index != number:
            fail(whole.start, f"block {number}", f"block {index}" if 1 in given else "no index")
        if not (parent == -1 if number == 0 else 0 <= parent < number):
            wanted = "no parent (-1)" if number == 0 else f"a parent before block {number}"
            fail(whole.start, wanted, str(parent) if 2 in given else "none")
        if not -1 <= forward < number:
            fail(whole.start, f"a forward block before block {number}", str(forward))
        block = Block(self.program, number, parent, forward)
        if rest or (5 in given and forward < 0):
            block.carried = CarriedBlock(5 in given, b"".join(rest))
        self.program.blocks.append(block)
        self.charge(_BLOCK, whole.start)
        for begin, end in zip(variables[::2], variables[1::2]):
            self.variable(block, begin, end)
        for begin, end in zip(operators[::2], operators[1::2]):
            block.ops.append(self.operator(block, begin, end))

    # -- variables -------------------------------------------------------------------------------

    def variable(self, block: Block, begin: int, end: int) -> None:
        """Read a variable, and declare it."""
        self.charge(_VARIABLE, begin)
        desc = decoded(self.messages["VarDesc"], "VarDesc", self.bytes, begin, end)
        name = self.text(desc.name)
        if not desc.HasField("name"):
            self.bytes.fail(begin, "a variable with a name", "one without")
        if name in block.vars:
            what = f"variables of different names in block {block.idx}"
            self.bytes.fail(begin, what, f"{name!r} a second time")
        number = desc.type.type
        try:
            kind = Kind(number)
        except ValueError:
            kind = Kind.RAW
        fields: dict[str, Any] = {"kind": kind}
        tensor = level = None
        if kind is Kind.LOD_TENSOR and desc.type.HasField("lod_tensor"):
            level = desc.type.lod_tensor
        elif kind is Kind.LOD_TENSOR_ARRAY and desc.type.HasField("tensor_array"):
            level = desc.type.tensor_array
        elif kind is Kind.SELECTED_ROWS and desc.type.HasField("selected_rows"):
            tensor = desc.type.selected_rows
        if level is not None:
            tensor = level.tensor
            fields["lod_level"] = level.lod_level
        if tensor is not None and tensor.HasField("data_type"):
            fields["dtype"] = dtype_of(tensor.data_type)
            dims = tuple(tensor.dims)
            if dims:
                self.charge(32 * len(dims), begin)
                fields["shape"] = self.share(dims)
        fields["persistable"] = desc.persistable
        fields["need_check_feed"] = fields["is_data"] = desc.need_check_feed
        fields["stop_gradient"] = desc.stop_gradient
        shape = fields.get("shape", ())
        parameter = desc.is_parameter and block.idx == 0 and shape and min(shape) > 0
        made: Variable = (Parameter if parameter else Variable)(block, name, **fields)
        carried = CarriedVariable(
            desc.HasField("persistable"),
            desc.HasField("need_check_feed"),
            level is not None and level.HasField("lod_level"),
            desc.HasField("is_parameter"),
            desc.HasField("stop_gradient"),
        )
        made.carried = carried = self.share(carried)
        raw = self.bytes.data[begin:end]
        seen = self.encoder.variable(made)
        if raw != seen:
            self.charge(len(raw) + len(seen), begin)
            made.carried = carried._replace(rest=unknown_fields(self.bytes, begin, end, 6))
            seen = self.encoder.variable(made)
            if raw != seen:
                made.carried = made.carried._replace(original=Original(raw, seen))
        block.vars[name] = made

    # -- operators -------------------------------------------------------------------------------

    def operator(self, block: Block, begin: int, end: int) -> Operator:
        """Read an operator."""
        desc = decoded(self.messages["OpDesc"], "OpDesc", self.bytes, begin, end)
        attrs, inputs, outputs = desc.attrs, desc.inputs, desc.outputs
        key = (
            desc.type,
            tuple([(attr.name, attr.type) for attr in attrs]),
            tuple([slot.parameter for slot in inputs]),
            tuple([slot.parameter for slot in outputs]),
        )
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = self.plan(key, begin)
        self.charge(_OPERATOR + _SLOT * (bool(inputs) + bool(outputs)), begin)
        attributes, fields, apart = self.attributes(plan, attrs, begin)
        op = Operator(
            block,
            plan.type,
            self.slots(inputs, plan.layout.inputs, plan, "input_slots"),
            self.slots(outputs, plan.layout.outputs, plan, "output_slots"),
            attributes,
            lists_given_attrs=plan.bare,
            **fields,
        )
        op.carried = plan.carried._replace(apart=apart) if apart else plan.carried
        raw = self.bytes.data[begin:end]
        seen = self.encoder.operator(op)
        if raw != seen:
            self.charge(len(raw) + len(seen), begin)
            op.carried = op.carried._replace(rest=unknown_fields(self.bytes, begin, end, 4))
            seen = self.encoder.operator(op)
            if raw != seen:
                op.carried = op.carried._replace(original=Original(raw, seen))
        return op

    def slots(self, given: Any, listed: Names, plan: Plan, side: str) -> dict[str, Names]:
        """Names by slot, those of a definition in its order."""
        text = self.text
        found = {}
        for slot, message in zip(listed, given):
            names = message.arguments
            if names:
                found[slot] = tuple([text(name) for name in names])
        if plan.definition is not None and len(found) > 1:
            order = getattr(plan.definition, side)
            if found.keys() <= order.keys():
                return {slot: found[slot] for slot in order if slot in found}
        return found

    def attributes(
        self, plan: Plan, attrs: Any, at: int
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, bytes]]:
        """The attributes of an operator, those that are fields of an operator here, and those that
        are unknown.
        """
        found: dict[str, Any] = {}
        fields: dict[str, Any] = {}
        apart: dict[str, bytes] = {}
        for attr, step in zip(attrs, plan.steps):
            if not step.wire:
                apart[step.name] = attr.SerializeToString()
                self.charge(200 + len(apart[step.name]), at)
                if plan.definition is not None:
                    self.note_ignored(plan, step, attr)
                continue
            value = step.read(attr)
            if step.framework:
                if step.name == "op_callstack":
                    value = self.share(call_site(value))
                fields[_FIELDS[step.name]] = value
                continue
            if step.convert:
                with contextlib.suppress(FluidError):  # else it can be printed, but not run
                    value = step.declared.convert(value, plan.type)  # type: ignore[union-attr]
            if step.wire in ("BLOCK", "BLOCKS"):
                self.check_blocks(value, at)
            found[step.name] = value
        if plan.order:
            declared = plan.definition.attributes  # type: ignore[union-attr]
            found = {n: found[n] for n in plan.order if found[n] != declared[n].default}
        if found:
            self.charge(150 + 70 * len(found), at)
        return found, fields, apart

    def check_blocks(self, value: Any, at: int) -> None:
        for index in value if isinstance(value, tuple) else (value,):
            if not 0 <= index < self.count:
                what = f"the index of one of {self.count} blocks"
                self.bytes.fail(at, what, str(int(index)))

    def plan(self, key: Any, at: int) -> Plan:
        """How to read operators of a layout."""
        raw_type, attrs, inputs, outputs = key
        if not raw_type:
            self.bytes.fail(at, "an operator with a type", "one without")
        type_ = self.text(raw_type)
        try:
            definition: type[Op] | None = lookup(type_)
        except (UnknownOperatorError, NoGradientError):
            definition = None
        names = tuple([self.text(name) for name, _ in attrs])
        slots = [tuple([self.text(name) for name in side]) for side in (inputs, outputs)]
        for listed in slots:
            if len(set(listed)) != len(listed):
                twice = next(name for name in listed if listed.count(name) > 1)
                expected = f"slots of different names of operator {type_}"
                self.bytes.fail(at, expected, f"{twice!r} twice")
        steps = [
            self.step(name, number, definition)
            for name, (_, number) in zip(names, attrs, strict=True)
        ]
        kept = {s.name for s in steps if s.wire and not s.framework}
        bare, order = False, ()
        if definition is not None:
            expected = {a.name for a in definition.attributes.values() if not a.local}
            bare = kept != expected
            order = () if bare else tuple(n for n in definition.attributes if n in kept)
            for side, listed in (("input", slots[0]), ("output", slots[1])):
                for name in set(listed) - getattr(definition, f"{side}_slots").keys():
                    self.ignored[f"the {side} slot {name!r} of {type_}"] = None
        layout = Layout(names, slots[0], slots[1], tuple([step.wire for step in steps]))
        self.charge(200 * (len(names) + 2), at)
        return Plan(type_, definition, layout, CarriedOperator(layout), steps, bare, order)

    def step(self, name: str, number: int, definition: type[Op] | None) -> Step:
        """How to read one attribute."""
        wire = ATTRIBUTE_TYPE_OF.get(number, "")
        framework = name in FRAMEWORK_ATTRIBUTES
        declared = None if definition is None else definition.attributes.get(name)
        if framework and wire != FRAMEWORK_ATTRIBUTES[name]:
            framework, wire = False, ""
        elif definition is not None and declared is None and not framework:
            wire = ""
        wrapped = declared is None and not framework
        convert = declared is not None and (declared.kind == "DType" or declared.wire != wire)
        return Step(name, wire, self.reader(wire, wrapped), declared, convert, framework)

    def reader(self, wire: str, wrapped: bool) -> Callable[[Any], Any]:
        """A function that takes a value out of the message of an attribute.

        Args:
            wire: its type.
            wrapped: whether the value itself has to tell that type.
        """
        field = ATTRIBUTE_TYPES[wire][1] if wire else ""
        text = self.text
        if wire == "STRING":
            return lambda attr: text(attr.s)
        if wire == "STRINGS" and not wrapped:
            return lambda attr: tuple([text(each) for each in attr.strings])
        if not wire.endswith("S"):
            make = _WRAPPED.get(wire) if wrapped else None
            if make is not None:
                return lambda attr: make(getattr(attr, field))
            return lambda attr: getattr(attr, field)
        if not wrapped:
            return lambda attr: tuple(getattr(attr, field))
        make_each = text if wire == "STRINGS" else _WRAPPED.get(wire[:-1], lambda value: value)

        def read_list(attr: Any) -> Any:
            return tuple([make_each(each) for each in getattr(attr, field)]) or EmptyList(wire)

        return read_list

    def note_ignored(self, plan: Plan, step: Step, attr: Any) -> None:
        """Note an attribute of a known operator that is unknown here, unless it is switched off."""
        wire = ATTRIBUTE_TYPE_OF.get(attr.type, "")
        if step.name in _KNOBS or _KNOBS_BEGIN.match(step.name):
            return
        if not wire or getattr(attr, ATTRIBUTE_TYPES[wire][1]):
            self.ignored[f"the attribute {step.name!r} of {plan.type}"] = None


def unknown_fields(source: Bytes, begin: int, end: int, last: int) -> bytes:
    """The fields of a message whose numbers are not in the table.

    Args:
        source: all bytes.
        begin, end: where the message lies.
        last: the largest number that is.
    """
    found = source.fields(begin, end, "a message")
    return b"".join([source.data[f.start : f.end] for f in found if f.number > last])


def call_site(stack: tuple[str, ...]) -> CallSite:
    """The line of the user in a call stack."""
    frames = [match for line in stack for match in _FRAME.finditer(line)]
    users = [frame for frame in frames if not _LIBRARY.search(frame[1])]
    if not users:
        return CallSite("?", 0, stack)
    frame = users[-1 if users[0] is frames[0] else 0]  # the outermost call is first, or last
    return CallSite(frame[1], int(frame[2][:9]), stack)
