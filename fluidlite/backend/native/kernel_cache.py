"""Libraries of kernels, kept on disk.

Beside them are notes, of what took long to find out about programs.

Each kernel is in a file named after its source, the compiler and the processor, which may be the
library of some that were made at once, under one name for each; beside it stands a digest of the
file, so that one that was cut short, or that somebody else wrote, is not loaded.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import blake2b
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...ground.private_folders import is_ours, private_folder
from .kernel import Kernel, opened
from .lazy import lazy

KEPT = 64 << 20  #: bytes of libraries that are kept on disk
NOTES_KEPT, NOTES_BYTES = 400, 16 << 20  #: notes that are kept, and bytes of them
#: parts of the package that decide what notes say
_DECIDING = ("backend", "kernels", "opdef", "ops", "runtime")
MAKING = "making-"  #: begins the names of folders where kernels are made
ABANDONED = 1200  #: seconds after which nobody works in such a folder any more

_CALLS = f"{__package__}.calls"  # read at its first use
_PACKAGE = Path(__file__).parents[2]
#: what is kept, by its name: a library, its digest or a note
_KEPT_NAME = re.compile(r"[0-9a-f]{32}\.(so|sum|note)", re.ASCII)


def place() -> Path:
    """Where libraries are to be kept: ``FLUIDLITE_CACHE``, or the user's cache."""
    said = os.environ.get("FLUIDLITE_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(said) if said else Path(home) / "fluidlite"


class KernelCache:
    """The folder of the libraries.

    Args:
        warn: is called with each fault of it.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        #: libraries that are loaded, by what tells files apart: a kernel's may be that of others
        self._opened: dict[tuple[int, int], tuple[Any, Any]] = {}

    @lazy
    def folder(self) -> Path | None:
        """Where libraries are kept: ``FLUIDLITE_CACHE``, or the user's cache; None where nothing
        can be written that is the user's alone.  A relative path counts from where the process is
        at the first use.
        """
        path = place()
        try:
            if not os.environ.get("FLUIDLITE_CACHE") and not path.is_absolute():
                raise FileNotFoundError("the user has no home folder")
            path = private_folder(path)
        except (OSError, ValueError) as error:  # a path may hold what no path can
            self._warn(f"generated kernels cannot be kept in {path} ({error}); they are not used")
            return None
        _sweep(path)
        return path

    def new_folder(self) -> str:
        """A folder beside the libraries, to make one in.

        Raises:
            OSError: there can be none.
        """
        assert self.folder is not None
        # a TemporaryDirectory would be removed at Python's end, before the compiler is told of it
        around = private_folder(self.folder)  # somebody may have removed it
        name = f"{MAKING}{os.getpid()}-{_processes()}-{os.urandom(8).hex()}"
        made = around / name
        made.mkdir(mode=0o700)
        return str(made)

    def keep(self, library: Path, bases: Iterable[str]) -> None:
        """Put a library to its places.

        Args:
            library: in a new folder.
            bases: of its names, one for each kernel in it.
        """
        assert self.folder is not None
        digest = library.with_suffix(".sum")
        digest.write_text(blake2b(library.read_bytes()).hexdigest(), encoding="ascii")
        # the digest last: a library without one is replaced or removed as any other, while nobody
        # would look for a digest without a library
        for base in bases:
            for file in (library, digest):
                twin = file.with_stem(base)
                try:
                    os.link(file, twin)
                except OSError:  # a file system without links
                    twin.write_bytes(file.read_bytes())
                os.replace(twin, self.folder / twin.name)

    def load(self, base: str, name: str) -> Kernel | None:
        """A kernel from its file; None if there is none that can be trusted.

        Args:
            base: of the file's name.
            name: of the kernel.
        """
        assert self.folder is not None
        library, digest = self.folder / f"{base}.so", self.folder / f"{base}.sum"
        try:
            if not (_is_our_file(library) and _is_our_file(digest)):
                return None
            about = library.stat()
            functions = self._opened.get((about.st_dev, about.st_ino))
            if functions is None:
                said = digest.read_text(encoding="ascii")
                if blake2b(library.read_bytes()).hexdigest() != said:
                    return None
                functions = opened(library)
            if functions is None:
                self._warn("arrays lie in memory in another way than generated kernels expect")
                return None
            self._opened[about.st_dev, about.st_ino] = functions
            os.utime(library)
            return Kernel(*functions, name)
        except (OSError, ValueError, AttributeError):
            return None

    def noted(self, key: str) -> str:
        """The text of a note; empty if there is none that can be trusted: that nobody else may
        write to, that is whole, and that this very package has made.
        """
        assert self.folder is not None
        path = self.folder / f"{key}.note"
        try:
            if not _is_our_file(path):
                return ""
            seal, _, text = path.read_text(encoding="ascii").partition("\n")
            if seal != self._seal(key, text):
                return ""
            os.utime(path)
            return text
        except (OSError, ValueError):
            return ""

    def _seal(self, key: str, text: str) -> str:
        """What a note begins with."""
        return blake2b(f"{self._makers}\0{key}\0{text}".encode(), digest_size=16).hexdigest()

    @lazy
    def _makers(self) -> str:
        """What tells notes of this package from those of others: the versions of Python and NumPy,
        the processor, and the sizes and times of files, by which Python tells whether it has
        compiled them.
        """
        about = [sys.version, np.__version__, processor()]
        for part in _DECIDING:
            for folder, _, names in os.walk(_PACKAGE / part):
                for name in names:
                    if not name.endswith((".pyc", ".pyo")):
                        file = os.stat(os.path.join(folder, name))
                        about.append(f"{folder} {name} {file.st_size} {file.st_mtime_ns}")
        if len(about) == 3:  # it has no files: nothing can be said of it
            about.append(os.urandom(16).hex())
        return "\n".join(sorted(about))

    def note(self, key: str, text: str) -> None:
        """Keep a note; of many, those that were made last."""
        assert self.folder is not None
        folder = None
        with contextlib.suppress(OSError):
            folder = Path(self.new_folder())
            note = folder / f"{key}.note"
            note.write_text(f"{self._seal(key, text)}\n{text}", encoding="ascii")
            os.replace(note, self.folder / note.name)
            self._make_room_for_notes()
        if folder is not None:
            _remove(folder)

    def _make_room_for_notes(self) -> None:
        """Remove the notes that were used longest ago, where there are too many."""
        assert self.folder is not None
        notes = [(path.stat(), path) for path in self.folder.glob("*.note")]
        count, size = len(notes), sum(about.st_size for about, _ in notes)
        for about, path in sorted(notes, key=lambda note: note[0].st_mtime_ns):
            if count <= NOTES_KEPT and size <= NOTES_BYTES:
                break
            count, size = count - 1, size - about.st_size
            path.unlink(missing_ok=True)

    def contents(self) -> list[tuple[Path, float]]:
        """The files that are kept, and the bytes of each; of one under several names a part."""
        assert self.folder is not None
        files = []
        for path in sorted(self.folder.iterdir()):
            with contextlib.suppress(OSError):  # somebody has removed it
                about = path.lstat()
                if _KEPT_NAME.fullmatch(path.name) and stat.S_ISREG(about.st_mode):
                    files.append((path, about.st_size / about.st_nlink))
        return files

    def make_room(self) -> None:
        """Remove the libraries that were used longest ago, where there is too much, and what
        processes have left behind that were killed.
        """
        assert self.folder is not None
        entries = []
        _sweep(self.folder)
        for path in self.folder.glob("*.so"):
            try:
                about = path.stat()
            except OSError:
                continue
            entries.append((about.st_mtime, about.st_size / about.st_nlink, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= KEPT:
                break
            total -= size
            for each in (path.with_suffix(".sum"), path):
                with contextlib.suppress(OSError):  # it may be in a folder that was locked since
                    each.unlink(missing_ok=True)


@cache
def processor() -> str:
    """What tells processors apart for which code was made."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = (line for line in file if line.startswith(("model name", "flags")))
            return "".join(islice(lines, 2))
    except OSError:
        return f"{platform.machine()} {platform.processor()}"


def _sweep(folder: Path) -> None:
    """Remove what processes have left behind that were killed."""
    for path in folder.glob(f"{MAKING}*"):
        with contextlib.suppress(OSError):
            if _has_ended(path.name) or path.stat().st_mtime < time.time() - ABANDONED:
                _remove(path)


def _remove(folder: Path) -> None:
    """Remove a folder, and what is in it."""
    try:
        folder.rmdir()
    except OSError:
        import_module(_CALLS).remove(folder)


def _has_ended(name: str) -> bool:
    """Whether a folder's name says that it was made by a process of this machine that is gone."""
    number, _, where = name.removeprefix(MAKING).partition("-")
    if not where.startswith(f"{_processes()}-") or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _processes() -> str:
    """What tells apart the machines, and the containers on them, that number processes anew; where
    that is not known, a text of its own each time.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            booted = file.read()
        space = os.stat("/proc/self/ns/pid").st_ino
        return f"{zlib.crc32(f'{booted}{space}'.encode()):08x}"
    except OSError:
        return os.urandom(4).hex()


def _is_our_file(path: Path) -> bool:
    """Whether a path is a file, to read which waits for nobody, and nobody else may write to it."""
    return path.is_file() and is_ours(path)
