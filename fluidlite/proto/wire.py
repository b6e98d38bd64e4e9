"""The encoding of program files: messages of numbered fields, from their bytes and back.

What is written is what protobuf writes.  What it reads is read: fields in any order, numbers packed
or not, longer than they need be, messages in parts, groups.  Unknown fields are kept.
"""

from __future__ import annotations

import contextlib
import struct
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from ..errors import FileFormatError
from .schema import ENUMERATIONS, MESSAGES, REPEATED

VARINT, FIXED64, DELIMITED, GROUP, GROUP_END, FIXED32 = range(6)  #: how a field is written
_WIDTHS = {FIXED32: 4, FIXED64: 8}
_REALS = {4: "<f4", 8: "<f8"}  #: NumPy's types of numbers of a width
#: what the content of a delimited field is
_TEXT, _INNER, _ALIKE, _SPAN, _PACKED = range(5)
#: messages that a reader does not go into: it gives where they begin and end
_LEFT = {"BlockDesc", "VarDesc", "OpDesc", "Version", "OpCompatibleMap"}
_OFTEN_ALIKE = {"OpDesc.Attr"}  # messages that are read once, where one of the same bytes was read
_SHORT = 200  # bytes of one
_KEPT = 10_000  # of them
_LONGEST = 5  # bytes of a tag, and of a size
_ALL_BITS = (1 << 64) - 1
_RUN = 4096  # numbers that are looked at together
DEEPEST = 64  #: groups inside groups


