"""Files in folders as samples."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ....errors import ArgumentError, FileError
from ....ground.docstrings import Family
from ....ground.files import file_error
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....readers.datasets import Dataset
from ..image import image_load

IMG_EXTENSIONS = (
    ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp",
)  # fmt: skip
_FOLDERS = Family(
    {
        "root": "the folder.",
        "loader": "makes a sample of a path; ``image_load``, with red, green and blue, when None.",
        "extensions": "how names of files end; those of pictures when None.",
        "transform": "what is made of each sample; nothing when None.",
        "is_valid_file": "whether a path is one of a sample, in place of ``extensions``.",
    },
    raises="FileError: there is no such folder, or no such file in it.\n"
    "ArgumentError: there are ``extensions`` and ``is_valid_file``.",
)


def has_valid_extension(filename: str, extensions: Sequence[str]) -> bool:
    """Whether a name ends as one of some endings, in any case.

    Args:
        filename: the name.
        extensions: the endings.

    >>> has_valid_extension("a.JPG", (".jpg", ".png"))
    True
    """
    return filename.lower().endswith(tuple(extensions))


def default_loader(path: str) -> Any:
    """The picture of a file, as ``set_image_backend`` says.

    Args:
        path: of the file.
    """
    picture = image_load(path)
    return picture.convert("RGB") if hasattr(picture, "convert") else picture


def _files(
    root: str, extensions: Sequence[str] | None, is_valid_file: Callable[[str], bool] | None
) -> list[str]:
    """The paths of samples below a folder, in order."""
    if is_valid_file is not None and extensions is not None:
        raise ArgumentError("expected extensions or is_valid_file, got both")
    endings = IMG_EXTENSIONS if extensions is None else tuple(extensions)
    valid = is_valid_file or (lambda path: has_valid_extension(path, endings))
    paths = [
        os.path.join(folder, name)
        for folder, _, names in sorted(os.walk(os.path.expanduser(root), followlinks=True))
        for name in sorted(names)
    ]
    return [path for path in paths if valid(path)]


def _folders(root: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    except OSError as error:
        raise file_error("read", root, error) from error


class _Folder(Dataset):
    """Samples of files below a folder."""

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        self.root = root
        self.transform = transform
        self.loader = default_loader if loader is None else loader
        if extensions is None and is_valid_file is None:
            extensions = IMG_EXTENSIONS
        self.extensions = extensions
        self._list(is_valid_file)
        if not self.samples:
            known = ", ".join(IMG_EXTENSIONS if extensions is None else extensions)
            raise FileError(f"{root}: expected files that end in {known} below it, found none")

    samples: list[Any]

    def _list(self, is_valid_file: Callable[[str], bool] | None) -> None:
        """Find the samples."""
        raise NotImplementedError

    def _sample(self, path: str) -> Any:
        """What is made of a file."""
        sample = self.loader(path)
        return sample if self.transform is None else self.transform(sample)

    def __len__(self) -> int:
        return len(self.samples)


@_FOLDERS
class DatasetFolder(_Folder):
    """The files below a folder, whose folders are classes: a sample, and the number of its class.

    Its ``classes`` are the names, ``class_to_idx`` has their numbers, ``samples`` paths and
    numbers, ``targets`` the numbers.
    """

    def _list(self, is_valid_file: Callable[[str], bool] | None) -> None:
        self.classes = _folders(self.root)
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = [
            (path, number)
            for name, number in self.class_to_idx.items()
            for path in _files(os.path.join(self.root, name), self.extensions, is_valid_file)
        ]
        self.targets = [number for _, number in self.samples]

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, target = self.samples[index]
        return self._sample(path), target


@_FOLDERS
class ImageFolder(_Folder):
    """The files below a folder, each in a list of its own; ``samples`` are their paths."""

    def _list(self, is_valid_file: Callable[[str], bool] | None) -> None:
        _folders(self.root)
        self.samples = _files(self.root, self.extensions, is_valid_file)

    def __getitem__(self, index: int) -> list[Any]:
        return [self._sample(self.samples[index])]


list_public_names(globals())
api_boundaries(globals())
