"""From the bytes of program files to operators."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import FluidError
from ..ground.callsite import call_site
from ..ground.files import excerpt
from ..ir.block import Block
from ..ir.literal import EmptyList
from ..ir.operator import FRAMEWORK_ATTRIBUTES, Names, Operator
from ..opdef.attribute import REQUIRED, Attribute, BlockRef, Long
from ..opdef.definition import Op, find
from .carried import CarriedOperator, Original, PartOrder
from .encode import Encoder, encode_text
from .newer_programs import SLOTS, TYPES, renamed_slots
from .reading import Reading
from .schema import ATTRIBUTE_TYPE_OF, ATTRIBUTE_TYPES, COMPLEX_SCALAR, SCALAR_TYPES
from .wire import MESSAGE_CLASSES, read, write

if TYPE_CHECKING:
    from .wire import Bytes

#: what an operator takes, one of its sides, and an attribute, in bytes
_OPERATOR, _SIDE, _ATTRIBUTE = 250, 250, 70
_INPUTS, _OUTPUTS, _FIRST, _SECOND = 0x0A, 0x12, 0x0A, 0x12  # tags of fields
_KEPT, _SHORT = 4096, 2000  # kinds of operators; the bytes of one
_VALUES = 64  # of an attribute
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
_KNOBS_BEGIN = re.compile(
    r"use_|fuse_|fused_|with_quant|Scale_|scale_(in|out|x|y)$|[xy]_data_format"
    r"|quantiz|skip_quant|out_(threshold|min|max)$|.*(\.min|\.max|_quant_scale)$"
)
#: wire types that texts of programs do not have: attributes that nobody declared are kept apart
_OF_PADDLE_2 = frozenset({"FLOAT64", "FLOAT64S", "SCALAR", "SCALARS", "VAR", "VARS"})
#: what gradient operators read the shape of an input from
_SHAPES = ("XShape", "x_shape")
_WRAPPED: dict[str, Callable[[Any], Any]] = {"LONG": Long, "BLOCK": BlockRef}


_OPERATION = MESSAGE_CLASSES["OpDesc"]
_SCALAR_FIELDS = dict(SCALAR_TYPES.values())


class AttributeReader(NamedTuple):
    """What to do with one attribute of an operator."""

    name: str
    wire: str  #: "" where it is kept as it is
    read: Callable[[Any], Any]  #: from the message
    declared: Attribute | None
    convert: bool
    framework: bool
    known: dict[Any, tuple[Any, bool]]  #: what messages say, of those that are often alike


@dataclass
class OperatorLayout:
    """How operators of one layout are read."""

    op_type: str
    definition: type[Op] | None
    layout: PartOrder
    carried: CarriedOperator
    steps: list[AttributeReader]
    bare: bool  #: lists_given_attrs
    order: tuple[str, ...]  #: the attributes in order of their definition
    #: whether they are written otherwise than they were read; None until one has been compared
    unusual: bool | None = None


class KnownOperator(NamedTuple):
    """What an operator's message says behind the slots."""

    plan: OperatorLayout
    attributes: dict[str, Any]
    fields: dict[str, Any]


class Sides(NamedTuple):
    """The slots of an operator and their variables."""

    end: int  #: where they end in its message; 0 where they are not in the front of it
    listed: tuple[tuple[int, str], ...]  #: the tag of its side and the name of each slot
    inputs: dict[str, Names]
    outputs: dict[str, Names]


