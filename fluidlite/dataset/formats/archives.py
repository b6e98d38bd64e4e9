"""Files within archives."""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ...errors import FileFormatError, FluidError
from ...ground.files import Path, file_error, open_source, usable_path
from ...ground.public_names import list_public_names
from ...ground.reprs import Described

#: what readers of archives raise where these are broken
_WRONG = (
    *(ValueError, LookupError, EOFError, OSError, NotImplementedError, RuntimeError),
    *(tarfile.TarError, zlib.error),
)


@contextmanager
def format_of(path: Path) -> Iterator[None]:
    """A guard for what reads a file, in which whatever goes wrong is an error of its format.

    Args:
        path: of the file.

    Raises:
        FileFormatError: it does not hold what it should.
    """
    try:
        yield
    except FluidError:
        raise
    except _WRONG as error:
        why = f"{type(error).__name__}: {error}"
        message = f"{os.fspath(path)}: expected the file of the set, something is wrong ({why})"
        raise FileFormatError(message) from error


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


class Members(Described):
    """Files of an archive, by their names.

    Those of an archive that is not compressed are read at their use, in each process by
    itself; others are held.

    Args:
        path: of the archive.
        names: of the files.

    Raises:
        FileError: the archive cannot be read.
        FileFormatError: it is none, or a file is not in it.
    """

    def __init__(self, path: str, names: Iterable[str]) -> None:
        wanted = set(names)
        self._path = path
        self._held: dict[str, bytes | tuple[int, int]] = {}
        with archive(path) as tar:
            plain = type(tar.fileobj).__module__ in ("io", "_io")
            for member in tar:
                if member.name in wanted and member.isreg():
                    file = None if plain else tar.extractfile(member)
                    place = (member.offset_data, member.size)
                    self._held[member.name] = place if file is None else file.read()
        missing = sorted(wanted - {*self._held})
        if missing:
            raise FileFormatError(f"{os.fspath(path)}: expected {missing[0]} in the archive")

    def __getitem__(self, name: str) -> bytes:
        held = self._held[name]
        if isinstance(held, bytes):
            return held
        with open_source(self._path) as source:
            source.skip_to(held[0], name)
            return source.take(held[1], name)


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
