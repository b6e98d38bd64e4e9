"""Pictures and, pixel for pixel, what is on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dataset.formats.voc import members_of
from ....ground.tracebacks import api_boundaries
from ...text.datasets.local import file_of, part_of
from ..image import opened
from .pictured import SET, PicturedSet

__all__: list[str] = []

_PARTS = {"train": "trainval", "test": "train", "valid": "val"}  # as in paddle


@SET
class VOC2012(PicturedSet):
    """Pictures and, pixel for pixel, what is on them.

    Args:
        mode: "train", "test" or "valid".
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(transform, backend)
        self.flag = _PARTS[part_of(mode, *_PARTS)]
        self.data_file = file_of(data_file, "voc2012", "VOCtrainval_11-May-2012.tar")
        self._members, self._names = members_of(self.data_file, self.flag)

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        picture, label = (
            opened(self._members[name], f"{self.data_file}/{name}") for name in self._names[idx]
        )
        if self.backend == "cv2":
            label = np.asarray(label).astype(self.dtype)
        return self.transformed(picture), label

    def __len__(self) -> int:
        return len(self._names)


api_boundaries(globals())
