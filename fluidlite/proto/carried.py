"""What a program file says and a program has no field for.

It is attached to what it was said of, copied with it, and written again.  Records are shared:
operators of one type mostly have the same layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class PartOrder(NamedTuple):
    """In what order a file lists the parts of an operator."""

    inputs: tuple[str, ...]  #: slots without variables too
    outputs: tuple[str, ...]
    wires: dict[str, str]  #: attribute -> its wire type, "" for those kept apart
    defaults: dict[str, Any]  #: of those that are declared


class Original(NamedTuple):
    """A message whose bytes are not what would be written of what was read."""

    raw: bytes
    seen: bytes  #: what would be written; while it is, ``raw`` is written instead
    rest: bytes = b""  #: fields that are unknown here, which are written behind anything else

    def instead_of(self, made: bytes) -> bytes:
        """What is written where a message would be."""
        return self.raw if made == self.seen else made + self.rest


class CarriedOperator(NamedTuple):
    """What is said of an operator."""

    layout: PartOrder
    apart: dict[str, bytes]  #: attributes of a kind that is unknown here -> their messages
    original: Original | None = None
    #: (number of the field, name) of slots and attributes -> their messages
    parts: Mapping[tuple[int, str], Original] | None = None
    undeclared: Mapping[str, Any] = MappingProxyType({})  #: the values of those kept apart
    undeclared_wires: Mapping[str, str] = MappingProxyType({})  #: and their wire types


class CarriedVariable(NamedTuple):
    """Which fields of a variable a file gives, be it their default."""

    persistable: bool = True
    need_check_feed: bool = False
    lod_level: bool = True
    is_parameter: bool = False
    stop_gradient: bool = False
    original: Original | None = None
    message: Any = None  #: what the file says, where the variable has no field for all of it


class CarriedBlock(NamedTuple):
    """What is said of a block."""

    forward: bool = False  #: whether the file says that there is no forward block
    rest: bytes = b""


class CarriedProgram(NamedTuple):
    """What is said of a program."""

    version: bytes | None  #: the message
    compatible: bytes | None  #: which operators changed between versions: the message
    rest: bytes = b""
