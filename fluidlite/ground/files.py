"""Files: read within their length, written beside their target and put in its place when whole.

Everything that fluidlite reads goes through a :class:`Source`, everything that it writes through a
:class:`Transaction`.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import stat
import struct
import time
from collections.abc import Iterator, Sequence
from math import prod
from types import TracebackType
from typing import Any, BinaryIO, NoReturn

import numpy as np

from ..errors import ArgumentError, FileError, FileFormatError, MissingFileError

Path = str | os.PathLike[str]

#: files that a killed process left behind are removed when they are older (in seconds)
STALE = 3600
_SENT = 1 << 24  # bytes that are sent to the disk at once
#: the sizes that one dimension, and all together, may have; larger ones are nonsense
LARGEST = 2**62
_WIDEST = 16  # bytes of an element
_SUFFIX = ".partial"
#: how much of a file an error shows, in bytes
_SHOWN = 16
_QUOTED = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)  # Windows asks for it
_WHY = {
    errno.ENOENT: "there is no such file or folder; check the path",
    errno.EACCES: "the rights do not allow it; change them, or use another folder",
    errno.EPERM: "the rights do not allow it; change them, or use another folder",
    errno.EROFS: "the file system is read-only; use another folder",
    errno.ENOSPC: "the disk is full; free some space, or use another folder",
    errno.EDQUOT: "the quota is used up; free some space, or use another folder",
    errno.EFBIG: "the file would be larger than is allowed here; raise the limit, or split it",
    errno.EISDIR: "it is a folder, not a file; give the path of a file",
    errno.ENOTDIR: "a part of the path is a file, not a folder; check the path",
    errno.EEXIST: "it is there already, and is no folder; use another path",
    errno.ENAMETOOLONG: "the name is too long; use a shorter one",
}


def file_error(what: str, path: Path, error: OSError) -> FileError:
    """The error that says what could not be done with a file, why, and what to do.

    Args:
        what: such as "read" or "write".
        path: the file.
        error: what the system said.
    """
    why = _WHY.get(error.errno or 0, error.strerror or str(error))
    kind = MissingFileError if error.errno == errno.ENOENT else FileError
    made = kind(f"cannot {what} {os.fspath(path)}: {why}")
    made.errno = error.errno
    return made


def missing_file(path: Path, why: str = _WHY[errno.ENOENT]) -> MissingFileError:
    """The error that a file to read does not exist, with the system's number of it.

    Args:
        path: the file.
        why: what is missing, and what to do.
    """
    error = MissingFileError(f"cannot read {os.fspath(path)}: {why}")
    error.errno = errno.ENOENT
    return error


def usable_path(what: str, path: Path) -> str:
    """A path that a file can have, as a text.

    Args:
        what: what is to be done with it, such as "read" or "write".
        path: the path.

    Raises:
        FileError: no file can have it: it holds a zero byte, or what file names have no room for.
        ArgumentError: it is no path.
    """
    try:
        text = os.fsdecode(path)
        encoded = os.fsencode(text)
    except UnicodeError as error:
        raise FileError(f"cannot {what} {path!r}: no file can have this name ({error})") from error
    except TypeError as error:
        raise ArgumentError(f"expected a path to {what}, got {path!r:.60}") from error
    if b"\0" in encoded:
        raise FileError(f"cannot {what} {text!r}: a path holds no zero byte; check it")
    return text


def excerpt(content: Any) -> str:
    """What an error shows of a file: its first 16 bytes, quoted but for numbers.

    Args:
        content: text or bytes from the file, or data that stand in it.

    >>> excerpt("short"), excerpt(b"rather more than an error shows"), excerpt(3)
    ("'short'", "'rather more than...'", '3')
    """
    if isinstance(content, (int, float)):
        return repr(content)[:_SHOWN]
    text = content.decode("latin-1") if isinstance(content, bytes) else str(content)
    shown = text.encode("utf-8", "surrogatepass")[:_SHOWN].decode("utf-8", "ignore")
    return repr(shown if len(shown) == len(text) else f"{shown}...")


def with_short_quotes(message: str) -> str:
    """An error's first line, with no more of a file's text in quotes than an error shows."""
    return _QUOTED.sub(lambda found: _shortened(found[0]), message.partition("\n")[0])


def _shortened(quoted: str) -> str:
    return quoted if len(quoted) <= _SHOWN + 2 else f"{quoted[: _SHOWN + 1]}...{quoted[-1]}"


class Source:
    """Bytes that are read from front to back; never more than there are.

    Args:
        file: where they come from, at its begin.
        size: how many there are.
        name: what messages call them: the path of a file.
    """

    def __init__(self, file: BinaryIO, size: int, name: str) -> None:
        self._file = file
        self.size = size
        self.name = name
        self.position: int = 0

    @classmethod
    def of(cls, data: bytes, name: str) -> Source:
        """A source of bytes in memory."""
        return cls(io.BytesIO(data), len(data), name)

    @property
    def left(self) -> int:
        """How many bytes follow."""
        return self.size - self.position

    def fail(self, expected: str, found: str, at: int | None = None) -> NoReturn:
        """Refuse the file.

        Args:
            expected, found: what should be there, and what is.
            at: the byte; the current position when None.
        """
        at = self.position if at is None else at
        raise FileFormatError(f"{self.name}: expected {expected} at byte {at}, found {found}")

    def need(self, count: int, what: str) -> None:
        """Refuse the file if fewer bytes follow than ``what`` takes."""
        if count > self.left:
            self.fail(f"{what} ({count} bytes)", f"the end of the file after {self.left} bytes")

    def skip_to(self, position: int, what: str) -> None:
        """Go on at another byte; refuse the file if it has none there."""
        if not 0 <= position <= self.size:
            self.fail(f"{what} at byte {position}", f"a file of {self.size} bytes")
        try:
            self._file.seek(position)
        except OSError as error:
            raise file_error("read", self.name, error) from error
        self.position = position

    def take(self, count: int, what: str) -> bytes:
        """The next bytes.

        Args:
            count: how many.
            what: what they are, for the message.

        Raises:
            FileFormatError: there are fewer.
        """
        self.need(count, what)
        try:
            data = self._file.read(count)
        except OSError as error:
            raise file_error("read", self.name, error) from error
        if len(data) != count:
            self.fail(f"{what} ({count} bytes)", f"only {len(data)}: the file is being changed")
        self.position += count
        return data

    def number(self, form: str, what: str) -> Any:
        """The next number, little endian; ``form`` is a letter of ``struct``."""
        form = "<" + form
        return struct.unpack(form, self.take(struct.calcsize(form), what))[0]

    def rest(self, what: str) -> bytes:
        """All bytes that follow."""
        return self.take(self.left, what)

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...], what: str) -> Any:
        """The next array, row major.

        Args:
            dtype: its element type; little endian where it says nothing else.
            shape: its sizes; what they ask for is compared with what is there before anything is
                allocated.
            what: what it is, for the message.
        """
        count = 1
        for n in shape:
            count *= n
        self.need(count * dtype.itemsize, what)
        array = empty(shape, dtype)
        if array is None:
            self.fail(f"the sizes of {what}", f"{list(shape)}, more than an array can have")
        view = memoryview(array.reshape(-1).view("uint8")) if count else memoryview(b"")
        done = 0
        while done < len(view):
            try:
                got = self._file.readinto(view[done:])  # type: ignore[attr-defined]
            except OSError as error:
                raise file_error("read", self.name, error) from error
            if not got:
                self.fail(what, f"only {done} bytes of it: the file is being changed")
            done += got
        self.position += done
        return array if _LITTLE or dtype.byteorder != "=" else array.byteswap()


_LITTLE = np.dtype("<i4").isnative


def are_sizes(shape: Sequence[int]) -> bool:
    """Whether an array of any element type can have such sizes: a size of zero hides no others."""
    most = LARGEST // _WIDEST
    return len(shape) <= 32 and all(n >= 0 for n in shape) and prod(max(n, 1) for n in shape) < most


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """An array of any values; None when the sizes are more than an array can have."""
    return np.empty(shape, dtype) if are_sizes(shape) else None


@contextlib.contextmanager
def open_source(path: Path) -> Iterator[Source]:
    """The bytes of a file.

    Raises:
        FileError: it cannot be read, or is no ordinary file.
    """
    path = usable_path("read", path)
    try:
        file = open(path, "rb", buffering=0, opener=_at_once)  # noqa: SIM115
    except OSError as error:
        raise file_error("read", path, error) from error
    with file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode):
            raise FileError(f"cannot read {path}: it is no ordinary file")
        yield Source(file, info.st_size, path)


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for who writes to it: a pipe is refused, not waited for."""
    return os.open(path, flags | _NONBLOCK)


