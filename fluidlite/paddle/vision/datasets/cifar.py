"""Small colored pictures of 10 or 100 kinds."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ....dataset.formats.cifar import pictures
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .pictured import SET, ArchiveSet


@SET
class Cifar10(ArchiveSet):
    """Colored pictures of 32x32 pixels, of 10 kinds.

    Args:
        mode: "train" or "test".
    """

    _home = ("cifar", "cifar-10-python.tar.gz")
    _parts: ClassVar[dict[str, str]] = {"train": "data_batch", "test": "test_batch"}

    def _read(self, archive: str) -> None:
        self.data = list(pictures(archive, self.flag))

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        pixels, label = self.data[idx]
        picture = pixels.reshape(3, 32, 32).transpose(1, 2, 0)
        return self.transformed(picture), np.array(label, "int64")

    def __len__(self) -> int:
        return len(self.data)


@SET.like(Cifar10)
class Cifar100(Cifar10):
    """Colored pictures of 32x32 pixels, of 100 kinds."""

    _home = ("cifar", "cifar-100-python.tar.gz")
    _parts: ClassVar[dict[str, str]] = {"train": "train", "test": "test"}


list_public_names(globals())
api_boundaries(globals())
