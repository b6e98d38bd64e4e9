"""Tensors as the bytes that fluid's ``save`` writes: LoD, a description, the values; and rows.

All numbers are little endian.  A combined file is such tensors one after the other; it holds no
names.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

import numpy as np

from ..errors import ArgumentError, DTypeError, FluidError
from ..ground.brain_float import is_bfloat16, of_bits
from ..ground.files import LARGEST, Source, excerpt
from ..ground.values import Lod, LoDTensor, SelectedRows, checked_offsets
from .wire import MESSAGE_CLASSES, Bytes, read, write

#: number of an element type in files -> NumPy's; these are fluid 1.8's and Paddle 2's
ELEMENT_TYPES: dict[int, np.dtype[Any]] = {
    0: np.dtype("bool"),
    1: np.dtype("int16"),
    2: np.dtype("int32"),
    3: np.dtype("int64"),
    4: np.dtype("float16"),
    5: np.dtype("float32"),
    6: np.dtype("float64"),
    19: np.dtype("uint64"),
    20: np.dtype("uint8"),
    21: np.dtype("int8"),
    23: np.dtype("complex64"),
    24: np.dtype("complex128"),
}
BFLOAT16 = 22  #: read as float32 where NumPy has no such type
_NUMBERS = {dtype: number for number, dtype in ELEMENT_TYPES.items()}
_LONGEST = 1024  # bytes of a description
_LEVELS = 64  # of a LoD
_CHUNK = 1 << 24  # bytes that are converted at once


def read_tensor(source: Source) -> Any:
    """The next tensor of a file.

    Returns:
        an array, or a LoDTensor where its rows form sequences.

    Raises:
        FileFormatError: there is none.
    """
    start = source.position
    _check_version(source, "a tensor")
    levels = source.number("Q", "the number of LoD levels")
    if levels > _LEVELS:
        source.fail(f"at most {_LEVELS} LoD levels", str(levels), start + 4)
    lod = [_read_level(source) for _ in range(levels)]
    data = _read_array(source)
    if not lod:
        return data
    try:
        offsets = checked_offsets(lod, data.shape[0] if data.ndim else 0)
    except FluidError:
        source.fail("a LoD that fits the rows", "another one", start)
    return LoDTensor(data, offsets)


def read_rows(source: Source) -> SelectedRows:
    """The next SelectedRows of a file.

    Raises:
        FileFormatError: there are none.
    """
    start = source.position
    _check_version(source, "rows")
    count = source.number("Q", "the number of rows")
    if count > source.left // 8:
        source.fail(f"at most {source.left // 8} rows", str(count), start + 4)
    rows = source.array(np.dtype("<i8"), (count,), "the numbers of the rows")
    height = source.number("q", "the height")
    value = _read_array(source)
    try:
        if value.ndim < 1:
            raise ArgumentError("the tensor of the rows has no dimension")
        return SelectedRows(rows, height, value)
    except FluidError:
        source.fail("rows of a tensor", "something else", start)


def _check_version(source: Source, what: str) -> None:
    at = source.position
    version = source.number("I", f"the version of {what}")
    if version:
        source.fail(f"{what} of version 0", f"version {version}", at)


def _read_level(source: Source) -> Any:
    at = source.position
    size = source.number("Q", "the size of a LoD level")
    if size % 8 or size > source.left:
        what = f"a LoD level of at most {source.left} bytes, a multiple of 8"
        source.fail(what, f"{size} bytes", at)
    level = source.array(np.dtype("<u8"), (size // 8,), "the offsets of a LoD level")
    if size and int(level.max()) >= LARGEST:
        source.fail("LoD offsets", str(level.max()), at)
    return level.tolist()


def _read_array(source: Source) -> Any:
    """What follows the LoD: version, description and values."""
    _check_version(source, "a tensor's values")
    at = source.position
    size = source.number("i", "the size of a tensor's description")
    if not 0 < size <= _LONGEST:
        source.fail(f"a description of 1 to {_LONGEST} bytes", str(size), at)
    at = source.position
    number, shape = _described(source.take(size, "a tensor's description"), source.name, at)
    dtype = ELEMENT_TYPES.get(2 if number == BFLOAT16 else number)
    if dtype is None:
        source.fail(f"an element type, one of {sorted(ELEMENT_TYPES)}", str(number), at)
    if number == BFLOAT16:
        bits = np.dtype("<u2")
        return of_bits(source.array(bits, shape, f"the values of a tensor of shape {list(shape)}"))
    return source.array(dtype, shape, f"the values of a tensor of shape {list(shape)}")


def _described(data: bytes, name: str, start: int) -> tuple[int, tuple[int, ...]]:
    """Element type and shape from a message TensorDesc."""
    reader = Bytes(data, name, start, "VarType.TensorDesc")
    desc = read(MESSAGE_CLASSES["VarType.TensorDesc"], reader)
    if not desc.has("data_type") or desc.data_type < 0:
        reader.fail(0, "an element type", "none")
    sizes = desc.dims
    if len(sizes) > 32 or any(not 0 <= n < LARGEST for n in sizes):
        reader.fail(0, "the sizes of an array", excerpt(sizes))
    return desc.data_type, tuple(sizes)


def write_value(file: BinaryIO, value: Any, name: str) -> None:
    """Write a value as fluid's ``save`` does.

    Args:
        file: where to.
        value: an array, a LoDTensor or SelectedRows.
        name: the variable, for messages.

    Raises:
        ArgumentError, DTypeError: files have no room for such a value.
    """
    if isinstance(value, SelectedRows):
        file.write(struct.pack("<IQ", 0, len(value.numbers)))
        file.write(np.ascontiguousarray(value.numbers, "<i8").tobytes())
        file.write(struct.pack("<q", value.height()))
        _write_array(file, value.value, name)
        return
    lod: Lod = ()
    if isinstance(value, LoDTensor):
        value, lod = value.data, value.offsets
    if not isinstance(value, np.ndarray):
        raise ArgumentError(
            f"expected variable {name!r} to hold a tensor or rows, which files have room for; "
            f"it holds {type(value).__name__}"
        )
    file.write(struct.pack("<IQ", 0, len(lod)))
    for level in lod:
        file.write(struct.pack("<Q", 8 * len(level)))
        file.write(np.asarray(level, "<u8").tobytes())
    _write_array(file, value, name)


def _write_array(file: BinaryIO, array: Any, name: str) -> None:
    number = _NUMBERS.get(array.dtype.newbyteorder("="))
    if is_bfloat16(array.dtype):
        array, number = array.view("uint16"), BFLOAT16
    if number is None:
        raise DTypeError(
            f"variable {name!r} holds {array.dtype}, which files have no room for; cast it to "
            f"one of {', '.join(map(str, ELEMENT_TYPES.values()))}"
        )
    desc = write(MESSAGE_CLASSES["VarType.TensorDesc"](data_type=number, dims=array.shape))
    file.write(struct.pack("<Ii", 0, len(desc)) + desc)
    write_array(file, array)


def write_array(file: BinaryIO, array: Any) -> None:
    """Write the numbers of an array, row major and little endian."""
    if array.size:
        if not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        view = memoryview(array.reshape(-1).view("uint8"))
        for start in range(0, len(view), _CHUNK):
            file.write(view[start : start + _CHUNK])