class Bytes:
    """Bytes to take apart.

    Args:
        data: all of them.
        name: what messages call them: the path of a file.
        start: where in the file they begin.
        kind: the message that they are.
    """

    def __init__(self, data: bytes, name: str, start: int = 0, kind: str = "ProgramDesc") -> None:
        self.data = data
        self.name = name
        self.start = start
        self.kind = kind
        #: messages by their bytes, of those that are often alike
        self.alike: dict[bytes, Message] = {}

    def fail(self, at: int, expected: str, found: str, field: bool = False) -> NoReturn:
        """Refuse them because of the byte at a position.

        Args:
            at: the position.
            expected, found: what should stand there, and what does.
            field: whether the field is at fault that begins there, not the message.

        Raises:
            FileFormatError: always.
        """
        place = ": ".join(filter(None, (self.name, self.place(at, field))))
        raise FileFormatError(
            f"{place}: expected {expected} at byte {at + self.start}, found {found}"
        )

    def place(self, at: int, field: bool) -> str:
        """The path of the field at a position, as ``blocks[0].ops[2].type``."""
        kind, begin, end = self.kind, 0, len(self.data)
        path: list[str] = []
        while kind in MESSAGES:
            names = {form.number: (name, form) for name, form in MESSAGES[kind].items()}
            count: dict[int, int] = {}
            start = begin
            for number, inside, stop in self.spans(begin, end):
                if start < at < stop or at == inside or (field and at == start):
                    break
                count[number] = count.get(number, 0) + 1
                start = stop
            else:
                break
            name, form = names.get(number, (f"field {number}", None))
            repeated = form is not None and form.label == REPEATED
            path.append(f"{name}[{count.get(number, 0)}]" if repeated else name)
            kind, begin, end = form.kind if form is not None else "", inside, min(stop, end)
        return ".".join(path)

    def varint(self, start: int, end: int, what: str, longest: int = 10) -> tuple[int, int]:
        """An integer of variable length, and where it ends."""
        result, at = _varint(self.data, start, end, longest)
        if at > end:
            self.fail(start, what, "the end of the file" if end == len(self.data) else "its end")
        if at < 0:
            self.fail(start, what, f"a number of more than {longest} bytes")
        return result, at

    def span(self, start: int, at: int, end: int, what: str) -> tuple[int, int]:
        """Where the content of a delimited field begins and ends."""
        size, inside = self.varint(at, end, f"the size of a field of {what}", _LONGEST)
        if inside + size > end:
            found = f"{end - inside} bytes"
            self.fail(start, f"a field of {size} bytes of {what}", found, True)
        return inside, inside + size

    def skip(self, start: int, end: int, what: str) -> int:
        """Where a field ends.

        Args:
            start: where it begins.
            end: the end of its message.
            what: the message, for errors.

        Raises:
            FileFormatError: it is no field.
        """
        open_groups: list[int] = []
        at = start
        while True:
            first = at
            tag, at = self.varint(at, end, f"a field of {what}", _LONGEST)
            number, wire = tag >> 3, tag & 7
            if number >= 1 << 29 or not (number or open_groups):
                self.fail(first, f"a field of {what}", f"the number {number}", True)
            if wire == DELIMITED:
                _, at = self.span(first, at, end, what)
            elif wire == VARINT:
                _, at = self.varint(at, end, f"a number in {what}")
            elif wire in _WIDTHS:
                left, at = end - at, at + _WIDTHS[wire]
                if at > end:
                    self.fail(first, f"a number in {what}", f"{left} bytes", True)
            elif wire == GROUP:
                open_groups.append(number)
                if len(open_groups) > DEEPEST:
                    self.fail(first, f"at most {DEEPEST} groups inside each other", "more")
            elif wire != GROUP_END:
                found = f"the encoding {wire}, which has no meaning"
                self.fail(first, f"a field of {what}", found, True)
            elif not open_groups or open_groups.pop() != number:
                self.fail(first, f"a field of {what}", f"the end of a group {number}", True)
            if not open_groups:
                return at

    def spans(self, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The fields in a range that hold bytes, and the others with nothing in them, fast: number,
        begin, end.  It stops where they are none.
        """
        data, at = self.data, begin
        while at < end:
            tag, at = _varint(data, at, end)
            if not 0 < at <= end:
                return
            wire, inside = tag & 7, at
            if wire == DELIMITED:
                size, inside = _varint(data, at, end)
                at = inside + size
            elif wire == VARINT:
                _, at = _varint(data, at, end)
            else:
                at += _WIDTHS.get(wire, 0)  # what is in a group counts as beside it
            yield tag >> 3, inside if wire == DELIMITED else at, at
            if inside < 0 or at < 0 or wire > FIXED32:
                return


def _varint(data: bytes, at: int, end: int, longest: int = 10) -> tuple[int, int]:
    """An integer of variable length, and where it ends: beyond the end where it is cut, -1 where it
    is too long.
    """
    result = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & _ALL_BITS, at
        shift += 7
        if shift == 7 * longest:
            return 0, -1
    return 0, end + 1


# -- messages --------------------------------------------------------------------------------------


class _Step(NamedTuple):
    """What to do with a field of one tag."""

    name: str
    wire: int
    repeated: bool
    content: Any  #: of a number: what makes it; of bytes: what they are
    inner: Any = None  #: of messages: their class; of packed numbers: their step


class Message:
    """The content of a message: fields are attributes; a missing one is None, or its
    default.
    """

    kind: ClassVar[str] = ""
    steps: ClassVar[dict[int, _Step]] = {}
    #: by name: number, tag, what gives the bytes of a value, whether there may be several
    fields: ClassVar[dict[str, tuple[int, bytes, Callable[[Any], bytes], bool]]] = {}
    usual = True  #: whether ``write`` gives the bytes that it was read from
    unknown: Sequence[bytes] = ()  #: fields that are unknown here

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def has(self, name: str) -> bool:
        """Whether a field is there."""
        return name in self.__dict__

    @property
    def rest(self) -> bytes:
        """The fields that are unknown here."""
        return b"".join(self.unknown)

    @property
    def told(self) -> list[str]:
        """The fields that are there."""
        return [name for name in self.fields if self.has(name)]

    def stripped(self) -> Message:
        """The same without fields that are unknown here, in all that lies within."""
        return type(self)(**{name: _stripped(self.__dict__[name]) for name in self.told})

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_kind, (self.kind, self.__dict__)

    def copy(self) -> Any:
        """The same, to be changed."""
        return read(type(self), Bytes(write(self), "", kind=self.kind))


def _of_kind(kind: str, fields: dict[str, Any]) -> Any:
    """The message that a pickle holds."""
    return MESSAGE_CLASSES[kind](**fields)


def _stripped(value: Any) -> Any:
    if isinstance(value, list):
        return [_stripped(element) for element in value]
    return value.stripped() if isinstance(value, Message) else value


def read(kind: type[Message], source: Bytes, begin: int = 0, end: int | None = None) -> Any:
    """The message that lies in a range.

    Args:
        kind: its class.
        source: the bytes.
        begin, end: the range; all of them if not given.

    Raises:
        FileFormatError: the bytes are no such message.
    """
    message = kind.__new__(kind)
    _fill(message, source, begin, len(source.data) if end is None else end)
    return message


def _fill(message: Any, source: Bytes, at: int, end: int) -> None:
    """Read the fields in a range into a message."""
    data, values, steps, what = source.data, message.__dict__, message.steps, message.kind
    alike = source.alike
    last = 0
    usual = True
    rest = []
    while at < end:
        start = at
        tag = data[at]
        at += 1
        if tag > 0x7F:
            tag, at = source.varint(start, end, f"a field of {what}", _LONGEST)
            usual = usual and at - start == len(varint_bytes(tag))
        step = steps.get(tag)
        if step is None:
            at = source.skip(start, end, what)
            rest.append(data[start:at])
            continue
        name, wire, repeated, content, inner = step
        if tag <= last and (tag < last or not repeated):
            usual = False
        last = tag
        value: Any
        if wire == DELIMITED:
            size = data[at] if at < end else 0x80
            begin = at + 1
            if size > 0x7F or begin + size > end:
                begin, stop = source.span(start, at, end, what)
                usual = usual and begin - at == len(varint_bytes(stop - begin))
            else:
                stop = begin + size
            at = stop
            if content == _TEXT:
                value = data[begin:stop]
            elif content == _ALIKE:
                value = alike.get(data[begin:stop]) or _inner(None, inner, source, begin, stop)
                usual = usual and value.usual
            elif content == _INNER:
                value = _inner(None if repeated else values.get(name), inner, source, begin, stop)
                usual = usual and value.usual
            elif content == _SPAN:
                values.setdefault(name, array("q")).extend((begin, stop))
                continue
            else:
                usual = False
                numbers = _packed(inner, source, begin, stop, what)
                values.setdefault(name, []).extend(numbers)
                continue
        elif wire == VARINT:
            value = data[at] if at < end else 0x80
            if value < 0x80 and content is not bool:
                at += 1
            else:
                first = at
                value, at = source.varint(first, end, f"a number in {what}")
                value = content(value)
                usual = usual and data[first:at] == varint_bytes(value)
        else:
            numbers, at = _fixed(step, source, start, at, end, what)
            total = sum(numbers)
            usual = usual and total == total  # bytes of NaN may change
            if repeated:
                values.setdefault(name, []).extend(numbers)
                continue
            (value,) = numbers
        if repeated and name in values:
            values[name].append(value)
        else:
            values[name] = [value] if repeated else value
    if rest:
        values.setdefault("unknown", []).extend(rest)
    if rest or not usual:
        message.usual = False


def _inner(
    before: Message | None, kind: type[Message], source: Bytes, begin: int, end: int
) -> Message:
    """A message within another one.

    Args:
        before: the part of it that was there already.
        kind: its class.
        source: the bytes.
        begin, end: where it lies.
    """
    message = kind.__new__(kind) if before is None else before
    _fill(message, source, begin, end)
    if kind.kind in _OFTEN_ALIKE and end - begin < _SHORT and len(source.alike) < _KEPT:
        source.alike[source.data[begin:end]] = message
    return message


def _packed(step: _Step, source: Bytes, at: int, end: int, what: str) -> list[Any]:
    """The numbers that lie in a row."""
    if step.wire != VARINT:
        width = _WIDTHS[step.wire]
        if (end - at) % width:
            source.fail(at, f"numbers of {width} bytes in {what}.{step.name}", f"{end - at}")
        numbers: list[Any] = np.frombuffer(source.data[at:end], _REALS[width]).tolist()
        return numbers
    numbers = []
    while at < end:
        value, at = source.varint(at, end, f"a number of {what}.{step.name}")
        numbers.append(step.content(value))
    return numbers


def _fixed(
    step: _Step, source: Bytes, start: int, at: int, end: int, what: str
) -> tuple[list[Any], int]:
    """The numbers of a field that has a fixed width, of all that follow each other, and where they
    end.
    """
    data, width = source.data, _WIDTHS[step.wire]
    stop = at + width
    if stop > end:
        source.fail(start, f"a number in {what}", f"{end - at} bytes", True)
    short = step.repeated and at == start + 1
    if not short or stop >= end or data[stop] != data[start]:
        return list(struct.unpack_from("<f" if width == 4 else "<d", data, at)), stop
    count = min((end - start) // (1 + width), _RUN)
    form = np.dtype([("tag", "u1"), ("value", _REALS[width])])
    fields = np.frombuffer(data, form, count, start)
    others = np.flatnonzero(fields["tag"] != data[start])
    if len(others):
        count = int(others[0])
    return fields["value"][:count].tolist(), start + count * (1 + width)


def write(message: Any) -> bytes:
    """The bytes of a message, as protobuf gives them.

    Args:
        message: a :class:`Message`.

    Raises:
        ValueError, TypeError: a field has no room for its value.
    """
    fields, parts = message.fields, []
    for name, value in message.__dict__.items():
        if name not in fields:
            continue
        number, tag, encoded, repeated = fields[name]
        if not repeated:
            parts.append((number, tag + encoded(value)))
        else:
            parts.append((number, b"".join([tag + encoded(element) for element in value])))
    parts.sort()
    return b"".join([field for _, field in parts]) + message.rest


# -- values ----------------------------------------------------------------------------------------


def signed(value: int, bits: int = 64) -> int:
    """The integer that a varint stands for, two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def varint_bytes(value: int) -> bytes:
    """An integer of variable length."""
    if 0 <= value < 0x80:
        return _ONE_BYTE[value]
    value &= _ALL_BITS
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_ONE_BYTE = [bytes([byte]) for byte in range(0x80)]


def delimited(number: int, content: bytes) -> bytes:
    """A field that holds bytes."""
    size = len(content)
    if number < 16 and size < 0x80:
        return _ONE_BYTE[number << 3 | DELIMITED] + _ONE_BYTE[size] + content
    return varint_bytes(number << 3 | DELIMITED) + varint_bytes(size) + content


def varint_field(number: int, value: int) -> bytes:
    """A field that holds an integer."""
    return varint_bytes(number << 3 | VARINT) + varint_bytes(value)


def _text_bytes(content: bytes) -> bytes:
    return varint_bytes(len(content)) + content


def _inner_bytes(message: Any) -> bytes:
    return _text_bytes(write(message))


def _integer_bytes(bits: int) -> Callable[[int], bytes]:
    def encoded(value: int) -> bytes:
        if not -1 << (bits - 1) <= value < 1 << (bits - 1):
            raise ValueError(f"expected an integer of {bits} bits, got {value}")
        return varint_bytes(value)

    return encoded


def _float_bytes(form: str) -> Callable[[float], bytes]:
    pack = struct.Struct(form).pack

    def encoded(value: float) -> bytes:
        with contextlib.suppress(OverflowError):
            return pack(value)
        return pack(float("inf") if value > 0 else float("-inf"))

    return encoded


#: kind of a scalar -> how it is written, what makes it of an integer, its bytes
_SCALARS: dict[str, tuple[int, Any, Callable[[Any], bytes]]] = {
    "int32": (VARINT, lambda value: signed(value, 32), _integer_bytes(32)),
    "int64": (VARINT, signed, _integer_bytes(64)),
    "bool": (VARINT, bool, lambda value: _ONE_BYTE[bool(value)]),
    "float": (FIXED32, None, _float_bytes("<f")),
    "double": (FIXED64, None, _float_bytes("<d")),
    "string": (DELIMITED, _TEXT, _text_bytes),
}
_SCALARS.update(dict.fromkeys(ENUMERATIONS, _SCALARS["int32"]))
_DEFAULTS = {"bool": False, "float": 0.0, "double": 0.0, "string": b""}


def _classes() -> dict[str, type[Message]]:
    """The class of every message, by name."""
    classes: dict[str, type[Message]] = {
        kind: type(kind.replace(".", ""), (Message,), {"kind": kind}) for kind in MESSAGES
    }
    for kind, fields in MESSAGES.items():
        steps: dict[int, _Step] = {}
        written: dict[str, Any] = {}
        for name, (number, type_, label) in fields.items():
            several = label == REPEATED
            if type_ in classes:
                content = _SPAN if type_ in _LEFT else _INNER
                content = _ALIKE if type_ in _OFTEN_ALIKE else content
                encode: Callable[[Any], bytes] = _inner_bytes
                wire, inner = DELIMITED, classes[type_]
                default: Any = () if several or type_ in _LEFT else None
            else:
                wire, content, encode = _SCALARS[type_]
                inner = None
                default = () if several else _DEFAULTS.get(type_, 0)
            steps[number << 3 | wire] = step = _Step(name, wire, several, content, inner)
            if several and wire != DELIMITED:
                steps[number << 3 | DELIMITED] = _Step(name, DELIMITED, True, _PACKED, step)
            written[name] = (number, varint_bytes(number << 3 | wire), encode, several)
            setattr(classes[kind], name, default)
        classes[kind].steps, classes[kind].fields = steps, written
    return classes


MESSAGE_CLASSES: dict[str, Any] = _classes()
