"""IDX files: arrays of bytes, compressed by gzip."""

from __future__ import annotations

import gzip
import struct
from typing import Any

import numpy as np

from ...errors import FileFormatError
from ...ground.files import read_bytes
from ...ground.public_names import list_public_names


def idx(path: str, magic: int) -> Any:
    """The array of a file.

    Args:
        path: the file.
        magic: the number that it begins with; its last byte is the number of dimensions.

    Raises:
        FileError: it cannot be read.
        FileFormatError: it is no such file, or shorter than it says.
    """
    try:
        data = gzip.decompress(read_bytes(path))
    except (OSError, EOFError) as error:
        raise FileFormatError(f"{path}: expected a file that gzip compressed: {error}") from error
    rank = magic & 0xFF
    if len(data) < 4 * (rank + 1) or struct.unpack(">I", data[:4])[0] != magic:
        raise FileFormatError(f"{path}: expected an IDX file of {rank} dimensions")
    sizes = struct.unpack(f">{rank}I", data[4 : 4 * (rank + 1)])
    count = int(np.prod(sizes, dtype=np.int64))
    if len(data) - 4 * (rank + 1) < count:
        raise FileFormatError(f"{path}: expected {count} bytes of values, the file is shorter")
    return np.frombuffer(data, np.uint8, count, 4 * (rank + 1)).reshape(sizes)


def digits(images: str, labels: str) -> tuple[Any, Any]:
    """Pictures of digits, or of clothes, [n, 28, 28], and what is on each.

    Args:
        images, labels: the files.
    """
    return idx(images, 2051), idx(labels, 2049)


list_public_names(globals())