class OperatorDecoder:
    """Reads the operators of a program file.

    Args:
        reading: the file.
        encoder: writes them again, to see what would be lost.
    """

    def __init__(self, reading: Reading, encoder: Encoder) -> None:
        self.reading = reading
        self.encoder = encoder
        self.bytes: Bytes = reading.bytes
        self.text: Callable[[bytes], str] = reading.text
        self.plans: dict[Any, OperatorLayout] = {}
        self.known: dict[Any, KnownOperator] = {}

    def operator(self, block: Block, begin: int, end: int) -> Operator:
        """Read an operator of a block."""
        raw = self.bytes.data[begin:end]
        # Most operators differ in the names of variables only, which come first.
        sides = self.sides(raw)
        known = None if sides is None else self.known.get((raw[sides.end :], sides.listed))
        if known is None or sides is None:
            return self.unknown_operator(block, raw, begin, sides)
        plan = known.plan
        self.reading.charge(_OPERATOR + 2 * _SIDE, begin)
        return self.made(block, plan, sides, known.attributes, known.fields)

    def made(
        self,
        block: Block,
        plan: OperatorLayout,
        sides: Sides,
        attributes: dict[str, Any],
        fields: dict[str, Any],
    ) -> Operator:
        """The operator of a layout with these slots and attributes."""
        inputs, outputs = sides.inputs, sides.outputs
        if self.encoder.of_paddle2 and plan.op_type in SLOTS:
            ours = {theirs: ours for ours, theirs in SLOTS[plan.op_type].items()}
            inputs, outputs = renamed_slots(inputs, ours), renamed_slots(outputs, ours)
        op = Operator(
            block,
            plan.op_type,
            self.ordered(inputs, plan, "input_slots"),
            self.ordered(outputs, plan, "output_slots"),
            attributes,
            lists_given_attrs=plan.bare,
            **fields,
        )
        op.carried = plan.carried
        return op

    def sides(self, raw: bytes) -> Sides | None:
        """The slots and their variables; None where a part is written in an unusual way, or is
        long.
        """
        text, known = self.text, self.reading.texts.get
        at, size, last = 0, len(raw), _INPUTS
        sides: tuple[dict[str, Names], dict[str, Names]] = {}, {}
        listed = []
        while at + 4 < size and raw[at] in (_INPUTS, _OUTPUTS):
            side, stop, width = raw[at], at + 2 + raw[at + 1], raw[at + 3]
            if raw[at + 1] > 127 or raw[at + 2] != _FIRST or width > 127 or stop > size:
                return None
            if side < last:
                return None
            last = side
            at += 4
            name = raw[at : at + width]
            slot = known(name) or text(name)
            listed.append((side, slot))
            at += width
            names = []
            while at + 1 < stop:
                width = raw[at + 1]
                if raw[at] != _SECOND or width > 127:
                    return None
                at += 2
                name = raw[at : at + width]
                names.append(known(name) or text(name))
                at += width
            if at != stop:
                return None
            if names:
                sides[side == _OUTPUTS][slot] = tuple(names)
        return None if size - at > _SHORT else Sides(at, tuple(listed), *sides)

    def unknown_operator(
        self, block: Block, raw: bytes, begin: int, sides: Sides | None
    ) -> Operator:
        """Read an operator unlike those before.

        Args:
            block: where it stands.
            raw: its message.
            begin: where that lies.
            sides: what :meth:`sides` found.
        """
        end = begin + len(raw)
        self.reading.weigh("OpDesc", begin, end)
        desc = None
        if sides is not None:
            desc = read(_OPERATION, self.bytes, begin + sides.end, end)
        if desc is None or sides is None or desc.inputs or desc.outputs:
            desc = read(_OPERATION, self.bytes, begin, end)
            sides = self.sides_of(desc)
        attrs = desc.attrs
        key = desc.type, tuple([(attr.name, attr.type) for attr in attrs]), sides.listed
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = self.plan(key, begin)
        self.reading.charge(_OPERATOR + _SIDE * (bool(sides.inputs) + bool(sides.outputs)), begin)
        attributes, fields, apart, undeclared = self.attributes(plan, attrs, begin)
        op = self.made(block, plan, sides, attributes, fields)
        if apart:
            wires = {a.name: ATTRIBUTE_TYPE_OF.get(a.type, "") for a in attrs}
            wires = {name: wires[encode_text(name)] for name in undeclared}
            op.carried = plan.carried._replace(
                apart=apart, undeclared=undeclared, undeclared_wires=wires
            )
        if plan.unusual or not desc.usual or desc.has("is_target"):
            self.carry_operator(op, desc, raw, begin)
        elif plan.unusual is None:  # the first of its kind
            plan.unusual = raw != self.encoder.operator(op)
            if plan.unusual:
                self.carry_operator(op, desc, raw, begin)
        keeps = sides.end and op.carried is plan.carried and len(self.known) < _KEPT
        if keeps and self.reading.spares(900 + len(raw)):
            self.known[raw[sides.end :], sides.listed] = KnownOperator(plan, attributes, fields)
        return op

    def sides_of(self, desc: Any) -> Sides:
        """The slots and their variables, of a message."""
        text = self.text
        listed = []
        sides: list[dict[str, Names]] = []
        for tag, slots in ((_INPUTS, desc.inputs), (_OUTPUTS, desc.outputs)):
            names = {}
            for slot in slots:
                listed.append((tag, text(slot.parameter)))
                if slot.arguments:
                    names[listed[-1][1]] = tuple([text(name) for name in slot.arguments])
            sides.append(names)
        return Sides(0, tuple(listed), *sides)

    def carry_operator(self, op: Operator, desc: Any, raw: bytes, begin: int) -> None:
        """Keep of an operator's message what is not in the operator."""
        self.reading.charge(3 * len(raw) + 500, begin)
        parts = [(1, slot.parameter, slot) for slot in desc.inputs]
        parts += [(2, slot.parameter, slot) for slot in desc.outputs]
        parts += [(4, attr.name, attr) for attr in desc.attrs if attr.type in ATTRIBUTE_TYPE_OF]
        originals = {}
        for number, name, message in parts:
            if not message.usual:
                whole, known = write(message), write(message.stripped())
                if whole != known:
                    originals[number, self.text(name)] = Original(whole, known, message.rest)
        if desc.has("is_target"):
            op.is_target = desc.is_target
        op.carried = op.carried._replace(parts=originals)
        seen = self.encoder.operator(op)
        if raw != seen:
            op.carried = op.carried._replace(original=Original(raw, seen, desc.rest))

    def ordered(self, found: dict[str, Names], plan: OperatorLayout, side: str) -> dict[str, Names]:
        """Names by slot in the order of the definition."""
        if plan.definition is None:
            return found
        order = getattr(plan.definition, side)
        if found.keys() <= order.keys():
            return {slot: found[slot] for slot in order if slot in found} if found else found
        forward = plan.definition.derived_from
        known: set[str] = set()
        if forward is not None:  # what its gradient operator reads here is enough
            known = {*forward.input_slots, *forward.output_slots, *_SHAPES}
        for slot in found.keys() - order.keys() - known:
            what = f"the {side.removesuffix('_slots')} slot {slot!r} of {plan.op_type}"
            self.reading.ignored[what] = None
        return found

    def attributes(
        self, plan: OperatorLayout, attrs: Any, at: int
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, bytes], dict[str, Any]]:
        """The attributes of an operator, those that are fields of an operator here, and those that
        are unknown: their messages, and the values of those of a known type.
        """
        values: dict[str, Any] = {}
        fields: dict[str, Any] = {}
        apart: dict[str, bytes] = {}
        undeclared: dict[str, Any] = {}
        for attr, step in zip(attrs, plan.steps):
            if not step.wire:
                apart[step.name] = write(attr)
                self.reading.charge(200 + len(apart[step.name]), at)
                # an operator of the gradient has attributes of that which it is the gradient of
                roles = [attr.i for attr, step in zip(attrs, plan.steps) if step.name == "op_role"]
                if plan.definition is not None and not (roles and roles[0] & 1):
                    self.note_ignored(plan, step, attr)
                wire = ATTRIBUTE_TYPE_OF.get(attr.type, "")
                if wire and step.name not in FRAMEWORK_ATTRIBUTES and "BLOCK" not in wire:
                    undeclared[step.name] = self.reader(wire, True)(attr)
                continue
            told = step.known.get(attr)
            if told is None:
                told = self.value(plan, step, attr, at)
                if len(step.known) < _VALUES:
                    step.known[attr] = told
            value, is_default = told
            if step.framework:
                fields[_FIELDS[step.name]] = value
            elif not is_default:
                values[step.name] = value
        if len(values) > 1 and plan.order:
            values = {name: values[name] for name in plan.order if name in values}
        if values:
            self.reading.charge(150 + _ATTRIBUTE * len(values), at)
        return values, fields, apart, undeclared

    def value(
        self, plan: OperatorLayout, step: AttributeReader, attr: Any, at: int
    ) -> tuple[Any, bool]:
        """The value of an attribute, and whether it is the default, which is not kept."""
        value = step.read(attr)
        if step.framework:
            is_stack = step.name == "op_callstack"
            return self.reading.share(call_site(value)) if is_stack else value, False
        if step.convert:
            with contextlib.suppress(FluidError):  # else it can be printed, but not run
                value = step.declared.convert(value, plan.op_type)  # type: ignore[union-attr]
        if step.wire in ("BLOCK", "BLOCKS"):
            self.check_blocks(value, at)
        usual = step.declared.default if plan.order and step.declared is not None else REQUIRED
        return value, usual is not REQUIRED and not _differs(value, usual)

    def check_blocks(self, value: Any, at: int) -> None:
        for index in value if isinstance(value, tuple) else (value,):
            if not 0 <= index < self.reading.count:
                what = f"the index of one of {self.reading.count} blocks"
                self.bytes.fail(at, what, str(int(index)))

    def plan(self, key: Any, at: int) -> OperatorLayout:
        """How to read operators of a layout."""
        raw_type, attrs, listed_slots = key
        if not raw_type:
            self.bytes.fail(at, "an operator with a type", "one without")
        type_ = self.text(raw_type)
        if self.encoder.of_paddle2:
            type_ = TYPES.get(type_, type_)
        definition = find(type_)
        names = tuple([self.text(name) for name, _ in attrs])
        slots = [
            tuple([slot for at, slot in listed_slots if at == tag]) for tag in (_INPUTS, _OUTPUTS)
        ]
        for listed in slots:
            if len(set(listed)) != len(listed):
                twice = next(name for name in listed if listed.count(name) > 1)
                expected = f"slots of different names of operator {excerpt(type_)[1:-1]}"
                self.bytes.fail(at, expected, f"{excerpt(twice)} twice")
        steps = [
            self.step(name, number, definition)
            for name, (_, number) in zip(names, attrs, strict=True)
        ]
        stored = {s.name for s in steps if s.wire and not s.framework}
        bare = False
        order: tuple[str, ...] = ()
        if definition is not None:
            bare = stored != {a.name for a in definition.attributes.values() if not a.local}
            order = () if bare else tuple(n for n in definition.attributes if n in stored)
        wires = {step.name: step.wire for step in steps}
        defaults = (
            {} if definition is None else {n: a.default for n, a in definition.attributes.items()}
        )
        layout = PartOrder(slots[0], slots[1], wires, defaults)
        self.reading.charge(1200 + 250 * len(names), at)
        return OperatorLayout(
            type_, definition, layout, CarriedOperator(layout, {}), steps, bare, order
        )

    def step(self, name: str, number: int, definition: type[Op] | None) -> AttributeReader:
        """How to read one attribute."""
        wire = ATTRIBUTE_TYPE_OF.get(number, "")
        framework = name in FRAMEWORK_ATTRIBUTES
        declared = None if definition is None else definition.attributes.get(name)
        if framework and wire != FRAMEWORK_ATTRIBUTES[name]:
            framework, wire = False, ""
        elif declared is None and not framework and (definition or wire in _OF_PADDLE_2):
            wire = ""
        wrapped = declared is None and not framework
        convert = declared is not None and (declared.kind == "DType" or declared.wire != wire)
        read = self.reader(wire, wrapped)
        return AttributeReader(name, wire, read, declared, convert, framework, {})

    def reader(self, wire: str, wrapped: bool) -> Callable[[Any], Any]:
        """A function that takes a value out of the message of an attribute.

        Args:
            wire: its type.
            wrapped: whether the value itself has to tell that type.
        """
        field = ATTRIBUTE_TYPES[wire][1] if wire else ""
        text = self.text
        if wire in ("STRING", "VAR"):
            return lambda attr: text(getattr(attr, field))
        if wire == "SCALAR":
            return lambda attr: _scalar(attr.scalar)
        if wire == "SCALARS":
            return lambda attr: tuple([_scalar(each) for each in attr.scalars])
        if wire in ("STRINGS", "VARS") and not wrapped:
            return lambda attr: tuple([text(each) for each in getattr(attr, field)])
        if not wire.endswith("S"):
            make = _WRAPPED.get(wire) if wrapped else None
            if make is not None:
                return lambda attr: make(getattr(attr, field))
            return lambda attr: getattr(attr, field)
        if not wrapped:
            return lambda attr: tuple(getattr(attr, field))
        make_each = (
            text if wire in ("STRINGS", "VARS") else _WRAPPED.get(wire[:-1], lambda value: value)
        )

        def read_list(attr: Any) -> Any:
            return tuple([make_each(each) for each in getattr(attr, field)]) or EmptyList(wire)

        return read_list

    def note_ignored(self, plan: OperatorLayout, step: AttributeReader, attr: Any) -> None:
        """Note an attribute of a known operator that is unknown here, unless it is switched off."""
        wire = ATTRIBUTE_TYPE_OF.get(attr.type, "")
        if step.name in _KNOBS or _KNOBS_BEGIN.match(step.name):
            return
        if not wire or getattr(attr, ATTRIBUTE_TYPES[wire][1]):
            self.reading.ignored[f"the attribute {step.name!r} of {plan.op_type}"] = None


def _differs(value: Any, default: Any) -> bool:
    """Whether a value is not the default, or a zero of the other sign."""
    if value != default:
        return True
    return isinstance(value, float) and math.copysign(1, value) != math.copysign(1, default)


def _scalar(message: Any) -> bool | int | float | complex:
    """The number of a message."""
    if message.type == COMPLEX_SCALAR:
        return complex(message.c.r, message.c.i) if message.c else 0j
    value: bool | int | float = getattr(message, _SCALAR_FIELDS.get(message.type, "r"))
    return value
