"""The encoding below messages: numbered fields, one after the other.

The protobuf library reads and writes messages.  Here the outer ones are taken apart, so that a
program of any length is read operator by operator, and what is wrong with bytes that the library
refuses is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from ..errors import FileFormatError
from .schema import DELIMITED, FIXED32, FIXED64, MESSAGES, VARINT, WRITTEN

DEEPEST = 64  #: messages inside messages


class Field(NamedTuple):
    """One field of a message."""

    number: int
    wire: int  #: how it is written
    value: int  #: of a number
    start: int  #: where the field begins
    begin: int  #: where its content begins
    end: int


class Bytes:
    """Bytes to take apart.

    Args:
        data: all of them.
        name: what messages call them: the path of a file.
        start: where in the file they begin.
    """

    def __init__(self, data: bytes, name: str, start: int = 0) -> None:
        self.data = data
        self.name = name
        self.start = start

    def fail(self, at: int, expected: str, found: str) -> NoReturn:
        """Refuse them because of the byte at a position."""
        at += self.start
        raise FileFormatError(f"{self.name}: expected {expected} at byte {at}, found {found}")

    def varint(self, at: int, end: int, what: str) -> tuple[int, int]:
        """An integer of variable length, and where it ends."""
        data = self.data
        result = shift = 0
        start = at
        while at < end:
            byte = data[at]
            at += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                if result >= 1 << 64:
                    break
                return result, at
            shift += 7
            if shift > 63:
                break
        else:
            self.fail(start, what, "the end of the file" if end == len(data) else "its end")
        self.fail(start, what, "a number of more than 64 bits")

    def fields(self, begin: int, end: int, what: str) -> Iterator[Field]:
        """The fields of the message that lies in a range.

        Args:
            begin, end: the range.
            what: the message, for errors.

        Raises:
            FileFormatError: the bytes are no fields.
        """
        data, at = self.data, begin
        while at < end:
            start = at
            tag = data[at]
            if tag < 0x80:
                at += 1
            else:
                tag, at = self.varint(at, end, f"a field of {what}")
            number, wire = tag >> 3, tag & 7
            value = 0
            if not number or number >= 1 << 29:
                self.fail(start, f"a field of {what}", f"the number {number}")
            inside = at
            if wire == DELIMITED:
                size, inside = self.varint(at, end, f"the size of a field of {what}")
                at = inside + size
                if at > end:
                    left = end - inside
                    self.fail(start, f"a field of {size} bytes of {what}", f"{left} bytes")
            elif wire == VARINT:
                value, at = self.varint(at, end, f"a number in {what}")
            elif wire in (FIXED32, FIXED64):
                at += 4 if wire == FIXED32 else 8
                if at > end:
                    self.fail(start, f"a number in {what}", f"{end - inside} bytes")
            else:
                self.fail(start, f"a field of {what}", f"the encoding {wire}, which has no meaning")
            yield Field(number, wire, value, start, inside, at)

    def spans(self, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The fields in a range that hold bytes, and the others with nothing in them, fast: number,
        begin, end.  It stops where they are none.
        """
        data, at = self.data, begin
        while at + 1 < end:
            tag = data[at]
            if tag >= 0x80:
                tag, at = self.varint(at, end, "a field")
            else:
                at += 1
            wire = tag & 7
            if wire == DELIMITED:
                size = data[at]
                at += 1
                if size >= 0x80:
                    size, at = self.varint(at - 1, end, "the size of a field")
                yield tag >> 3, at, at + size
                at += size
            elif wire == VARINT:
                while at < end and data[at] >= 0x80:
                    at += 1
                at += 1
                yield tag >> 3, at, at
            elif wire in (FIXED32, FIXED64):
                at += 4 if wire == FIXED32 else 8
                yield tag >> 3, at, at
            else:
                return

    def refuse(self, message: str, begin: int, end: int, depth: int = 0) -> None:
        """Find what is wrong with a message that the library refuses.

        Raises:
            FileFormatError: says the byte.
        """
        if depth > DEEPEST:
            self.fail(begin, f"at most {DEEPEST} messages inside each other", "more")
        known = {number: (name, kind) for name, (number, kind, _) in MESSAGES[message].items()}
        for field in self.fields(begin, end, message):
            name, kind = known.get(field.number, ("", ""))
            if kind in MESSAGES and field.wire == DELIMITED:
                self.refuse(kind, field.begin, field.end, depth + 1)
            elif kind and field.wire == DELIMITED and WRITTEN.get(kind) != DELIMITED:
                self._check_packed(f"{message}.{name}", kind, field)

    def _check_packed(self, what: str, kind: str, field: Field) -> None:
        at = field.begin
        while at < field.end:
            if WRITTEN[kind] == VARINT:
                _, at = self.varint(at, field.end, f"a number of {what}")
            else:
                at += 4
        if at > field.end:
            self.fail(field.begin, f"numbers of 4 bytes in {what}", f"{field.end - field.begin}")


def signed(value: int, bits: int = 64) -> int:
    """The integer that a varint stands for, two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def varint_bytes(value: int) -> bytes:
    """An integer of variable length."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def delimited(number: int, content: bytes) -> bytes:
    """A field that holds bytes."""
    return varint_bytes(number << 3 | DELIMITED) + varint_bytes(len(content)) + content


def varint_field(number: int, value: int) -> bytes:
    """A field that holds an integer."""
    return varint_bytes(number << 3 | VARINT) + varint_bytes(value)


def decoded(message: Any, name: str, source: Bytes, begin: int, end: int) -> Any:
    """The message that lies in a range.

    Args:
        message: its class.
        name: its name in the table.
        source: the bytes.
        begin, end: the range.

    Raises:
        FileFormatError: the bytes are no such message.
    """
    parsed = message()
    try:
        parsed.MergeFromString(source.data[begin:end])
    except Exception as error:  # each version of the library has its own class for this
        source.refuse(name, begin, end)
        source.fail(begin, f"a message {name}", f"something else: {error}")
    return parsed
