"""What a definition says only so that programs have the exact text of fluid 1.8's."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..errors import DefinitionError, suggestion
from .signature import Slot


@dataclass(frozen=True, slots=True)
class FluidForm:
    """How fluid 1.8 writes an operator, and the gradient operator of it, into programs.

    Most fields name slots.  A subclass of an operator has its base's value, or
    ``replace(Base.fluid, rows=())``.
    """

    #: the type of the gradient operator, where that is not ``<type>_grad``
    grad_type: str = ""
    #: the rule needs no values, and backward writes what it composes into the program
    direct: bool = False
    #: fluid declares the gradients of the inputs without sequences
    bare_gradients: bool = False
    #: inputs that hold numbers: truth values are refused before shapes are looked at
    numbers: tuple[str, ...] = ()
    #: inputs that may hold SelectedRows; elsewhere these are made whole first
    rows: tuple[str, ...] = ()
    #: inputs that are accepted and kept in the program, and that the kernel does not get
    unread: tuple[str, ...] = ()
    #: unread inputs that name what no program declares
    outside: tuple[str, ...] = ()
    #: outputs whose variable's value before the operator counts: an array that one element of is
    #: written, say.  The rule gives the cotangent of that value under the output's name.
    updates: tuple[str, ...] = ()
    #: the attribute, false by default, that says whether ``updates`` need a value before; without
    #: one they do
    updates_where: str = ""
    #: outputs that get no value: their variables stay as they are
    idle: tuple[str, ...] = ()
    #: slots that the gradient operator has, too, and does not read: fluid's kernel does.  The
    #: method ``carries`` says which of them, where attributes decide.
    carried: tuple[str, ...] = ()
    #: constant inputs that fluid's gradient operator counts anew, as if that were gradients; the
    #: method ``counts(self, f, ...)``, with parameters of the rule, gives them by slot
    counted: tuple[str, ...] = ()
    #: slots that fluid 1.8 does not have: paddle 2's, and our own
    newer: tuple[str, ...] = ()
    #: slots that the gradient operator here has, be it for their gradients, and fluid's does not
    only_here: tuple[str, ...] = ()
    #: fluid has no gradient of it, although its results change with its inputs: who differentiates
    #: is warned
    lacks_gradient: bool = False
    #: outputs that fluid's gradient operator has, and that nothing needs
    unmade: tuple[str, ...] = ()

    def listed(self, slots: Iterable[Slot], of_inputs: bool) -> list[str]:
        """The slots that fluid lists where nothing stands in them, too: all but outputs that may be
        absent, and gradients that flow to outputs.

        Args:
            slots: those of one side of the operator.
            of_inputs: whether these are its inputs.
        """
        return [
            slot.name
            for slot in slots
            if slot.name not in self.newer
            and not (slot.optional and ("@GRAD" in slot.name) == of_inputs)
        ]

    def check(self, type: str, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        """Refuse names of slots that an operator does not have.

        Args:
            type: the operator's.
            inputs: the names of its input slots.
            outputs: those of its output slots.

        Raises:
            DefinitionError: a field is no tuple of names, or holds one that is no such slot.
        """
        of_outputs = {"updates", "idle"}
        for name in _SLOT_FIELDS:
            slots = getattr(self, name)
            if not isinstance(slots, tuple):
                raise DefinitionError(
                    f"{type}: FluidForm({name}=...) expects a tuple of slots, got {slots!r}"
                )
            known = {*(outputs if name in of_outputs else inputs)}
            known.update(outputs if name in ("carried", "newer", "only_here") else ())
            for slot in slots:
                if slot not in known:
                    raise DefinitionError(
                        f"{type}: FluidForm({name}=...) has {slot!r}, which is no such slot of it"
                        f"{suggestion(slot, known)}"
                    )


_FIELDS = frozenset(field.name for field in fields(FluidForm))
#: the fields that name slots of the operator itself
_SLOT_FIELDS = sorted(
    _FIELDS - {"grad_type", "direct", "bare_gradients", "unmade", "updates_where", "lacks_gradient"}
)


def refuse_loose_fields(type: str, body: Mapping[str, Any], attributes: Container[str]) -> None:
    """Refuse a definition that has a field of its form beside it, where nothing reads it.

    Args:
        type: the operator's.
        body: what its class says: name -> value.
        attributes: the names of its attributes, which may be called like a field.

    Raises:
        DefinitionError: names the field.
    """
    for name in _FIELDS.intersection(body):
        if name not in attributes and not callable(body[name]):
            raise DefinitionError(
                f"{type}: {name} is a field of its FluidForm: write "
                f"fluid = FluidForm({name}={body[name]!r})"
            )
