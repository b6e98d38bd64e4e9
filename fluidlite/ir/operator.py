"""Operators: a type, names by slot, and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntFlag
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..errors import AttributeValueError, FluidError, SlotError, suggestion, with_text
from ..errors import with_context as _with_context
from ..ground.callsite import CallSite, call_site
from ..opdef.definition import Op, defined, find, lookup
from ..opdef.spec import Spec
from .attribute_types import AttrType
from .descriptions import OpDesc
from .display_hooks import VIEWS
from .fluid_names import OldOperator
from .foreign import OWN, ForeignAttributes, Mark, has_effect, mark_of, with_mark
from .literal import wire_type
from .message_text import ProgramTexts, operator_message, texts
from .operator_arguments import Names, by_number, undeclared_value
from .readable_text import readable_operator
from .text import operator_text

if TYPE_CHECKING:
    from .block import Block
    from .variable import Variable

EMPTY = "@EMPTY@"  #: keeps a position inside a list slot where there is no variable


class OpRole(IntFlag):
    """What an operator is for; the bits of the attribute ``op_role``."""

    FORWARD = 0
    BACKWARD = 1
    OPTIMIZE = 2
    RPC = 4
    DIST = 8
    LRSCHED = 16
    LOSS = 256


#: attributes in programs that are fields here
FRAMEWORK_ATTRIBUTES = {
    "op_role": "INT",
    "op_role_var": "STRINGS",
    "op_namescope": "STRING",
    "op_callstack": "STRINGS",
    "op_device": "STRING",
}


class Operator(OldOperator):
    """One operator of a block.  Made by :meth:`Block.append_op`."""

    __slots__ = (
        "__dict__",  # scripts keep notes there
        "__weakref__",
        "_attrs",
        "_inputs",
        "_outputs",
        "block",
        "callsite",
        "is_unsettled",
        "carried",
        "device",
        "foreign",
        "lists_given_attrs",
        "namescope",
        "role",
        "role_vars",
        "type",
    )

    #: whether pruning keeps the operator; None while nobody has said
    is_target: bool | None = None

    def __init__(
        self,
        block: Block,
        type: str,
        inputs: dict[str, Names],
        outputs: dict[str, Names],
        attrs: dict[str, Any],
        *,
        role: int = OpRole.FORWARD,
        role_vars: Names = (),
        namescope: str = "/",
        device: str = "",
        callsite: CallSite | None = None,
        lists_given_attrs: bool = False,
        foreign: Mark = OWN,
    ) -> None:
        self.block: Block = block
        self.type: str = type
        self._inputs = inputs
        self._outputs = outputs
        self._attrs = attrs
        self.role: int = role
        self.role_vars: Names | tuple[Any, ...] = role_vars
        self.namescope: Any = namescope
        self.device: Any = device
        self.callsite: CallSite | None = callsite
        #: whether each run asks whether it takes what it is given: what is declared does not fit
        self.is_unsettled: bool = False
        #: ``attr_names`` holds only what was given: so do the operators that backward writes itself
        #: in fluid's programs
        self.lists_given_attrs: bool = lists_given_attrs
        #: what a program file says of it that has no field here; ``proto/`` keeps it
        self.carried: Any = None
        #: the kinds of effects that it may not have, since it came from a file
        self.foreign: Mark = foreign

    @property
    def definition(self) -> type[Op] | None:
        """The definition; None when nobody defined the type."""
        return defined(self.type) or find(self.type)

    def instance(self) -> Op:
        """The definition with this operator's attributes, but for those that it does not have.

        Raises:
            UnknownOperatorError: nobody defined the type.
        """
        definition = lookup(self.type)
        attrs = self._attrs
        if attrs and not attrs.keys() <= definition.attributes.keys():
            attrs = {n: value for n, value in attrs.items() if n in definition.attributes}
        made = definition(attrs)
        if made.sees_outputs:
            made.output_widths = {slot: len(names) for slot, names in self._outputs.items()}
        return made

    @property
    def inputs(self) -> Mapping[str, Names]:
        """Names by input slot; empty slots are left out.  Change them by ``rename_input``."""
        return self._inputs

    @property
    def outputs(self) -> Mapping[str, Names]:
        """Names by output slot; empty slots are left out.  Change them by ``rename_output``."""
        return self._outputs

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The attributes that do not have their default.  Change them by ``set_attr``."""
        if not self.foreign:
            return self._attrs
        definition = self.definition
        if definition is None or not has_effect(definition):
            return self._attrs
        return ForeignAttributes(definition, self._attrs, self.foreign)

    @property
    def input_names(self) -> list[str]:
        """The input slots, in the alphabet's order."""
        return sorted(self._slot_names(self._inputs, "inputs"))

    @property
    def output_names(self) -> list[str]:
        """The output slots, in the alphabet's order."""
        return sorted(self._slot_names(self._outputs, "outputs"))

    def _slot_names(self, given: dict[str, Names], side: str) -> list[str]:
        definition, layout = self.definition, getattr(self.carried, "layout", None)
        slots = () if definition is None else getattr(definition, side)
        if layout is not None:  # a file tells them, those of paddle 2 by other names here and there
            known = {slot.name for slot in slots}
            listed = [n for n in getattr(layout, side) if definition is None or n in known]
        elif self.lists_given_attrs or definition is None:
            listed = []
        else:
            listed = definition.fluid.listed(slots, side == "inputs")
        return [*listed, *(name for name in given if name not in listed)]

    def input(self, name: str) -> list[str]:
        """The variables in an input slot."""
        return self._slot(name, self._inputs, "input")

    def output(self, name: str) -> list[str]:
        """The variables in an output slot."""
        return self._slot(name, self._outputs, "output")

    def _slot(self, name: str, given: dict[str, Names], side: str) -> list[str]:
        found = given.get(name)
        if found is not None:
            return list(found)
        definition = self.definition
        slots = list(given) if definition is None else list(getattr(definition, f"{side}_slots"))
        if name not in slots:
            raise SlotError(f"{self.type} has no {side} slot {name!r}{suggestion(name, slots)}")
        return []

    def operands(self, value_of: Callable[[str], Any]) -> dict[str, Any]:
        """What stands in the input slots, as methods of the definition take it: a list in a list
        slot.

        Slots of a file that the definition lacks are left out: the operator runs without them.

        Args:
            value_of: gives the value of a variable by its name.
        """
        takes, operands = lookup(self.type).input_slots, dict[str, Any]()
        for slot, names in self._inputs.items():
            if slot in takes:
                values = [None if name == EMPTY else value_of(name) for name in names]
                operands[slot] = values if takes[slot].many else values[0]
        return operands

    @property
    def input_arg_names(self) -> list[str]:
        """All variables read, slot by slot in the alphabet's order, as fluid has it."""
        return _in_order(self._inputs)

    @property
    def output_arg_names(self) -> list[str]:
        """All variables written, slot by slot in the alphabet's order, as fluid has it."""
        return _in_order(self._outputs)

    @property
    def first_output(self) -> str:
        """The first variable written, in the order in which the operator was given its slots; ""
        where it writes none.  What an operator draws, and how messages call it, goes by that name.
        """
        return next(chain.from_iterable(self._outputs.values()), "")

    def reads(self, name: str) -> bool:
        """Whether the operator reads a variable."""
        return any(name in names for names in self._inputs.values())

    def writes(self, name: str) -> bool:
        """Whether the operator writes a variable."""
        return any(name in names for names in self._outputs.values())

    @property
    def attr_names(self) -> list[str]:
        """The attributes, those of the framework included."""
        definition = self.definition
        if definition is None or self.lists_given_attrs:
            names = list(self._attrs)
        else:
            names = [
                a.name
                for a in definition.attributes.values()
                if not a.local or a.name in self._attrs
            ]
            names += [name for name in self._attrs if name not in definition.attributes]
        names += [name for name in self._undeclared if name not in self._attrs]
        return names + list(FRAMEWORK_ATTRIBUTES)

    @property
    def _undeclared(self) -> Mapping[str, Any]:
        """The attributes that a program file gives, and the definition does not have."""
        found: Mapping[str, Any] = getattr(self.carried, "undeclared", {})
        return found

    def has_attr(self, name: str) -> bool:
        """Whether the operator has an attribute."""
        return name in self.attr_names

    def attr(self, name: str) -> Any:
        """The value of an attribute, its default where none was given; a block for an attribute
        that names one.

        Raises:
            AttributeValueError: there is no such attribute.
        """
        value = self._value(name)
        return (
            with_mark(value, self.foreign)
            if self.foreign and has_effect(self.definition)
            else value
        )

    def _value(self, name: str) -> Any:
        if name in FRAMEWORK_ATTRIBUTES:
            return self._framework_attr(name)
        definition = self.definition
        declared = None if definition is None else definition.attributes.get(name)
        if name in self._attrs:
            value = self._attrs[name]
        elif declared is not None:
            value = declared.default
        elif name in self._undeclared:
            value = self._undeclared[name]
        else:
            raise AttributeValueError(
                f"{self.type} has no attribute {name!r}{suggestion(name, self.attr_names)}"
            )
        if declared is not None and declared.kind == "BlockRef":
            return self.block.program.block(value)
        return list(value) if isinstance(value, tuple) else value

    def _framework_attr(self, name: str) -> Any:
        if name == "op_role":
            return int(self.role)
        if name == "op_role_var":
            return list(self.role_vars)
        if name == "op_namescope":
            return self.namescope
        if name == "op_device":
            return self.device
        return [] if self.callsite is None else list(self.callsite.frames)

    def all_attrs(self) -> dict[str, Any]:
        """All attributes with their values."""
        return {name: self.attr(name) for name in self.attr_names}

    def attr_type(self, name: str) -> AttrType:
        """The type of an attribute.

        Raises:
            AttributeValueError: there is no such attribute.
        """
        return AttrType.of_wire(self.attr_wire(name))

    def attr_wire(self, name: str) -> str:
        """The name that the type of an attribute has in program files: INT, BOOLEANS, ..."""
        if name in FRAMEWORK_ATTRIBUTES:
            return FRAMEWORK_ATTRIBUTES[name]
        definition = self.definition
        if definition is not None and name in definition.attributes:
            return definition.attributes[name].wire
        if name in self._undeclared and name not in self._attrs:
            wires: Mapping[str, str] = self.carried.undeclared_wires
            return wires[name]
        value = self._attrs.get(name)
        if value is None:
            raise AttributeValueError(
                f"{self.type} has no attribute {name!r}{suggestion(name, self.attr_names)}"
            )
        return wire_type(value)

    def set_attr(self, name: str, value: Any) -> None:
        """Change an attribute.

        Raises:
            AttributeValueError: there is no such attribute, or the value is of another type.
        """
        if name in FRAMEWORK_ATTRIBUTES:
            self._set_framework_attr(name, value)
        else:
            definition, value = lookup(self.type), by_number(value)
            own = {name: value, **self._own_attrs(definition, name)}
            is_partial = not own.keys() >= set(definition.required_attributes)  # more is to come
            if is_partial and name in definition.attributes:
                values = {**own, name: definition.attributes[name].convert(value, self.type)}
            else:
                values = definition(own).attr_values()
            self.foreign |= mark_of(value)
            if self.lists_given_attrs:
                value = definition.attributes[name].convert(value, self.type)
                self._attrs = {**self._attrs, name: value}
            else:
                more = {n: v for n, v in self._attrs.items() if n not in definition.attributes}
                self._attrs = {**values, **more}
        self.block.program.touch()

    def _own_attrs(self, definition: type[Op], name: str) -> dict[str, Any]:
        """The attributes that the definition has, but for one."""
        known = definition.attributes
        return {n: value for n, value in self._attrs.items() if n in known and n != name}

    def mark(self, name: str, value: Any) -> None:
        """Set an attribute, be it one that the operator does not have: nothing reads that, but it
        is kept, printed and written to files.

        Raises:
            AttributeValueError: the value is of a type that no attribute has.
        """
        definition = self.definition
        known = definition is not None and name in definition.attributes
        if known or name in FRAMEWORK_ATTRIBUTES:
            self.set_attr(name, value)
        else:
            self.replace_attr(name, undeclared_value(self.type, name, value))

    def unmark(self, name: str) -> None:
        """Take an attribute out: one that the operator has gets its default."""
        if name in self._attrs:
            self._attrs = {n: value for n, value in self._attrs.items() if n != name}
            self.block.program.touch()

    def replace_attr(self, name: str, value: Any) -> None:
        """Put another value in place of that of an attribute, whose operator nobody need have
        defined.
        """
        self._attrs = {**self._attrs, name: value}
        self.foreign |= mark_of(value)
        self.block.program.touch()

    def _set_framework_attr(self, name: str, value: Any) -> None:
        if name == "op_role":
            self.role = int(value)
        elif name == "op_role_var":
            self.role_vars = tuple(value)
        elif name == "op_namescope":
            self.namescope = value
        elif name == "op_device":
            self.device = value
        else:
            self.callsite = call_site(tuple(value)) if value else None

    def set_target(self, is_target: bool) -> None:
        """Say whether pruning keeps the operator: program files hold it."""
        self.is_target = is_target
        self.block.program.touch()

    def rename_input(self, old: str, new: str) -> None:
        """Read ``new`` wherever ``old`` was read."""
        self._inputs = _renamed(self._inputs, old, new)
        self.block.program.touch()

    def rename_output(self, old: str, new: str) -> None:
        """Write ``new`` wherever ``old`` was written."""
        self._outputs = _renamed(self._outputs, old, new)
        self.block.program.touch()

    def set_input(self, slot: str, *names: str) -> None:
        """Read other variables in an input slot; none to leave it empty.

        A slot that the operator does not have is kept, as fluid keeps it, and not read.
        """
        self._inputs = self._with_slot("input", self._inputs, slot, names)
        self.block.program.touch()

    def set_output(self, slot: str, *names: str) -> None:
        """Write other variables in an output slot; none to leave it empty.

        A slot that the operator does not have is kept, as fluid keeps it, and not written.
        """
        self._outputs = self._with_slot("output", self._outputs, slot, names)
        self.block.program.touch()

    def _with_slot(
        self, side: str, given: dict[str, Names], slot: str, names: Names
    ) -> dict[str, Names]:
        definition = self.definition
        slots = () if definition is None else getattr(definition, f"{side}_slots")
        made = {**given, slot: names}
        return {name: made[name] for name in dict.fromkeys([*slots, *made]) if made.get(name)}

    def take(self, other: Operator) -> None:
        """Become like another operator, at this place."""
        for name in (
            "type",
            "role",
            "role_vars",
            "namescope",
            "device",
            "callsite",
            "is_unsettled",
            "carried",
            "foreign",
            "is_target",
        ):
            setattr(self, name, getattr(other, name))
        self.lists_given_attrs = other.lists_given_attrs
        self._inputs, self._outputs = dict(other.inputs), dict(other.outputs)
        self._attrs = dict(other.attrs)
        self.block.program.touch()

    def rename(self, names: Mapping[str, str]) -> None:
        """Read and write other variables in place of those that ``names`` lists."""
        new = names.get
        self._inputs = {s: tuple(map(new, v, v)) for s, v in self._inputs.items()}
        self._outputs = {s: tuple(map(new, v, v)) for s, v in self._outputs.items()}
        self.block.program.touch()

    def of_template(self, block: Block, names: Mapping[str, str], marks: Operator) -> Operator:
        """An operator of another block that does the same with other variables, and shares the
        attributes.

        Args:
            block: is to hold it.
            names: name here -> name there; others stay.
            marks: the operator whose role, line and the like it has.
        """
        new = names.get
        return Operator(
            block,
            self.type,
            {s: tuple(map(new, v, v)) for s, v in self._inputs.items()},
            {s: tuple(map(new, v, v)) for s, v in self._outputs.items()},
            self._attrs,
            role=marks.role,
            role_vars=marks.role_vars,
            namescope=marks.namescope,
            device=marks.device,
            callsite=marks.callsite,
            lists_given_attrs=self.lists_given_attrs,
            foreign=self.foreign,
        )

    @property
    def idx(self) -> int:
        """The position in the block."""
        return next(i for i, op in enumerate(self.block.ops) if op is self)

    @property
    def desc(self) -> OpDesc:
        """What callbacks and old scripts call the operator's description."""
        return OpDesc(self)

    def find_var(self, name: str) -> Variable | None:
        """The variable of that name as the operator sees it."""
        return self.block.find_var_recursive(name)

    def __str__(self) -> str:
        return (
            readable_operator(self) if texts.get() is ProgramTexts.READABLE else operator_text(self)
        )

    def to_string(self, throw_on_error: bool = True) -> str:
        """The operator in one line; under the alias the text of its message, as in fluid 1.8."""
        return operator_text(self) if texts.get() is ProgramTexts.OWN else operator_message(self)

    def __repr__(self) -> str:
        if texts.get() is ProgramTexts.READABLE:
            return readable_operator(self)
        where = f" at {self.callsite}" if self.callsite else ""
        return f"<Operator {operator_text(self)}{where}>"

    def _repr_html_(self) -> str:
        return VIEWS.get().html(self)


