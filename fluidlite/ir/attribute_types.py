"""The types of attributes, as operators and program files have them."""

from __future__ import annotations

from enum import Enum

from ..ground import state


class AttrType(Enum):
    """The type of an attribute.  ``int(member)`` is the number in program files; a member equals
    that number.

    >>> x = fluid.data("x", [2])
    >>> kind = fluid.layers.scale(x, 2.0).op.attr_type("scale")
    >>> kind, int(kind), kind == fluid.core.AttrType.FLOAT
    (AttrType.FLOAT, 1, True)
    """

    INT = 0
    INTS = 3
    LONG = 9
    LONGS = 11
    FLOAT = 1
    FLOATS = 4
    FLOAT64 = 15
    FLOAT64S = 12
    STRING = 2
    STRINGS = 5
    BOOL = 6
    BOOLS = 7
    BLOCK = 8
    BLOCKS = 10
    VAR = 13
    VARS = 14
    SCALAR = 16
    SCALARS = 17

    @classmethod
    def of_wire(cls, wire: str) -> AttrType:
        """The type of that name in program files, where truth values are BOOLEAN and BOOLEANS."""
        return cls[wire.replace("BOOLEAN", "BOOL")]

    def __int__(self) -> int:
        return int(self.value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float)):
            return bool(self.value == other)
        return self is other

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return f"AttrType.{self.name}"

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>" if state.as_paddle_2.get() else str(self)
