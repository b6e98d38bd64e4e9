"""Flowers of 102 kinds: float32 [3 * 224 * 224] less the mean colour, and the kind from 0 on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...dataset.formats.matlab import matrix as matrix
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
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


api_boundaries(globals())
