"""The signature of an operator: ``"X, Y? -> Out, Mask!~"`` as slots."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import DefinitionError

_SLOT = re.compile(r"([A-Za-z_][A-Za-z_0-9]*(?:@[A-Z@]+)?(?:\.\d+)?)((?:\?|\*|!|~|\[\])*)\Z")


class Slot(NamedTuple):
    """One input or output of an operator."""

    name: str
    optional: bool = False  #: ``?``  may be absent
    many: bool = False  #: ``*``  holds a list of variables
    constant: bool = False  #: ``!``  no gradient flows through it
    hidden: bool = False  #: ``~``  an output that layers do not return
    ragged: bool = False  #: ``[]`` the kernel receives a LoDTensor, not a bare array

    def __str__(self) -> str:
        marks = zip(self[1:], ("?", "*", "!", "~", "[]"), strict=True)
        return self.name + "".join(mark for given, mark in marks if given)


class Signature(NamedTuple):
    """The slots of an operator, in order."""

    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.inputs))} -> {', '.join(map(str, self.outputs))}".strip()


def parse_signature(text: str) -> Signature:
    """Read a signature.

    Args:
        text: ``"inputs -> outputs"``, slots separated by commas, each with its marks.

    Raises:
        DefinitionError: the text is no signature, or names a slot twice on one side.

    >>> str(parse_signature("X*, Label! -> Out, Mask!~"))
    'X*, Label! -> Out, Mask!~'
    """
    sides = text.split("->")
    if len(sides) != 2:
        raise DefinitionError(f"expected 'inputs -> outputs', got {text!r}")
    inputs, outputs = (tuple(_slots(side, text)) for side in sides)
    for slots in (inputs, outputs):
        names = [slot.name for slot in slots]
        for name in names:
            if names.count(name) > 1:
                raise DefinitionError(f"slot {name} stands twice on one side of {text!r}")
    return Signature(inputs, outputs)


def _slots(side: str, text: str) -> list[Slot]:
    slots = []
    for part in filter(None, (piece.strip() for piece in side.split(","))):
        match = _SLOT.match(part)
        if match is None:
            raise DefinitionError(
                f"{part!r} in {text!r} is no slot: a name, then marks of ? * ! ~ []"
            )
        marks = match[2]
        slots.append(
            Slot(match[1], "?" in marks, "*" in marks, "!" in marks, "~" in marks, "[]" in marks)
        )
    return slots
