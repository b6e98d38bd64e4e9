"""Names and values as the text format writes them, and the wire types that values imply.

An operator that is defined knows the types of its attributes.  Those of an unknown operator keep
theirs in the value: a ``bool`` is a BOOLEAN, an ``int`` of 32 bits an INT, a wider one and a
:class:`~fluidlite.opdef.attribute.Long` a LONG, a :class:`~fluidlite.opdef.attribute.BlockRef` a
BLOCK; a list is what its elements are, and a list of nothing an :class:`EmptyList`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..ground.dtypes import DType
from ..opdef.attribute import KINDS, BlockRef, Long

#: words that stand in front of a value whose wire type it does not show, and what they mean
TYPE_WORDS = {
    "block": "BLOCK",
    "blocks": "BLOCKS",
    "long": "LONG",
    "longs": "LONGS",
    "ints": "INTS",
    "floats": "FLOATS",
    "booleans": "BOOLEANS",
    "strings": "STRINGS",
}
#: a word in front of a list -> the annotation whose conversion it asks for
_LISTS = {
    "longs": "list[Long]",
    "ints": "list[int]",
    "floats": "list[float]",
    "booleans": "list[bool]",
    "strings": "list[str]",
    "blocks": "list[int]",
}
#: a word in front of a list -> what says in the values that it was there
_WRAPPED: dict[str, Callable[[int], int]] = {"longs": Long, "blocks": BlockRef}
#: the name of an element type -> the type
ELEMENT_TYPES = {member.plain: member for member in DType}
#: words that are values; a variable of such a name is written in quotes
WORDS = frozenset({"true", "false", "nan", "inf", *TYPE_WORDS, *ELEMENT_TYPES})

_PLAIN = re.compile(r"[A-Za-z_@/][A-Za-z0-9_.@/]*\Z")


def as_list(word: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of a list as attributes of its type keep them.

    Args:
        word: stands in front of the list, or would.
        values: numbers, truth values or strings.

    Raises:
        TypeError, ValueError, OverflowError: a value is of another type.
    """
    converted: tuple[Any, ...] = KINDS[_LISTS[word]][1](values)
    wrap = _WRAPPED.get(word)
    return tuple(map(wrap, converted)) if wrap else converted


class EmptyList(tuple[Any, ...]):
    """The value of an unknown operator's attribute that is a list of nothing.

    Args:
        wire: INTS, FLOATS, BOOLEANS, STRINGS, LONGS or BLOCKS.
    """

    wire: str

    def __new__(cls, wire: str) -> EmptyList:
        made = super().__new__(cls)
        made.wire = wire
        return made

    def __getnewargs__(self) -> tuple[str]:
        return (self.wire,)


def wire_type(value: Any) -> str:
    """The type in program files of a value whose attribute nobody declared."""
    if isinstance(value, (tuple, list)):
        if not value:
            return getattr(value, "wire", "INTS")
        found = {wire_type(each) for each in value}
        for element in ("LONG", "FLOAT"):
            if element in found:
                return element + "S"
        return wire_type(value[0]) + "S"
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, BlockRef):
        return "BLOCK"
    if isinstance(value, int):
        return "LONG" if isinstance(value, Long) or not -(2**31) <= value < 2**31 else "INT"
    return "FLOAT" if isinstance(value, float) else "STRING"


def name_text(name: str) -> str:
    """A variable's name; in backquotes where the bare name would be something else."""
    return _quoted(name) if name in WORDS else key_text(name)


def key_text(name: str) -> str:
    """The name of a slot or of an attribute; in backquotes where it has unusual characters."""
    return name if _PLAIN.match(name) else _quoted(name)


def names_text(names: Iterable[str], many: bool) -> str:
    """The variables in a slot; a single one has no brackets unless the slot takes ``many``."""
    listed = [name_text(name) for name in names]
    return listed[0] if len(listed) == 1 and not many else f"[{', '.join(listed)}]"


def string_text(value: str) -> str:
    """A text in double quotes."""
    return f'"{_escaped(value)}"'


def _quoted(name: str) -> str:
    return "`" + _escaped(name).replace("`", "\\u0060") + "`"


def _escaped(text: str) -> str:
    import json

    escaped = json.dumps(text, ensure_ascii=not text.isprintable())[1:-1]
    return escaped.replace("\x7f", "\\u007f")  # the only control character that JSON leaves


def unescaped(body: str) -> str:
    """What stands between quotes, as text.

    Raises:
        ValueError: an escape sequence is wrong.
    """
    import json

    return str(json.loads(f'"{body}"', strict=False))


def value_text(value: Any) -> str:
    """The value of an attribute whose type is known from elsewhere."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, DType):
        return value.plain
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(value_text, value))}]"
    return str(int(value))


def typed_text(value: Any) -> str:
    """The value of an attribute that nobody declared, its type in front where that is in doubt."""
    text = value_text(value)
    wire = wire_type(value)
    if isinstance(value, (tuple, list)):
        plain = [Long(n) if wire == "LONGS" else n for n in value]
        hidden = not value or wire == "BLOCKS" or (wire == "LONGS" and all(map(_is_short, plain)))
    else:
        hidden = wire == "BLOCK" or (wire == "LONG" and _is_short(value))
    return f"{wire.lower()} {text}" if hidden else text


def _is_short(value: int) -> bool:
    return -(2**31) <= value < 2**31


def float_text(value: float) -> str:
    """The shortest decimal that single precision reads back as ``value``.

    It always has a point or an e, or is inf or nan.
    """
    return repr(float(np.format_float_scientific(np.float32(value))))
