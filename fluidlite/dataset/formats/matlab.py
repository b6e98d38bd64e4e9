"""Matrices of numbers in MATLAB files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import FileFormatError
from ...ground.files import read_bytes
from ...ground.public_names import list_public_names


def matrix(path: str, name: str) -> Any:
    """A matrix of numbers in a MATLAB file (level 5).

    Args:
        path: the file.
        name: of the matrix.

    Raises:
        FileError: it cannot be read.
        FileFormatError: it is no such file, or holds no such matrix.

    The MathWorks: MAT-File Format, version 5.
    """
    data = read_bytes(path)
    if data[126:128] not in (b"IM", b"MI"):
        raise FileFormatError(f"{path}: expected a MATLAB file of level 5")
    order = "<" if data[126:128] == b"IM" else ">"
    for kind, content in _elements(data[128:], order):
        if kind == 15:
            (found,) = _elements(zlib.decompress(content), order)
            kind, content = found
        if kind == 14:
            _, sizes, title, values, *_ = [*_elements(content, order), (0, b""), (0, b"")]
            if title[1].decode() == name:
                numbers = np.frombuffer(values[1], order + _KINDS[values[0]])
                shape = struct.unpack(f"{order}{len(sizes[1]) // 4}i", sizes[1])
                return numbers.reshape(shape, order="F")
    raise FileFormatError(f"{path}: expected a matrix {name!r} in it")


_KINDS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The elements of a MATLAB file: kind and content."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # a short one: its size stands in the upper half
            yield kind & 0xFFFF, data[at + 4 : at + 4 + (kind >> 16)]
            at += 8
        else:
            yield kind, data[at + 8 : at + 8 + size]
            at += 8 + size + (0 if kind == 15 else -size % 8)


list_public_names(globals())
