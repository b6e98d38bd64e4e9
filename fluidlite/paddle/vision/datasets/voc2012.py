"""Pictures and, pixel for pixel, what is on them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ....dataset.formats.voc import members_of
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ..image import opened
from .pictured import SET, ArchiveSet


@SET
class VOC2012(ArchiveSet):
    """Pictures and, pixel for pixel, what is on them.

    Args:
        mode: "train", "test" or "valid".
    """

    _home = ("voc2012", "VOCtrainval_11-May-2012.tar")
    _parts: ClassVar[dict[str, str]] = {
        "train": "trainval",
        "test": "train",
        "valid": "val",
    }  # as in paddle

    def _read(self, archive: str) -> None:
        self._members, self._names = members_of(archive, self.flag)

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        picture, label = (
            opened(self._members[name], f"{self.data_file}/{name}") for name in self._names[idx]
        )
        if self.backend == "cv2":
            label = np.asarray(label).astype(self.dtype)
        return self.transformed(picture), label

    def __len__(self) -> int:
        return len(self._names)


list_public_names(globals())
api_boundaries(globals())