def read_bytes(path: Path) -> bytes:
    """All bytes of a file.

    Raises:
        FileError: it cannot be read.
    """
    with open_source(path) as source:
        return source.rest("the file")


def read_text(path: Path) -> str:
    """The text of a file in UTF-8.

    Raises:
        FileError: it cannot be read.
        FileFormatError: it holds something else; says where.
    """
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{os.fspath(path)}: expected UTF-8 at byte {error.start}, found "
            f"{data[error.start]:#04x}"
        ) from error


def write_text(path: Path, text: str, errors: str = "strict") -> None:
    """Write a text as UTF-8; folders on the way are made.

    Args:
        path: the file.
        text: what it is to hold.
        errors: what becomes of halves of surrogate pairs, as of ``str.encode``.

    Raises:
        FileError: it cannot be written.
    """
    with Transaction() as files:
        files.write(path, text.encode("utf-8", errors))


def inside(folder: Path, name: str) -> str:
    """The path of a file of a folder.

    Args:
        folder: the folder.
        name: a name from a program; may lie in folders of the folder.

    Raises:
        FileFormatError: the name would lead out of the folder.
    """
    parts = name.replace("\\", "/").split("/") if os.sep == "\\" else name.split("/")
    if not name or "\0" in name or os.path.isabs(name) or {"", ".", ".."} & set(parts):
        raise FileFormatError(
            f"expected the name of a file inside {os.fspath(folder)}, got {name!r}; rename the "
            f"variable, or save all of them in one file: filename=..."
        )
    return os.path.join(folder, *parts)


