"""Lines of the MultiSlot format: for each slot how many values it has, and these.

``2 3 4 1 0.5`` are two values of the first slot, 3 and 4, and one of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, FileFormatError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, offsets_from
from ..ir.variable import Variable

#: numbers that are nearer to zero are taken for it where lines are kept in memory
_LEAST = 1e-6
#: the values of a line, by slot
Row = list[Any]


class FileSlot(NamedTuple):
    """What is written of one variable."""

    name: str
    type: str  #: "uint64" or "float"
    is_dense: bool  #: whether each line has as many values; else they are a sequence
    shape: tuple[int, ...] = ()  #: of a batch, where it is dense
    is_used: bool = True

    @classmethod
    def of(cls, variable: Variable) -> FileSlot:
        """The slot of a variable.

        Raises:
            ArgumentError: its element type is none of those that files have.
        """
        types = {DType.FP32: "float", DType.INT64: "uint64"}
        if variable.dtype not in types:
            raise ArgumentError(
                f"variable {variable.name!r} is {variable.dtype}; files of slots have values for "
                f"float32 and int64"
            )
        dense = not variable.lod_level
        return cls(variable.name, types[variable.dtype], dense, variable.shape if dense else ())

    @property
    def dtype(self) -> str:
        """The element type of its values."""
        return "float32" if self.type == "float" else "int64"

    @property
    def width(self) -> int | None:
        """How many values each line has; None where that may differ."""
        sizes = self.shape[1:]
        return prod(sizes) if self.is_dense and -1 not in sizes else None


class FileLine(NamedTuple):
    """Where a line stands, for messages."""

    file: str
    number: int

    def wrong(self, message: str) -> FileFormatError:
        """The error that something is wrong with it."""
        return FileFormatError(f"{self.file}, line {self.number}: {message}")


def parsed(text: str, slots: Sequence[FileSlot], line: FileLine) -> Row:
    """The values of a line.

    Args:
        text: the line.
        slots: what it has, in order.
        line: where it stands.

    Raises:
        FileFormatError: it has something else.
    """
    words = text.split()
    row: Row = []
    at = 0
    for slot in slots:
        count = _count(words, at, slot, line)
        tokens = words[at + 1 : at + 1 + count]
        if len(tokens) < count:
            raise line.wrong(
                f"expected {count} values of slot {slot.name!r}, the line ends after {len(tokens)}"
            )
        row.append(_values(tokens, slot, line))
        at += 1 + count
    return row


def without_zeros(row: Row, slots: Sequence[FileSlot]) -> Row:
    """The values of a line without the zeros of its sequences; one zero stays where there is
    nothing else.  So fluid 1.8 keeps lines in memory: there, zero is what says nothing.

    Args:
        row: the values by slot.
        slots: what they are of.
    """
    return [
        values if slot.is_dense else _stated(values)
        for slot, values in zip(slots, row, strict=True)
    ]


def _stated(values: Any) -> Any:
    kept = values[np.abs(values) >= _LEAST]
    return kept if len(kept) else np.zeros(1, values.dtype)


def _count(words: list[str], at: int, slot: FileSlot, line: FileLine) -> int:
    """How many values a slot has."""
    if at >= len(words):
        raise line.wrong(f"expected how many values slot {slot.name!r} has, the line ends")
    if not words[at].isdigit() or int(words[at]) == 0:
        raise line.wrong(
            f"expected how many values slot {slot.name!r} has, 1 or more, got {words[at]!r:.40}"
        )
    count = int(words[at])
    if slot.width is not None and count != slot.width and slot.is_used:
        raise line.wrong(
            f"expected {slot.width} values of slot {slot.name!r}, as its variable of shape "
            f"{list(slot.shape)} has them, got {count}"
        )
    return count


def _values(words: list[str], slot: FileSlot, line: FileLine) -> Any:
    try:
        if slot.type == "float":
            return np.array(words, "float64").astype("float32")
        numbers = [int(word) & 0xFFFFFFFFFFFFFFFF for word in words]
        return np.array(numbers, "uint64").view("int64")
    except (ValueError, OverflowError):
        what = "numbers" if slot.type == "float" else "integers"
        raise line.wrong(
            f"expected {what} in slot {slot.name!r}, got {' '.join(words)!r:.60}"
        ) from None


def batch_of(rows: Sequence[Row], slots: Sequence[FileSlot]) -> dict[str, Any]:
    """What is fed of some lines, by name: arrays of dense slots, LoDTensors of others.

    Args:
        rows: the lines' values.
        slots: what they have.
    """
    feed: dict[str, Any] = {}
    for k, slot in enumerate(slots):
        if not slot.is_used:
            continue
        values = [row[k] for row in rows]
        joined = np.concatenate(values)
        if slot.is_dense:
            feed[slot.name] = joined.reshape([len(rows), *slot.shape[1:]] if slot.shape else -1)
        else:
            offsets = offsets_from([len(each) for each in values])
            feed[slot.name] = LoDTensor(joined.reshape(-1, 1), (offsets,))
    return feed


__all__ = ["FileLine", "Row", "FileSlot", "batch_of", "parsed", "without_zeros"]
