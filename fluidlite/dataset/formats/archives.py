"""Files within archives."""

from __future__ import annotations

import os
import tarfile

from ...errors import FileFormatError
from ...ground.files import Path, file_error, usable_path
from ...ground.public_names import list_public_names


def archive(path: Path) -> tarfile.TarFile:
    """The archive of a set, to be read.

    Raises:
        FileError: it cannot be read.
        FileFormatError: it is no archive.
    """
    try:
        return tarfile.open(usable_path("read", path))
    except OSError as error:
        raise file_error("read", path, error) from error
    except tarfile.TarError as error:
        raise FileFormatError(f"{os.fspath(path)}: expected an archive of tar's") from error


def lines_of(path: Path, name: str) -> list[bytes]:
    """The lines of a file in an archive.

    Args:
        path: of the archive.
        name: how the name of the file in it ends.

    Raises:
        FileError: the archive cannot be read.
        FileFormatError: it is none, or has no such file.
    """
    with archive(path) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith(name) else None
            if file is not None:
                return file.readlines()
    raise FileFormatError(f"{os.fspath(path)}: expected an archive with a file {name}")


list_public_names(globals())
