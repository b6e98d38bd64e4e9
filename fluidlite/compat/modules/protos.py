"""``fluid.proto.framework_pb2``: the numbers of types in program files."""

from __future__ import annotations

from enum import IntEnum

from ...core import VarType as VarType


class AttrType(IntEnum):
    """The types of attributes in files."""

    INT = 0
    FLOAT = 1
    STRING = 2
    INTS = 3
    FLOATS = 4
    STRINGS = 5
    BOOLEAN = 6
    BOOLEANS = 7
    BLOCK = 8
    LONG = 9
    BLOCKS = 10
    LONGS = 11
