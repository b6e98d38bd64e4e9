"""Flowers of 102 kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dataset.formats.archives import Members
from ....dataset.formats.matlab import matrix
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ...text.datasets.local import file_of, part_of
from ..image import opened
from .pictured import SET, PicturedSet

_PARTS = {"train": "tstid", "test": "trnid", "valid": "valid"}  # more for training, as in paddle
_NAME = "jpg/image_{:05d}.jpg"


@SET
@from_fields
class Flowers(PicturedSet):
    """Flowers of 102 kinds, and the kind from 1 on.

    Args:
        label_file, setid_file: MATLAB files with the kinds and the numbers of each part; those in
            ``~/.cache/paddle/dataset`` when None.
        mode: "train", "test" or "valid".
    """

    data_file: str | None = None
    label_file: str | None = None
    setid_file: str | None = None
    mode: str = "train"
    transform: Callable[[Any], Any] | None = None
    download: bool = True
    backend: str | None = None

    def _find(self, mode: str, *files: Any) -> None:
        data_file, label_file, setid_file = files
        part = _PARTS[part_of(mode, *_PARTS)]
        self.data_file = file_of(data_file, "flowers", "102flowers.tgz")
        self.labels = matrix(file_of(label_file, "flowers", "imagelabels.mat"), "labels")[0]
        self.indexes = matrix(file_of(setid_file, "flowers", "setid.mat"), part)[0]
        self._members = Members(self.data_file, map(_NAME.format, map(int, self.indexes)))

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        number = int(self.indexes[idx])
        name = _NAME.format(number)
        picture = opened(self._members[name], f"{self.data_file}/{name}")
        return self.transformed(picture), np.array([self.labels[number - 1]], "int64")

    def __len__(self) -> int:
        return len(self.indexes)


list_public_names(globals())
api_boundaries(globals())
