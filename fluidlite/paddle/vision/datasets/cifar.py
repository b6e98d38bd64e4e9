"""Small colored pictures of 10 or 100 kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ....dataset.formats.cifar import pictures
from ....ground.tracebacks import api_boundaries
from ...text.datasets.local import file_of, part_of
from .pictured import SET, PicturedSet

__all__: list[str] = []


@SET
class Cifar10(PicturedSet):
    """Colored pictures of 32x32 pixels, of 10 kinds.

    Args:
        mode: "train" or "test".
    """

    _file: ClassVar[str] = "cifar-10-python.tar.gz"
    _parts: ClassVar[dict[str, str]] = {"train": "data_batch", "test": "test_batch"}

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(transform, backend)
        self.mode = part_of(mode, "train", "test")
        self.data_file = file_of(data_file, "cifar", self._file)
        self.data = list(pictures(self.data_file, self._parts[self.mode]))

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        pixels, label = self.data[idx]
        picture = pixels.reshape(3, 32, 32).transpose(1, 2, 0)
        return self.transformed(picture), np.array(label, "int64")

    def __len__(self) -> int:
        return len(self.data)


@SET
class Cifar100(Cifar10):
    """Colored pictures of 32x32 pixels, of 100 kinds.

    Args:
        mode: "train" or "test".
    """

    _file: ClassVar[str] = "cifar-100-python.tar.gz"
    _parts: ClassVar[dict[str, str]] = {"train": "train", "test": "test"}


api_boundaries(globals())
