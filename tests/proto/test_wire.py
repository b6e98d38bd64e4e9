"""Messages beside protobuf: what is read, what is refused, and the bytes that are written."""

import math
import random
import struct

import pytest

from fluidlite.errors import FileFormatError
from fluidlite.proto.schema import MESSAGES, REPEATED
from fluidlite.proto.wire import (
    DEEPEST,
    MESSAGE_CLASSES,
    Bytes,
    delimited,
    read,
    varint_bytes,
    varint_field,
    write,
)

from protobuf_messages import message_classes

from google.protobuf.internal import api_implementation  # isort: skip
from google.protobuf.message import DecodeError  # isort: skip

if api_implementation.Type() != "upb":
    pytest.skip("other protobufs keep unknown fields elsewhere", allow_module_level=True)

#: messages that are read whole
WHOLE = [kind for kind in MESSAGES if kind not in ("ProgramDesc", "BlockDesc")]
INTEGERS = [0, 1, 2, 127, 128, 300, -1, -5, 2**31 - 1, -(2**31), 2**31, 2**40, 2**63, 2**64 - 1]
FLOATS = [0.0, -0.0, 0.1, 1e-45, 3.4e38, math.inf, -math.inf, math.nan]


def overlong(rng, value):
    """An integer of variable length, now and then in more bytes than it needs."""
    short = varint_bytes(value)
    more = rng.randrange(1, 4) if rng.randrange(12) == 0 else 0
    if not more or len(short) + more > 10:
        return short
    return short[:-1] + bytes([short[-1] | 0x80]) + b"\x80" * (more - 1) + b"\0"


def content(rng, kind, depth=0):
    """The bytes of a value of a kind, and how it is written."""
    if kind in MESSAGES:
        return 2, message(rng, kind, depth + 1)
    if kind == "string":
        return 2, rng.choice([b"", b"x", b"name", b"\xff\xfe", "für".encode(), b"y" * 130])
    if kind == "float":
        return 5, struct.pack("<f", rng.choice(FLOATS))
    if kind == "double":
        return 1, struct.pack("<d", rng.choice(FLOATS))
    return 0, overlong(rng, rng.choice(INTEGERS))


def unknown(rng):
    """A field that nothing is known of, or of a wire type that it should not have."""
    number = rng.choice([1, 2, 3, 6, 9, 11, 77, 536870911])
    shape = rng.randrange(5)
    if shape == 0:
        return varint_field(number, rng.choice(INTEGERS))
    if shape == 1:
        return delimited(number, rng.randbytes(rng.randrange(4)))
    if shape == 2:
        return varint_bytes(number << 3 | 1) + rng.randbytes(8)
    if shape == 3:
        return varint_bytes(number << 3 | 5) + rng.randbytes(4)
    inside = unknown(rng) if rng.randrange(2) else b""
    return varint_bytes(number << 3 | 3) + inside + varint_bytes(number << 3 | 4)


def message(rng, kind, depth=0):
    """The bytes of a message, mostly as protobuf writes it."""
    parts = []
    for form in MESSAGES[kind].values():
        several = rng.randrange(4) if form.label == REPEATED else rng.randrange(2)
        values = [content(rng, form.kind, depth) for _ in range(several)]
        if values and values[0][0] != 2 and form.label == REPEATED and rng.randrange(6) == 0:
            packed = b"".join(value for _, value in values)
            parts.append(delimited(form.number, packed))
            continue
        for wire, value in values:
            tag = overlong(rng, form.number << 3 | wire)
            size = overlong(rng, len(value)) if wire == 2 else b""
            parts.append(
                (tag if len(tag) < 6 else varint_bytes(form.number << 3 | wire)) + size + value
            )
    if rng.randrange(4) == 0:
        rng.shuffle(parts)
    if parts and rng.randrange(6) == 0:
        parts.append(rng.choice(parts))
    if rng.randrange(4) == 0:
        parts.insert(rng.randrange(len(parts) + 1), unknown(rng))
    return b"".join(parts)


