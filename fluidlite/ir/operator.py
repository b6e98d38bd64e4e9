"""Operators: a type, names by slot, and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntFlag
from typing import TYPE_CHECKING, Any

from ..errors import (
    AttributeValueError,
    FluidError,
    SlotError,
    suggestion,
)
from ..errors import with_context as _with_context
from ..opdef.definition import Op, find, lookup
from ..opdef.spec import Spec
from .callsite import CallSite
from .literal import wire_type
from .text import operator_text
from .views import views

if TYPE_CHECKING:
    from .block import Block
    from .variable import Variable

EMPTY = "@EMPTY@"  #: keeps a position inside a list slot where there is no variable
Names = tuple[str, ...]


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


class Operator:
    """One operator of a block.  Made by :meth:`Block.append_op`."""

    __slots__ = (
        "__weakref__",
        "_attrs",
        "_inputs",
        "_outputs",
        "block",
        "callsite",
        "carried",
        "device",
        "lists_given_attrs",
        "namescope",
        "role",
        "role_vars",
        "type",
    )

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
    ) -> None:
        self.block = block
        self.type = type
        self._inputs = inputs
        self._outputs = outputs
        self._attrs = attrs
        self.role = role
        self.role_vars = role_vars
        self.namescope = namescope
        self.device = device
        self.callsite = callsite
        #: ``attr_names`` holds only what was given: so do the operators that backward writes itself
        #: in fluid's programs
        self.lists_given_attrs = lists_given_attrs
        #: what a program file says of it that has no field here; ``proto/`` keeps it
        self.carried: Any = None

    @property
    def definition(self) -> type[Op] | None:
        """The definition; None when nobody defined the type."""
        return find(self.type)

    def instance(self) -> Op:
        """The definition with this operator's attributes.

        Raises:
            UnknownOperatorError: nobody defined the type.
        """
        made = lookup(self.type)(self._attrs)
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
        return self._attrs

    @property
    def input_names(self) -> list[str]:
        """The input slots."""
        return self._slot_names(self._inputs, "inputs")

    @property
    def output_names(self) -> list[str]:
        """The output slots."""
        return self._slot_names(self._outputs, "outputs")

    def _slot_names(self, given: dict[str, Names], side: str) -> list[str]:
        definition = self.definition
        if definition is None:
            return list(given)
        slots = getattr(definition, side)
        if definition.derived_from is not None and side == "inputs":
            # cotangents that appear from the second order on are no slots of a first-order program
            return [
                s.name for s in slots if s.name in given or not (s.optional and "@GRAD" in s.name)
            ]
        return [s.name for s in slots]

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

    @property
    def input_arg_names(self) -> list[str]:
        """All variables read, slot by slot."""
        return [name for names in self._inputs.values() for name in names]

    @property
    def output_arg_names(self) -> list[str]:
        """All variables written, slot by slot."""
        return [name for names in self._outputs.values() for name in names]

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
        return names + list(FRAMEWORK_ATTRIBUTES)

    def has_attr(self, name: str) -> bool:
        """Whether the operator has an attribute."""
        return name in self.attr_names

    def attr(self, name: str) -> Any:
        """The value of an attribute, its default where none was given; a block for an attribute
        that names one.

        Raises:
            AttributeValueError: there is no such attribute.
        """
        if name in FRAMEWORK_ATTRIBUTES:
            return self._framework_attr(name)
        definition = self.definition
        declared = None if definition is None else definition.attributes.get(name)
        if name in self._attrs:
            value = self._attrs[name]
        elif declared is not None:
            value = declared.default
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
        if self.callsite is None:
            return []
        return list(self.callsite.stack) or [str(self.callsite)]

    def all_attrs(self) -> dict[str, Any]:
        """All attributes with their values."""
        return {name: self.attr(name) for name in self.attr_names}

    def attr_type(self, name: str) -> str:
        """The wire type of an attribute: INT, FLOATS, BLOCK, ..."""
        if name in FRAMEWORK_ATTRIBUTES:
            return FRAMEWORK_ATTRIBUTES[name]
        definition = self.definition
        if definition is not None and name in definition.attributes:
            return definition.attributes[name].wire
        if name not in self._attrs:
            raise AttributeValueError(
                f"{self.type} has no attribute {name!r}{suggestion(name, self.attr_names)}"
            )
        return wire_type(self._attrs[name])

    def set_attr(self, name: str, value: Any) -> None:
        """Change an attribute.

        Raises:
            AttributeValueError: there is no such attribute, or the value is of another type.
        """
        if name in FRAMEWORK_ATTRIBUTES:
            self._set_framework_attr(name, value)
        else:
            definition = lookup(self.type)
            instance = definition({**self._attrs, name: value})
            if self.lists_given_attrs:
                value = definition.attributes[name].convert(value, self.type)
                self._attrs = {**self._attrs, name: value}
            else:
                self._attrs = instance.attr_values()
        self.block.program.touch()

    def replace_attr(self, name: str, value: Any) -> None:
        """Put another value in the place of that of an attribute, whose operator nobody need have
        defined.
        """
        self._attrs = {**self._attrs, name: value}
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
            raise AttributeValueError(f"{name} cannot be set: it is where the operator was made")

    def rename_input(self, old: str, new: str) -> None:
        """Read ``new`` wherever ``old`` was read."""
        self._inputs = _renamed(self._inputs, old, new)
        self.block.program.touch()

    def rename_output(self, old: str, new: str) -> None:
        """Write ``new`` wherever ``old`` was written."""
        self._outputs = _renamed(self._outputs, old, new)
        self.block.program.touch()

    def set_input(self, slot: str, *names: str) -> None:
        """Read other variables in an input slot.

        Raises:
            SlotError: the operator has no such slot.
        """
        definition = lookup(self.type)
        if slot not in definition.input_slots:
            raise SlotError(f"{self.type} has no input slot {slot!r}")
        given = {**self._inputs, slot: names}
        self._inputs = {name: given[name] for name in definition.input_slots if name in given}
        self.block.program.touch()

    def rename(self, names: Mapping[str, str]) -> None:
        """Read and write other variables in place of those that ``names`` lists."""
        self._inputs = {s: tuple(names.get(n, n) for n in v) for s, v in self._inputs.items()}
        self._outputs = {s: tuple(names.get(n, n) for n in v) for s, v in self._outputs.items()}
        self.block.program.touch()

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
        return operator_text(self)

    def to_string(self, throw_on_error: bool = True) -> str:
        """The operator in one line."""
        return operator_text(self)

    def __repr__(self) -> str:
        where = f" at {self.callsite}" if self.callsite else ""
        return f"<Operator {operator_text(self)}{where}>"

    def _repr_html_(self) -> str:
        return views().html(self)


class OpDesc:
    """An operator under the method names of fluid's descriptions."""

    __slots__ = ("_op",)

    def __init__(self, op: Operator) -> None:
        self._op = op

    def type(self) -> str:
        """The operator's type."""
        return self._op.type

    def input_names(self) -> list[str]:
        """The input slots."""
        return self._op.input_names

    def output_names(self) -> list[str]:
        """The output slots."""
        return self._op.output_names

    def input(self, name: str) -> list[str]:
        """The variables in an input slot."""
        return self._op.input(name)

    def output(self, name: str) -> list[str]:
        """The variables in an output slot."""
        return self._op.output(name)

    def input_arg_names(self) -> list[str]:
        """All variables read."""
        return self._op.input_arg_names

    def output_arg_names(self) -> list[str]:
        """All variables written."""
        return self._op.output_arg_names

    def attr_names(self) -> list[str]:
        """The attributes."""
        return self._op.attr_names

    def has_attr(self, name: str) -> bool:
        """Whether there is an attribute."""
        return self._op.has_attr(name)

    def attr(self, name: str) -> Any:
        """The value of an attribute."""
        return self._op.attr(name)

    def attr_type(self, name: str) -> str:
        """The wire type of an attribute."""
        return self._op.attr_type(name)


