"""What operations are given: names of variables, numbers, and lists of both."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

from ...ground.dtypes import DType
from ...ir.block import Block

_MOST = 1024  #: copies of one number that an attribute is made of


class HeldNumbers:
    """Numbers that a program holds; a variable only where an operator asks for one.

    Args:
        block: where they are declared.
        values: one number for all, or as many as the shape has.
        shape: sizes.
        dtype: the element type.
        name: of the variable, where there is to be one.
    """

    def __init__(
        self, block: Block, values: Any, shape: Sequence[int], dtype: DType, name: str
    ) -> None:
        self.block = block
        self.values = values
        self.shape = tuple(shape)
        self.dtype = dtype
        self.name = name
        self._declared = False

    def numbers(self) -> list[Any] | None:
        """All elements in a row; None where a file says more of them than it holds."""
        if isinstance(self.values, list):
            return self.values
        count = prod(self.shape)
        return [self.values] * count if count <= _MOST else None

    def variable(self) -> str:
        """The name of a variable that has them, declared at its first use."""
        if not self._declared:
            self._declared = True
            self.block.create_var(name=self.name, shape=self.shape, dtype=self.dtype)
            attrs = {"shape": list(self.shape), "dtype": self.dtype}
            if isinstance(self.values, list):
                self.block.append_op(
                    "assign_value", outputs={"Out": [self.name]}, attrs={**attrs, **self._stored()}
                )
            else:
                value = float(self.values)
                text = {} if value == self.values else {"str_value": str(self.values)}
                self.block.append_op(
                    "fill_constant",
                    outputs={"Out": [self.name]},
                    attrs={**attrs, "value": value, **text},
                )
        return self.name

    def _stored(self) -> dict[str, Any]:
        """The attribute of ``assign_value`` that holds numbers of this type."""
        kinds = {DType.BOOL: "bool", DType.INT32: "int32", DType.INT64: "int64"}
        return {f"{kinds.get(self.dtype, 'fp32')}_values": self.values}


Operand: TypeAlias = "str | HeldNumbers | list[Operand] | None"


def names_of(operand: Operand) -> list[str]:
    """The variables of an operand: none, one, or those of a list."""
    if operand is None:
        return []
    if isinstance(operand, list):
        return [name for each in operand for name in names_of(each)]
    return [operand.variable() if isinstance(operand, HeldNumbers) else operand]


def numbers_of(operand: Operand) -> list[Any] | None:
    """The numbers of an operand; None where only a run knows them, or nothing is given."""
    if isinstance(operand, HeldNumbers):
        return operand.numbers()
    if isinstance(operand, list):
        parts = [numbers_of(each) for each in operand]
        return None if any(part is None for part in parts) else [n for p in parts for n in p or ()]
    return None