def damaged(rng, data):
    """The bytes with one changed, left out or added, or cut off."""
    at = rng.randrange(len(data) + 1)
    how = rng.randrange(4)
    if how == 0:
        return data[:at]
    new = bytes([rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])])
    return data[:at] + (new if how < 3 else b"") + data[at + (how > 1) :]


def compare(kind, data):
    """Read and write bytes here and with protobuf; whether they are a message."""
    theirs = message_classes()[kind]()
    try:
        theirs.MergeFromString(data)
        is_one = True
    except DecodeError:
        is_one = False
    try:
        ours = read(MESSAGE_CLASSES[kind], Bytes(data, "file", kind=kind))
    except FileFormatError:
        assert not is_one, (kind, data)
        return False
    assert is_one, (kind, data)
    if b"\x7f" in data or b"\xff" in data:  # NaN is written with other bits by some
        reread = message_classes()[kind].FromString(write(ours))
        if "nan" in str(reread):
            return True
    assert write(ours) == theirs.SerializeToString(), (kind, data)
    theirs.DiscardUnknownFields()
    known = theirs.SerializeToString()
    assert write(ours.stripped()) == known, (kind, data)
    assert ours.usual <= (known == data), (kind, data)
    assert write(ours.copy()) == write(ours)
    return True


@pytest.mark.parametrize("kind", WHOLE)
def test_what_protobuf_reads_is_read_and_written_alike(kind):
    rng = random.Random(kind)
    read_well = [compare(kind, message(rng, kind)) for _ in range(60)]
    assert sum(read_well) > 40  # an unknown field may lie where a message should


@pytest.mark.parametrize("kind", WHOLE)
def test_what_protobuf_refuses_is_refused(kind):
    rng = random.Random(kind)
    for _ in range(150):
        compare(kind, damaged(rng, message(rng, kind)))


def inside(groups):
    """An unknown field of groups in each other."""
    return b"\x7b" * groups + b"\x7c" * groups


def test_groups_are_kept_up_to_a_depth():
    kind = MESSAGE_CLASSES["OpDesc"]
    data = inside(DEEPEST)
    assert write(read(kind, Bytes(data, "file"))) == data
    with pytest.raises(FileFormatError, match=f"at most {DEEPEST} groups inside each other"):
        read(kind, Bytes(inside(DEEPEST + 1), "file"))


@pytest.mark.parametrize("tail", [b"\x7b", b"\x7c", b"\x7b\x74"])
def test_groups_that_do_not_end_are_refused(tail):
    with pytest.raises(FileFormatError, match="field 15: expected a field of OpDesc at byte"):
        read(MESSAGE_CLASSES["OpDesc"], Bytes(tail, "file", kind="OpDesc"))


def test_parts_of_a_message_are_merged():
    attr = MESSAGE_CLASSES["Scalar"]
    data = delimited(5, struct.pack("<Bd", 9, 1.5)) + delimited(5, struct.pack("<Bd", 17, 2.5))
    scalar = read(attr, Bytes(data, "file", kind="Scalar"))
    assert (scalar.c.r, scalar.c.i) == (1.5, 2.5)
    assert not scalar.usual and not scalar.has("r")


def test_many_numbers_are_read_in_a_row():
    numbers = [float(k) for k in range(10_000)]
    attr = MESSAGE_CLASSES["OpDesc.Attr"]
    data = write(attr(name=b"a", type=4, floats=numbers, ints=list(range(9))))
    again = read(attr, Bytes(data, "file", kind="OpDesc.Attr"))
    assert again.floats == numbers and again.usual
    packed = delimited(7, struct.pack("<3f", 1, 2, 3)) + varint_field(12, 4) + data
    assert read(attr, Bytes(packed, "file")).floats == [1.0, 2.0, 3.0, *numbers]


def test_numbers_without_room_are_refused_when_they_are_written():
    attr = MESSAGE_CLASSES["OpDesc.Attr"]
    with pytest.raises(ValueError, match="expected an integer of 32 bits, got 2147483648"):
        write(attr(i=2**31))
    assert write(attr(f=1e300)) == b"\x25" + struct.pack("<f", math.inf)
    assert write(attr(f=-1e300)) == b"\x25" + struct.pack("<f", -math.inf)