def _in_order(slots: dict[str, Names]) -> list[str]:
    if len(slots) == 1:
        return list(*slots.values())
    if len(slots) == 2:
        first, second = slots
        if second < first:
            first, second = second, first
        return [*slots[first], *slots[second]]
    return [name for slot in sorted(slots) for name in slots[slot]]


def _renamed(slots: dict[str, Names], old: str, new: str) -> dict[str, Names]:
    return {slot: tuple(new if n == old else n for n in names) for slot, names in slots.items()}


def located(
    error: FluidError, op: Operator, specs: Iterable[tuple[str, Spec | None]], when: str = "built"
) -> FluidError:
    """An error with the operator, what it reads, and the user's line.

    Args:
        error: what the definition or the kernel raised.
        op: the operator.
        specs: pairs of a variable's name and what is known about its value.
        when: what happened at the operator's call site.
    """
    known = ", ".join(f"{name} {spec}" for name, spec in specs if spec is not None)
    lines = [f"  {operator_text(op)}"]
    if known:
        lines.append(f"  {known}")
    if op.callsite is not None:
        lines.append(f"  {when} at {op.callsite}")
    text = str(error)
    prefix = "" if text.startswith(op.type) else f"{op.type}: "
    return _with_context(with_text(error, prefix + text), "\n".join(lines))
