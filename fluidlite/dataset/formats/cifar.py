"""Small colored pictures in archives of pickles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import FileFormatError
from ...ground.files import Source
from ...ground.public_names import list_public_names
from ...proto.pickled import read_pickle
from .archives import archive


def pictures(path: str, part: str) -> Iterator[tuple[Any, int]]:
    """Pictures, uint8 [3072], and their classes.

    Args:
        path: of the archive.
        part: what the names of the batches contain.

    Raises:
        FileError: it cannot be read.
        FileFormatError: it is none, or holds something else.
    """
    with archive(path) as tar:
        for member in tar:
            file = tar.extractfile(member) if part in member.name else None
            if file is not None:
                batch = read_pickle(Source.of(file.read(), path))
                try:
                    held = {_text(key): value for key, value in batch.items()}
                    labels = held["labels"] if "labels" in held else held["fine_labels"]
                    yield from ((row, int(label)) for row, label in zip(held["data"], labels))
                except (AttributeError, KeyError, TypeError) as error:
                    raise FileFormatError(
                        f"{path}: expected data and labels in {member.name}: {error!r}"
                    ) from error


def _text(key: Any) -> Any:
    return key.decode() if isinstance(key, bytes) else key


list_public_names(globals())
