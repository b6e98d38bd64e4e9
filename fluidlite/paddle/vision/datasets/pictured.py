"""Sets of pictures, each with what is on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ....errors import ArgumentError
from ....functions.arithmetic import get_default_dtype
from ....ground.docstrings import Family
from ....ground.fields import from_fields
from ....ground.tracebacks import api_boundaries
from ....readers.datasets import Dataset
from ...text.datasets.local import file_of, part_of
from ..image import checked_backend

__all__: list[str] = []

#: what all sets take
SET = Family(
    {
        "data_file": "the archive of the set; one in ``~/.cache/paddle/dataset`` when None.",
        "mode": "which part of it.",
        "transform": "what is made of each picture; nothing when None.",
        "download": "accepted: nothing is downloaded.",
        "backend": 'what pictures are: "pil" for images of Pillow, "cv2" for arrays; as '
        "``set_image_backend`` says when None.",
    },
    raises="ArgumentError: there is no such part, or no such backend.\nFileError: the file is "
    "missing; it says where it belongs.\nFileFormatError: it is another file.",
)


class PicturedSet(Dataset):
    """Pictures, each with what is on it.

    Args:
        transform, backend: as of the sets.
    """

    def __init__(self, transform: Callable[[Any], Any] | None, backend: str | None) -> None:
        self.backend: str | None = checked_backend(backend)
        if self.backend == "tensor":
            raise ArgumentError(f'expected backend to be "pil" or "cv2", got {backend!r}')
        self.transform = transform
        self.dtype = get_default_dtype()

    def begin(self, given: dict[str, Any]) -> None:
        *files, mode, transform, _, backend = given.values()
        PicturedSet.__init__(self, transform, backend)
        self._find(mode, *files)

    def _find(self, mode: str, *files: Any) -> None:
        """Find the samples of a part in files."""
        raise NotImplementedError

    def transformed(self, picture: Any) -> Any:
        """A picture as a sample has it.

        Args:
            picture: an array, or an image of Pillow.
        """
        if self.backend == "pil" and isinstance(picture, np.ndarray):
            from PIL import Image

            picture = Image.fromarray(picture.astype("uint8"))
        elif self.backend == "cv2":
            picture = np.asarray(picture)
        if self.transform is not None:
            picture = self.transform(picture)
        return picture if self.backend == "pil" else picture.astype(self.dtype)


@from_fields
class ArchiveSet(PicturedSet):
    """Pictures of one archive."""

    _home: ClassVar[tuple[str, str]]  #: the folder and the file where it is when no path is given
    _parts: ClassVar[dict[str, str]]  #: mode -> what the archive calls the part

    data_file: str | None = None
    mode: str = "train"
    transform: Callable[[Any], Any] | None = None
    download: bool = True
    backend: str | None = None

    def _find(self, mode: str, *files: Any) -> None:
        self.mode = part_of(mode, *self._parts)
        self.flag = self._parts[self.mode]
        self.data_file = file_of(*files, *self._home)
        self._read(self.data_file)

    def _read(self, archive: str) -> None:
        """Find the samples."""
        raise NotImplementedError


api_boundaries(globals())
