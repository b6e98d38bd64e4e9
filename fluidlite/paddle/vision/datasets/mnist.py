"""Handwritten digits, and clothes in the same form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ....dataset.formats.idx import digits
from ....errors import FileFormatError
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ...text.datasets.local import file_of, part_of
from .pictured import SET, PicturedSet


@SET
@from_fields
class MNIST(PicturedSet):
    """Handwritten digits of 28x28 pixels, and the digit.

    Args:
        image_path, label_path: the files; those in ``~/.cache/paddle/dataset`` when None.
        mode: "train" or "test".
    """

    NAME: ClassVar[str] = "mnist"
    URL_PREFIX: ClassVar[str]

    image_path: str | None = None
    label_path: str | None = None
    mode: str = "train"
    transform: Callable[[Any], Any] | None = None
    download: bool = True
    backend: str | None = None

    def _find(self, mode: str, *files: Any) -> None:
        self.mode = part_of(mode, "train", "test")
        part = "train" if self.mode == "train" else "t10k"
        self.image_path, self.label_path = (
            file_of(file, self.NAME, f"{part}-{what}-ubyte.gz")
            for file, what in zip(files, ("images-idx3", "labels-idx1"))
        )
        self.images, self.labels = digits(self.image_path, self.label_path)
        if len(self.images) != len(self.labels):
            raise FileFormatError(
                f"{self.label_path}: expected {len(self.images)} labels, got {len(self.labels)}"
            )

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        picture = self.images[idx].astype("float32")
        return self.transformed(picture), np.array([self.labels[idx]], "int64")

    def __len__(self) -> int:
        return len(self.labels)


@SET.like(MNIST)
class FashionMNIST(MNIST):
    """Clothes of 28x28 pixels, and their kind."""

    NAME: ClassVar[str] = "fashion-mnist"


#: MD5 digests of pictures and labels for testing, and of those for training
_DIGESTS = {
    MNIST: (
        "9fb629c4189551a2d022fa330f9573f3 ec29112dd5afa0611ce80d1b7f02629c "
        "f68b3c2dcbeaaa9fbdd348bbdeb94873 d53e105ee54ea40749a09fcbcd1e9432"
    ),
    FashionMNIST: (
        "bef4ecab320f06d8554ea6380940ec79 bb300cfdad3c16e7a12a480ee83cd310 "
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d 25c81989df183df01b3e8a0aad5dffbe"
    ),
}
_FILES = {
    "TEST_IMAGE": "t10k-images-idx3-ubyte.gz",
    "TEST_LABEL": "t10k-labels-idx1-ubyte.gz",
    "TRAIN_IMAGE": "train-images-idx3-ubyte.gz",
    "TRAIN_LABEL": "train-labels-idx1-ubyte.gz",
}
for _kind, _digests in _DIGESTS.items():  # what paddle's classes say of where it fetches the files
    _prefix = f"https://dataset.bj.bcebos.com/{_kind.NAME.replace('-', '_')}/"
    _kind.URL_PREFIX = _prefix
    for (_part, _file), _digest in zip(_FILES.items(), _digests.split()):
        setattr(_kind, f"{_part}_URL", f"{_prefix}{_file}")
        setattr(_kind, f"{_part}_MD5", _digest)

list_public_names(globals())
api_boundaries(globals())
