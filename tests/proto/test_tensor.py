"""Tensors as bytes: the layout, by hand and as the real thing writes it."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluidlite.errors import ArgumentError, DTypeError, FileFormatError
from fluidlite.ground.files import Source
from fluidlite.ground.values import LoDTensor, LoDTensorArray, SelectedRows
from fluidlite.proto.tensor import ELEMENT_TYPES, read_rows, read_tensor, write_value

import saved_models

RECORDED = [
    row for row in saved_models.record("tensors/index.json") if "could_not_be_saved" not in row
]


def written(value):
    file = io.BytesIO()
    write_value(file, value, "x")
    return file.getvalue()


def read(data, kind=read_tensor):
    source = Source.of(data, "file")
    value = kind(source)
    assert not source.left
    return value


def by_hand(number, shape, data, lod=()):
    """The bytes of a tensor, written as the layout says."""
    desc = bytes([0x08, number]) + b"".join(bytes([0x10, size]) for size in shape)
    levels = b"".join(struct.pack(f"<Q{len(level)}Q", 8 * len(level), *level) for level in lod)
    head = struct.pack("<IQ", 0, len(lod)) + levels
    return head + struct.pack("<Ii", 0, len(desc)) + desc + data


# -- files of the real thing -----------------------------------------------------------------------


@pytest.mark.parametrize("row", RECORDED, ids=[row["name"] for row in RECORDED])
def test_a_tensor_of_the_real_thing_is_read_and_written_again(row):
    values = saved_models.arrays("tensors/values.npz")
    lods = {each["name"]: each.get("lod_offsets", []) for each in RECORDED}
    data = saved_models.file(f"tensors/{row['name']}")
    source = Source.of(data, row["name"])
    again = b""
    for name in row.get("holds", [row["name"]]):
        if "height" in row:
            value = read_rows(source)
            assert (value.rows(), value.height()) == (row["rows"], row["height"])
            found = value.value
        else:
            value = read_tensor(source)
            found = np.array(value)
            assert (value.lod() if isinstance(value, LoDTensor) else []) == lods[name]
        assert found.dtype == values[name].dtype
        np.testing.assert_array_equal(found, values[name])
        again += written(value)
    assert not source.left and again == data


# -- the layout ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number, dtype", ELEMENT_TYPES.items(), ids=map(str, ELEMENT_TYPES))
def test_every_element_type_has_its_number(number, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    data = by_hand(number, [2, 3], array.tobytes())
    assert written(array) == data
    found = read(data)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, array)


def test_offsets_of_sequences_stand_in_front():
    tensor = LoDTensor(np.zeros([3, 1], "float32"), ((0, 1, 2), (0, 2, 3)))
    data = by_hand(5, [3, 1], bytes(12), [(0, 1, 2), (0, 2, 3)])
    assert written(tensor) == data
    assert read(data).offsets == tensor.offsets


def test_rows_stand_in_front_of_their_values():
    rows = SelectedRows([4, 0], 9, np.ones([2, 1], "float64"))
    head = struct.pack("<IQqqq", 0, 2, 4, 0, 9)
    tensor = by_hand(6, [2, 1], np.ones(2).tobytes())[12:]
    assert written(rows) == head + tensor
    found = read(head + tensor, read_rows)
    assert (found.rows(), found.height(), found.value.tolist()) == ([4, 0], 9, [[1.0], [1.0]])


def test_bfloat16_is_read():
    halves = (np.array([1.5, -2.0], "float32").view("uint32") >> 16).astype("uint16")
    found = read(by_hand(22, [2], halves.tobytes()))
    assert found.dtype.name in ("bfloat16", "float32") and found.tolist() == [1.5, -2.0]


def test_packed_sizes_are_read():
    desc = b"\x08\x05\x12\x02\x02\x03"
    data = struct.pack("<IQIi", 0, 0, 0, len(desc)) + desc + bytes(24)
    assert read(data).shape == (2, 3)


def test_arrays_of_any_layout_and_byte_order_are_written_alike():
    array = np.arange(6, dtype="float32").reshape(2, 3)
    swapped = array.astype(">f4")
    assert written(np.asfortranarray(array)) == written(array) == written(swapped)
    assert written(np.arange(12, dtype="float32")[::2].reshape(2, 3) / 2) == written(array)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.lists(st.integers(0, 5), max_size=5),
    dtype=st.sampled_from(sorted(map(str, ELEMENT_TYPES.values()))),
    seed=st.integers(0, 9),
)
def test_what_is_written_is_read(shape, dtype, seed):
    bits = np.random.default_rng(seed).integers(0, 2, [*shape, np.dtype(dtype).itemsize])
    array = bits.astype("uint8").view(dtype).reshape(shape) if bits.size else np.zeros(shape, dtype)
    found = read(written(array))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()


# -- what is wrong ---------------------------------------------------------------------------------

GOOD = by_hand(5, [2, 3], bytes(24), [(0, 1, 2)])
WRONG = {
    "empty": (b"", r"the version of a tensor \(4 bytes\) at byte 0, found the end of the file"),
    "version": (b"\1" + GOOD[1:], "a tensor of version 0 at byte 0, found version 1"),
    "levels": (
        GOOD[:4] + struct.pack("<Q", 65) + GOOD[12:],
        "at most 64 LoD levels at byte 4, found 65",
    ),
    "level size": (
        GOOD[:12] + struct.pack("<Q", 2**40) + GOOD[20:],
        "a LoD level of at most 62 bytes, a multiple of 8 at byte 12, found 1099511627776",
    ),
    "level of 3 bytes": (GOOD[:12] + struct.pack("<Q", 3) + GOOD[20:], "found 3 bytes"),
    "offsets": (by_hand(5, [2, 3], bytes(24), [(0, 3)]), "a LoD that fits the rows at byte 0"),
    "huge offset": (by_hand(5, [2, 3], bytes(24), [(0, 2**63)]), "LoD offsets at byte 12"),
    "second version": (
        GOOD[:44] + b"\7" + GOOD[45:],
        "a tensor's values of version 0 at byte 44, found version 7",
    ),
    "description": (
        GOOD[:48] + struct.pack("<i", -1) + GOOD[52:],
        "a description of 1 to 1024 bytes at byte 48, found -1",
    ),
    "field": (GOOD[:52] + b"\x0f" + GOOD[53:], "at byte 52, found the encoding 7"),
    "no type": (by_hand(5, [], b"")[:20] + b"\x10\x01", "an element type at byte 20, found none"),
    "type": (by_hand(99, [1], bytes(4)), "an element type, one of .* at byte 20, found 99"),
    "size": (
        struct.pack("<IQIi", 0, 0, 0, 12) + b"\x08\x05\x10" + b"\xff" * 8 + b"\x7f",
        "the sizes of an array at byte 20",
    ),
    "many values": (
        by_hand(5, [100, 100, 100], bytes(24)),
        r"the values of a tensor of shape \[100, 100, 100\] \(4000000 bytes\) at byte 28",
    ),
    "cut": (GOOD[:-1], r"\[2, 3\] \(24 bytes\) at byte 58, found the end of the file after 23"),
}


@pytest.mark.parametrize("data, message", WRONG.values(), ids=WRONG)
def test_bytes_that_are_no_tensor_are_refused_at_their_place(data, message):
    with pytest.raises(FileFormatError, match=f"file: expected {message}|file: .*{message}"):
        read(data)


def test_rows_that_are_none_are_refused_at_their_place():
    for data, message in (
        (struct.pack("<IQ", 0, 2**50), "expected at most 0 rows at byte 4"),
        (struct.pack("<IQqq", 0, 1, 9, 3) + GOOD[44:], "rows of a tensor at byte 0"),
        (struct.pack("<IQqq", 0, 1, 1, 3) + by_hand(5, [], bytes(4))[12:], "rows of a tensor"),
    ):
        with pytest.raises(FileFormatError, match=message):
            read(data, read_rows)


def test_every_beginning_of_a_tensor_is_refused():
    for size in range(len(GOOD)):
        with pytest.raises(FileFormatError):
            read(GOOD[:size])


def test_values_that_files_have_no_room_for_are_refused():
    with pytest.raises(DTypeError, match="variable 'x' holds uint16"):
        written(np.zeros(2, "uint16"))
    with pytest.raises(ArgumentError, match="it holds LoDTensorArray"):
        written(LoDTensorArray([np.zeros(1)]))