def _renamed(slots: dict[str, Names], old: str, new: str) -> dict[str, Names]:
    return {slot: tuple(new if n == old else n for n in names) for slot, names in slots.items()}


def names_by_slot(
    definition: type[Op], given: Mapping[str, Any] | None, side: str
) -> dict[str, Names]:
    """What a caller put into the slots of one side, as names, checked against the definition.

    Args:
        definition: of the operator.
        given: slot -> variable, name, or a list of them; None and empty lists count as absent.
        side: "input" or "output".

    Raises:
        SlotError: a slot is unknown, missing, or holds the wrong number of variables.
    """
    inputs = side == "input"
    slots = definition.input_slots if inputs else definition.output_slots
    found: dict[str, Names] = {}
    for slot, values in (given or {}).items():
        declared = slots.get(slot)
        if declared is None:
            raise SlotError(
                f"{definition.type} has no {side} slot {slot!r}{suggestion(slot, slots)}; it has "
                f"{', '.join(slots) or 'none'}"
            )
        names = _names(values, definition.type, slot)
        if len(names) > 1 and not declared.many:
            raise SlotError(
                f"{side} slot {slot} of {definition.type} takes one variable, got {len(names)}: "
                f"{', '.join(names)}"
            )
        if names:
            found[slot] = names
    for name in definition.required_inputs if inputs else definition.required_outputs:
        if name not in found:
            raise SlotError(f"{definition.type} needs a variable in its {side} slot {name}")
    return found if len(found) < 2 else {name: found[name] for name in slots if name in found}


def _names(values: Any, type: str, slot: str) -> Names:
    only = getattr(values, "name", None)  # one variable, in most cases
    if only.__class__ is str:
        return (only,)
    if values is None:
        return ()
    if not isinstance(values, (list, tuple)):
        values = (values,)
    names = tuple([v if isinstance(v, str) else getattr(v, "name", None) for v in values])
    for value, name in zip(values, names):
        if not isinstance(name, str):
            raise SlotError(
                f"slot {slot} of {type} takes variables or their names, got {value!r:.60} of type "
                f"{value.__class__.__name__}"
            )
    return names  # type: ignore[return-value]


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
    return _with_context(type(error)(prefix + text), "\n".join(lines))
