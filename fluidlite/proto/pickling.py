"""Writing pickles of plain data and arrays as fluid 1.8 does: protocol 2, for Python 2 and 3."""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from ..errors import ArgumentError, DTypeError
from ..ground.brain_float import is_bfloat16

_BATCH = 1000  # items that are put into a container at once
_CHUNK = 1 << 22
_LONGEST = (1 << 32) - 1
_MAKE_ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n"
_MAKE_SCALAR = b"cnumpy.core.multiarray\nscalar\n"


def write_pickle(file: BinaryIO, value: Any) -> None:
    """Write plain data as a pickle.

    Args:
        file: where to.
        value: dictionaries, lists, tuples, texts, numbers, None, arrays of numbers, and sets.

    Raises:
        ArgumentError, DTypeError: there is something else in it.
    """
    file.write(b"\x80\x02")
    _Writer(file).value(value)
    file.write(b".")


class _Writer:
    """Writes the instructions; what was written before is referred to."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.numbers: dict[Any, int] = {}  # what was written -> its number
        self.count = 0
        self.kept: list[Any] = []  # so that no other object gets the identity of one

    def write(self, data: bytes) -> None:
        self.file.write(data)

    def remember(self, key: Any = None) -> None:
        """Give what was written last a number."""
        number = self.count
        self.count += 1
        self.write(bytes([0x71, number]) if number < 256 else struct.pack("<BI", 0x72, number))
        if key is not None:
            self.numbers[key] = number

    def again(self, key: Any) -> bool:
        """Refer to what was written before; whether there is something."""
        number = self.numbers.get(key)
        if number is None:
            return False
        self.write(bytes([0x68, number]) if number < 256 else struct.pack("<BI", 0x6A, number))
        return True

    def value(self, value: Any) -> None:
        if value is None:
            self.write(b"N")
        elif isinstance(value, np.generic) and value.dtype.kind in "biufc":
            self.scalar(value)
        elif isinstance(value, bool):
            self.write(b"\x88" if value else b"\x89")
        elif isinstance(value, int):
            self.integer(int(value))
        elif isinstance(value, (float, np.generic)):  # bfloat16 has no name in NumPy
            self.write(b"G" + struct.pack(">d", float(value)))
        elif isinstance(value, complex):
            self.function(b"c__builtin__\ncomplex\n")
            self.write(b"G" + struct.pack(">d", value.real))
            self.write(b"G" + struct.pack(">d", value.imag))
            self.write(b"\x86R")
        elif isinstance(value, str):
            self.text(value)
        elif isinstance(value, np.ndarray):
            self.array(value)
        elif isinstance(value, Mapping):
            self.mapping(value)
        elif isinstance(value, (list, tuple)):
            self.sequence(value)
        elif isinstance(value, set):
            self.function(b"c__builtin__\nset\n")
            self.sequence(list(value))
            self.write(b"\x85R")
            self.remember()
        else:
            raise ArgumentError(
                f"expected arrays, texts, numbers, and dictionaries or lists of them to write, "
                f"got {type(value).__name__}"
            )

    def integer(self, value: int) -> None:
        if 0 <= value < 256:
            self.write(bytes([0x4B, value]))
        elif 0 <= value < 65536:
            self.write(struct.pack("<BH", 0x4D, value))
        elif -(1 << 31) <= value < 1 << 31:
            self.write(struct.pack("<Bi", 0x4A, value))
        else:
            raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            if len(raw) > 255:
                raise ArgumentError(f"expected an integer of at most 255 bytes, got {len(raw)}")
            self.write(bytes([0x8A, len(raw)]) + raw)

    def text(self, value: str) -> None:
        if self.again(value):
            return
        raw = value.encode("utf-8", "surrogatepass")
        self.write(struct.pack("<BI", 0x58, len(raw)) + raw)
        self.remember(value)

    def mapping(self, value: Mapping[Any, Any]) -> None:
        if isinstance(value, OrderedDict):
            self.function(b"ccollections\nOrderedDict\n")
            self.write(b")R")
        else:
            self.write(b"}")
        self.remember()
        items = list(value.items())
        for start in range(0, len(items), _BATCH):
            batch = items[start : start + _BATCH]
            self.write(b"(" if len(batch) > 1 else b"")
            for key, each in batch:
                self.value(key)
                self.value(each)
            self.write(b"u" if len(batch) > 1 else b"s")

    def sequence(self, value: list[Any] | tuple[Any, ...]) -> None:
        if isinstance(value, list):
            self.write(b"]")
            self.remember()
            for start in range(0, len(value), _BATCH):
                batch = value[start : start + _BATCH]
                self.write(b"(" if len(batch) > 1 else b"")
                for element in batch:
                    self.value(element)
                self.write(b"e" if len(batch) > 1 else b"a")
            return
        if not value:
            self.write(b")")
            return
        self.write(b"(" if len(value) > 3 else b"")
        for element in value:
            self.value(element)
        self.write(bytes([0x84 + len(value)]) if len(value) <= 3 else b"t")
        self.remember()

    # -- arrays ----------------------------------------------------------------------------------

    def function(self, line: bytes) -> None:
        if not self.again(line):
            self.write(line)
            self.remember(line)

    def scalar(self, value: np.generic) -> None:
        """A number of NumPy's, which keeps its type."""
        self.function(_MAKE_SCALAR)
        self.element(value.dtype)
        self.raw(value.tobytes())
        self.write(b"\x86R")
        self.remember()

    def array(self, value: Any) -> None:
        """An array as NumPy 1 describes it."""
        key = ("array", id(value))
        if self.again(key):
            return
        self.kept.append(value)
        if is_bfloat16(value.dtype):  # as paddle has it
            value = value.view("uint16")
            self.kept.append(value)
        if value.dtype.kind not in "biufc":
            raise DTypeError(f"expected arrays of numbers to write, got one of {value.dtype}")
        self.function(_MAKE_ARRAY)
        self.function(b"cnumpy\nndarray\n")
        self.write(b"K\x00\x85")
        self.remember()
        if not self.again(b"b"):
            self.function(b"c_codecs\nencode\n")
            self.text("b")
            self.encoded(b"b")
        self.write(b"\x87")
        self.remember()
        self.write(b"R")
        self.remember(key)
        self.write(b"(K\x01")
        self.sequence(value.shape)
        self.element(value.dtype)
        self.write(b"\x89")
        self.raw(np.ascontiguousarray(value).reshape(-1).view("uint8").data)
        self.write(b"t")
        self.remember()
        self.write(b"b")

    def element(self, dtype: np.dtype[Any]) -> None:
        """An element type."""
        key = ("dtype", dtype.str)
        if self.again(key):
            return
        self.function(b"cnumpy\ndtype\n")
        self.text(dtype.str[1:])
        self.write(b"\x89\x88\x87")
        self.remember()
        self.write(b"R")
        self.remember(key)
        self.write(b"(K\x03")
        self.text(dtype.str[0])
        self.write(b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t")
        self.remember()
        self.write(b"b")

    def raw(self, data: bytes | memoryview) -> None:
        """Bytes, written as a text of as many characters: protocol 2 has nothing else."""
        size = len(data)
        more = sum(
            int(np.count_nonzero(np.frombuffer(data[i : i + _CHUNK], "uint8") & 0x80))
            for i in range(0, size, _CHUNK)
        )
        if not size:
            if not self.again(b""):
                self.function(b"c__builtin__\nbytes\n")
                self.write(b")R")
                self.remember(b"")
            return
        if size + more > _LONGEST:
            raise ArgumentError(
                f"an array of {size} bytes is more than a file of this kind has room for; save it "
                "with save_persistables, or with fluidlite.checkpoint"
            )
        self.function(b"c_codecs\nencode\n")
        self.write(struct.pack("<BI", 0x58, size + more))
        for i in range(0, size, _CHUNK):
            self.write(str(data[i : i + _CHUNK], "latin-1").encode("utf-8"))
        self.remember()
        self.encoded()

    def encoded(self, key: Any = None) -> None:
        """Turn the text that was written last into bytes."""
        self.text("latin1")
        self.write(b"\x86")
        self.remember()
        self.write(b"R")
        self.remember(key)
