"""Values of element types that variables of programs have not, held in wider ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from .types import name_of

#: number of an element type -> the type that holds its values, and the bits of an element
HELD: dict[int, tuple[np.dtype[Any], int]] = {
    number: (np.dtype(held), bits)
    for held, listed in {
        "int32": {4: 16},  # uint16
        "int64": {12: 32},  # uint32
        "float32": {
            16: 16,
            17: 8,
            18: 8,
            19: 8,
            20: 8,
            23: 4,
            24: 8,
        },  # bfloat16, of 8 and of 4 bits
        "uint8": {21: 4, 25: 2},
        "int8": {22: 4, 26: 2},
    }.items()
    for number, bits in listed.items()
}
BFLOAT16 = 16
E8M0 = 24
#: floats of 8 bits: the bits of the exponent, what is taken from it, and which codes are no numbers
_FLOAT8 = {17: (4, 7, "fn"), 18: (4, 8, "fnuz"), 19: (5, 15, ""), 20: (5, 16, "fnuz")}
#: the types that numbers can be rounded to
ROUNDED = frozenset({17, 18, 19, 20, 23})
#: what 4 bits mean as a float
_FLOAT4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
#: operators that take such values as they are
TAKERS = frozenset({"Cast", "CastLike", "DequantizeLinear", "QuantizeLinear"})
#: operators that only move elements of their first input, or of all
MOVERS = frozenset(
    {"Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Pad"}
    | {"Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"}
)
#: operators that compare, for which a wider type makes no difference
COMPARERS = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
CHOOSERS = frozenset({"Max", "Min"})
#: operators of integers whose last bits follow from more of them
WRAPPED = frozenset(
    {"Add", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"}
    | {"Div", "Mod", "Mul", "Sub"}
)


@dataclass(frozen=True)
class Widened:
    """A value of such a type."""

    value: Any  #: an array or a variable of the wider type
    number: int  #: the model's element type

    @property
    def name(self) -> str:
        """The name of the model's element type."""
        return name_of(self.number)

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest value, of an integer type.

        Raises:
            UnsupportedError: it is none.
        """
        bits = HELD[self.number][1]
        if HELD[self.number][0].kind == "f":
            raise UnsupportedError(f"numbers are not rounded to {self.name} here")
        if self.name.startswith("u"):
            return 0, 2**bits - 1
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def bare(value: Any) -> Any:
    """A value, whatever its type is in the model."""
    return value.value if isinstance(value, Widened) else value


def magnitudes(number: int) -> Any:
    """The finite values of a type of short floats from 0 on, in order.

    Raises:
        UnsupportedError: it has others.
    """
    bits = HELD[number][1]
    if number not in ROUNDED:
        raise UnsupportedError(f"numbers are not rounded to {name_of(number)} here")
    codes = np.arange(2 ** (bits - 1), dtype=np.uint8)
    found = _FLOAT4 if bits == 4 else decoded(number, codes, len(codes))
    return found[np.isfinite(found)]


def byte_count(number: int, count: int) -> int:
    """How many bytes the elements of a tensor take in a file."""
    return -(-count * HELD[number][1] // 8)


def decoded(number: int, data: Any, count: int) -> Any:
    """The elements that bytes mean, as an array of the wider type.

    Args:
        number: the element type.
        data: the bytes, as an array.
        count: how many elements there are.
    """
    held, bits = HELD[number]
    if bits in (16, 32):
        whole = data.view("<u2" if bits == 16 else "<u4")
        if number == BFLOAT16:
            return (whole.astype(np.uint32) << 16).view(np.float32)
        return whole.astype(held)
    if bits == 8:
        return _floats_of_bytes(number, data.astype(np.int32))
    places = np.arange(0, 8, bits, dtype=np.uint8)
    codes = ((data[:, None] >> places) & (2**bits - 1)).reshape(-1)[:count]
    if held.kind == "f":
        return np.where(codes & 8, -1, 1).astype(held) * _FLOAT4[codes & 7]
    signed = held.kind == "i"
    return np.where(signed & (codes >= 2 ** (bits - 1)), codes.astype(int) - 2**bits, codes).astype(
        held
    )


def _floats_of_bytes(number: int, codes: Any) -> Any:
    """What bytes mean as floats."""
    if number == E8M0:  # a power of two
        return np.where(codes == 255, np.nan, np.ldexp(1.0, codes - 127)).astype(np.float32)
    exponent_bits, bias, kind = _FLOAT8[number]
    digits = 7 - exponent_bits
    size, exponent = codes & 127, (codes & 127) >> digits
    whole = (size & 2**digits - 1) + np.where(exponent > 0, 2**digits, 0)
    values = np.ldexp(whole.astype(np.float32), np.maximum(exponent, 1) - bias - digits)
    if kind == "fnuz":
        none = codes == 128
    elif kind == "fn":
        none = size == 127
    else:
        values = np.where(size == 124, np.float32(np.inf), values)
        none = size > 124
    return np.where(none, np.float32(np.nan), np.where(codes & 128, -values, values))


@dataclass(frozen=True)
class Handling:
    """How a node takes values of such types."""

    number: int = 0  #: the element type of its outputs, where that is such a one
    wraps: bool = False  #: it computes with more bits, of which the last ones are the result
    loose: bool = False  #: it computes with more digits, and nothing is rounded


def handling(type: str, ins: list[Any]) -> Handling | None:
    """How a node takes values of such types; None where none is there, or it knows them.

    Raises:
        UnsupportedError: it would have to compute in the model's type.
    """
    numbers = {v.number for v in ins if isinstance(v, Widened)}
    if not numbers or type in TAKERS:
        return None
    if numbers == {BFLOAT16}:
        return Handling(BFLOAT16, loose=True)
    (first, *others), alike = numbers, all(v is None or isinstance(v, Widened) for v in ins)
    is_first = not any(isinstance(v, Widened) for v in ins[1:])
    if type in MOVERS and not others and (is_first or alike):
        return Handling(first)
    if alike and not others and type in COMPARERS:
        return Handling()
    if alike and not others and type in CHOOSERS:
        return Handling(first)
    is_integer = all(HELD[n][0].kind != "f" for n in numbers)
    if is_integer and alike and not others and type in WRAPPED:
        return Handling(first, wraps=True)
    if is_integer and type == "Pow" and not isinstance(ins[0], Widened):
        return Handling()
    raise UnsupportedError(
        f"variables here have no element type {name_of(first)}: it cannot be computed with here"
    )


def wrapped(f: Any, x: Any, number: int) -> Widened:
    """The last bits of integers, as many as an element type has."""
    least, most = Widened(x, number).bounds
    whole = f.to(x, "int64")
    rest = f.elementwise_sub(whole, f.like(least, whole))
    rest = f.bitwise_and(rest, np.array(most - least))
    return Widened(f.to(f.elementwise_add(rest, f.like(least, rest)), HELD[number][0]), number)