class Transaction:
    """Files that are written together.

    Each is written beside its target and synced.  At the end of the ``with`` block all of them take
    the places of their targets, one after the other; before that, a failure, or the end of the
    process, leaves everything as it was.  A device or a pipe is written to at once.

    >>> with Transaction() as files, files.open("greeting.txt") as file:
    ...     _ = file.write(b"hello")
    """

    def __init__(self) -> None:
        self._written: list[tuple[str, str]] = []  # partial file, target
        self._made: list[str] = []  # folders that were not there
        self._swept: set[str] = set()

    def __enter__(self) -> Transaction:
        return self

    @contextlib.contextmanager
    def open(self, path: Path) -> Iterator[BinaryIO]:
        """A file to write.

        Args:
            path: where it will be; folders on the way are made.

        Raises:
            FileError: it cannot be written.
        """
        target = os.path.realpath(usable_path("write", path))
        folder, name = os.path.split(target)
        try:
            if os.path.isdir(target):
                raise IsADirectoryError(errno.EISDIR, "is a folder")
            if os.path.exists(path) and not os.path.isfile(path):  # no file may take its place
                with open(path, "wb") as device:
                    yield device
                return
            self._make_folder(folder)
            self._sweep(folder)
            partial = os.path.join(folder, f".{name[:100]}.{os.urandom(6).hex()}{_SUFFIX}")
            self._written.append((partial, target))  # before it is there: an interrupt may come
            number = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
            if os.path.exists(target):
                os.chmod(partial, stat.S_IMODE(os.stat(target).st_mode))
            with os.fdopen(number, "wb", buffering=1 << 20) as file:
                yield _Spoken(file, path)  # type: ignore[misc]
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise file_error("write", path, error) from error

    def write(self, path: Path, data: bytes) -> None:
        """Write a file that holds ``data``."""
        with self.open(path) as file:
            file.write(data)

    def _make_folder(self, folder: str) -> None:
        missing = []
        while not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        for path in reversed(missing):
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.mkdir(path)
                self._made.append(path)
            if not os.path.isdir(path):
                raise NotADirectoryError(errno.ENOTDIR, "is no folder")

    def _sweep(self, folder: str) -> None:
        """Remove what a process that was killed left in a folder."""
        if folder in self._swept:
            return
        self._swept.add(folder)
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if is_partial(entry.name) and entry.stat().st_mtime < time.time() - STALE:
                    os.unlink(entry.path)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._put_in_place()
        finally:
            for partial, _ in self._written:
                with contextlib.suppress(OSError):
                    os.unlink(partial)
            for folder in reversed(self._made):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            for folder in self._swept:
                sync_folder(folder)

    def _put_in_place(self) -> None:
        """Let the files take the places of their targets, by one call of C: an interrupt finds all
        of them old, or all of them new.
        """
        partials, targets = ([pair[k] for pair in self._written] for k in (0, 1))
        try:
            any(map(os.replace, partials, targets))
        except OSError as failure:
            raise file_error("write", failure.filename2 or targets[0], failure) from failure
        self._written.clear()
        self._made.clear()


class _Spoken:
    """A file whose failures name it, and that goes to the disk while more of it is written."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._path = path
        self._sent = self._written = 0

    def write(self, data: Any) -> int:
        try:
            count = self._file.write(data)
            self._written += count
            if self._written - self._sent >= _SENT:
                self._send()
        except OSError as error:
            raise file_error("write", self._path, error) from error
        return count

    def _send(self) -> None:
        """Begin to sync what was written; to wait for all of it at the end takes twice as long."""
        if hasattr(os, "posix_fadvise"):
            self._file.flush()
            size = self._written - self._sent
            os.posix_fadvise(self._file.fileno(), self._sent, size, os.POSIX_FADV_DONTNEED)
            self._sent = self._written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def is_partial(name: str) -> bool:
    """Whether a file is one that was not finished."""
    return name.startswith(".") and name.endswith(_SUFFIX)


def sync_folder(folder: str) -> None:
    """Make the names in a folder outlive a power cut, where the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
