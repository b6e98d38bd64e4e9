"""Flowers of 102 kinds: float32 [3 * 224 * 224] less the mean colour, and the kind from 0 on."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...errors import FileFormatError
from ...ground.spellings import Spelling
from ...reader import map_readers, xmap_readers
from .homes import archive, fetch, file_of, is_synthetic
from .image import load_image_bytes, simple_transform
from .made import Reader, images

__all__ = ["default_mapper", "fetch", "reader_creator", "test", "train", "valid"]

# The larger part was for testing; 1.8 trains with it.
TRAIN_FLAG, TEST_FLAG, VALID_FLAG = "tstid", "trnid", "valid"
_MADE = 64


def default_mapper(is_train: bool, sample: tuple[bytes, int]) -> tuple[Any, int]:
    """A picture as nets take it.

    Args:
        is_train: whether it is cropped and mirrored by chance.
        sample: a picture's file, and its label.
    """
    content, label = sample
    mean = [103.94, 116.78, 123.68]
    picture = simple_transform(load_image_bytes(content), 256, 224, is_train, mean=mean)
    return picture.flatten().astype("float32"), label


train_mapper: Callable[..., Any] = partial(default_mapper, True)
test_mapper: Callable[..., Any] = partial(default_mapper, False)


def reader_creator(
    data_file: str,
    label_file: str,
    setid_file: str,
    dataset_name: str,
    mapper: Callable[[Any], Any],
    buffered_size: int = 1024,
    use_xmap: bool = True,
    cycle: bool = False,
) -> Reader:
    """A reader of a part of the set.

    Args:
        data_file: the archive of pictures.
        label_file, setid_file: MATLAB files with the kinds, and the numbers of each part.
        dataset_name: of the part.
        mapper: makes a sample of a picture's file and its label.
        buffered_size: how many are made ahead.
        use_xmap: whether several threads make them.
        cycle: whether to begin again at the end, for ever.
    """
    labels = matrix(label_file, "labels").ravel()
    numbers = matrix(setid_file, dataset_name).ravel()
    wanted = {
        f"jpg/image_{number:05d}.jpg": int(labels[number - 1]) for number in map(int, numbers)
    }

    def read() -> Iterator[Any]:
        while True:
            with archive(data_file) as tar:
                for member in tar:
                    file = tar.extractfile(member) if member.name in wanted else None
                    if file is not None:
                        yield file.read(), wanted[member.name] - 1
            if not cycle:
                return

    if use_xmap:
        return xmap_readers(mapper, read, 2, buffered_size)  # type: ignore[return-value]
    return map_readers(mapper, read)  # type: ignore[return-value]


def matrix(path: str, name: str) -> Any:
    """A matrix of numbers in a MATLAB file (level 5).

    Args:
        path: the file.
        name: of the matrix.

    Raises:
        FileFormatError: it is no such file, or holds no such matrix.

    The MathWorks: MAT-File Format, version 5.
    """
    with open(path, "rb") as file:
        data = file.read()
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


def _reader(
    part: str,
    mapper: Callable[[Any], Any],
    buffered_size: int = 1024,
    use_xmap: bool = True,
    cycle: bool = False,
) -> Reader:
    """A reader of samples.

    Args:
        mapper, buffered_size, use_xmap, cycle: as of :func:`reader_creator`.
    """
    if is_synthetic():

        def centred() -> Iterator[Any]:
            for picture, label in images("flowers", part, 3 * 224 * 224, 102, -1.0, _MADE)():
                yield picture * np.float32(120), label

        return centred
    return reader_creator(
        file_of("flowers", "102flowers.tgz"),
        file_of("flowers", "imagelabels.mat"),
        file_of("flowers", "setid.mat"),
        part,
        mapper,
        buffered_size,
        use_xmap,
        cycle,
    )


train, test, valid = (
    Spelling({}, without)(_reader, name, doc, fixed={"part": part}, defaults={"mapper": mapper})
    for name, doc, part, mapper, without in (
        ("train", "A reader of the training samples.", TRAIN_FLAG, train_mapper, ()),
        ("test", "A reader of the test samples.", TEST_FLAG, test_mapper, ()),
        ("valid", "A reader of the samples for validation.", VALID_FLAG, test_mapper, ("cycle",)),
    )
)
