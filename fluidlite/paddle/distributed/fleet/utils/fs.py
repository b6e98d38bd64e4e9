"""Files of this machine and of Hadoop, under one interface."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from typing import NoReturn

from .....errors import ArgumentError, FileError, UnsupportedError
from .....ground.docstrings import Family
from .....ground.public_names import list_public_names
from .....ground.reprs import Described
from .....ground.spellings import Spelling
from .....ground.tracebacks import api_boundaries

__all__ = [
    "ExecuteError", "FS", "FSFileExistsError", "FSFileNotExistsError", "FSShellCmdAborted",
    "FSTimeOut", "HDFSClient", "LocalFS",
]  # fmt: skip


_MOVED = Family({"overwrite": "whether it may take the place of another one."})
_SENT = _MOVED.extended(
    {"multi_processes": "accepted: files go one by one."},
    raises="FSFileNotExistsError: it is missing.\nExecuteError: the command fails.",
)


class ExecuteError(FileError):
    """A command failed."""


class FSFileExistsError(FileError):
    """There is a file already."""


class FSFileNotExistsError(FileError):
    """There is no such file."""


class FSTimeOut(FileError):
    """A command took too long."""


class FSShellCmdAborted(ExecuteError):
    """A command was ended."""


class FS(Described):
    """What both are."""

    def _has(self, flag: str, path: str) -> bool:
        """Whether there is something of a name: "-e", a folder: "-d", or a file: "-f"."""
        raise NotImplementedError

    def _touch(self, path: str) -> None:
        """Make an empty file, which must not exist."""
        raise NotImplementedError

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """The folders and the files in a folder; none where there is no such folder.

        Args:
            fs_path: the folder.
        """
        return self._listed(fs_path) if self.is_exist(fs_path) else ([], [])

    def _listed(self, path: str) -> tuple[list[str], list[str]]:
        raise NotImplementedError

    def list_dirs(self, fs_path: str) -> list[str]:
        """The folders in a folder.

        Args:
            fs_path: the folder.
        """
        return self.ls_dir(fs_path)[0]

    def is_file(self, fs_path: str) -> bool:
        """Whether there is a file of that name.

        Args:
            fs_path: the name.
        """
        return self._has("-f", fs_path)

    def is_dir(self, fs_path: str) -> bool:
        """Whether there is a folder of that name.

        Args:
            fs_path: the name.
        """
        return self._has("-d", fs_path)

    def is_exist(self, fs_path: str) -> bool:
        """Whether there is a file or a folder of that name.

        Args:
            fs_path: the name.
        """
        return self._has("-e", fs_path)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Make an empty file.

        Args:
            fs_path: the file.
            exist_ok: whether it may be there already.

        Raises:
            FSFileExistsError: it is.
            ExecuteError: a command of Hadoop fails.
        """
        if not self.is_exist(fs_path):
            self._touch(fs_path)
        elif not exist_ok:
            raise FSFileExistsError(f"there is {fs_path} already")

    def _rename(self, source: str, target: str) -> None:
        """Give a file or folder another name."""
        raise NotImplementedError

    def delete(self, fs_path: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing if it is missing.

        Args:
            fs_path: of the file or folder.

        Raises:
            ExecuteError: a command of Hadoop fails.
        """
        raise NotImplementedError

    @_MOVED
    def mv(
        self, src_path: str, dst_path: str, overwrite: bool = False, test_exists: bool = False
    ) -> None:
        """Move a file or folder.

        Args:
            src_path: where it is.
            dst_path: where to.
            test_exists: whether to look first; files of this machine are looked at in any case.

        Raises:
            FSFileNotExistsError: it is missing.
            FSFileExistsError: there is another one.
            ExecuteError: a command of Hadoop fails.
        """
        looks = test_exists or not self.need_upload_download()
        if looks and not self.is_exist(src_path):
            raise FSFileNotExistsError(f"there is no {src_path}")
        if overwrite and self.is_exist(dst_path):
            self.delete(dst_path)
        if looks and self.is_exist(dst_path):
            raise FSFileExistsError(f"there is {dst_path} already; overwrite=True replaces it")
        self._rename(src_path, dst_path)

    def need_upload_download(self) -> bool:
        """Whether files are elsewhere."""
        raise NotImplementedError


class LocalFS(FS):
    """Files of this machine.

    >>> from fluidlite.paddle.distributed.fleet import utils
    >>> utils.LocalFS().is_exist("nowhere")
    False
    """

    def _has(self, flag: str, path: str) -> bool:
        return {"-e": os.path.exists, "-d": os.path.isdir, "-f": os.path.isfile}[flag](path)

    def _touch(self, path: str) -> None:
        with open(path, "ab"):
            pass

    def _listed(self, path: str) -> tuple[list[str], list[str]]:
        names = os.listdir(path)
        folders = [name for name in names if os.path.isdir(os.path.join(path, name))]
        return folders, [name for name in names if name not in folders]

    def mkdirs(self, fs_path: str) -> None:
        """Make a folder, and those above it.

        Args:
            fs_path: the folder.

        Raises:
            ArgumentError: there is a file of that name.
        """
        if os.path.isfile(fs_path):
            raise ArgumentError(f"there is a file {fs_path}, expected a folder")
        os.makedirs(fs_path, exist_ok=True)

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Give a file or folder another name.

        Args:
            fs_src_path: where it is.
            fs_dst_path: the name.
        """
        os.replace(fs_src_path, fs_dst_path)

    def _rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def delete(self, fs_path: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing if it is missing.

        Args:
            fs_path: of the file or folder.
        """
        if os.path.isdir(fs_path) and not os.path.islink(fs_path):
            shutil.rmtree(fs_path)
        elif os.path.lexists(fs_path):
            os.remove(fs_path)

    def need_upload_download(self) -> bool:
        """False: files are here."""
        return False

    def upload(self, local_path: str, fs_path: str) -> NoReturn:
        """Nothing, with an error: files are here.

        Args:
            local_path, fs_path: not read.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError("files of this machine are neither sent nor fetched; use mv")

    download = upload_dir = upload

    def cat(self, fs_path: str | None = None) -> NoReturn:
        """Nothing, with an error: ``open`` reads files.

        Args:
            fs_path: not read.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(f"cat: open({fs_path!r}) reads files of this machine")


class HDFSClient(FS):
    """Files of Hadoop, by its command ``hadoop fs``.

    Args:
        hadoop_home: the folder of Hadoop on this machine.
        configs: its settings, such as ``fs.default.name``.
        time_out: milliseconds that a command may take.
        sleep_inter: accepted: a command that fails is not tried again.

    >>> from fluidlite.paddle.distributed.fleet import utils
    >>> client = utils.HDFSClient("/nowhere", {"fs.default.name": "hdfs://here:54310"})
    >>> client.is_exist("hdfs:/data")
    False
    """

    def __init__(
        self,
        hadoop_home: str,
        configs: Mapping[str, str] | None = None,
        time_out: int = 5 * 60 * 1000,
        sleep_inter: int = 1000,
    ) -> None:
        self._hadoop_home = hadoop_home
        self._configs = dict(configs or {})
        self._time_out = time_out

    def _run(self, *words: str) -> tuple[int, str]:
        """The status of a command, and what it wrote."""
        settings = [f"-D{name}={value}" for name, value in self._configs.items()]
        command = [os.path.join(self._hadoop_home, "bin", "hadoop"), "fs", *settings, *words]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=self._time_out / 1000, check=False
            )
        except OSError:
            return 127, ""
        except subprocess.TimeoutExpired:
            raise FSTimeOut(f"hadoop fs {' '.join(words)} took too long") from None
        return done.returncode, done.stdout

    def _do(self, *words: str) -> str:
        status, text = self._run(*words)
        if status:
            raise ExecuteError(
                f"hadoop fs {' '.join(words)} failed with status {status}; is Hadoop in "
                f"{self._hadoop_home}?"
            )
        return text

    def _has(self, flag: str, path: str) -> bool:
        if flag == "-f":
            return self._has("-e", path) and not self._has("-d", path)
        return self._run("-test", flag, path)[0] == 0

    def _touch(self, path: str) -> None:
        self._do("-touchz", path)

    def _listed(self, path: str) -> tuple[list[str], list[str]]:
        folders: list[str] = []
        files: list[str] = []
        for line in self._do("-ls", path).splitlines():
            parts = line.split()
            if len(parts) == 8:
                name = os.path.basename(parts[7])
                (folders if parts[0].startswith("d") else files).append(name)
        return folders, files

    def cat(self, fs_path: str | None = None) -> str:
        """The text of a file; an empty one if there is none.

        Args:
            fs_path: the file.
        """
        return self._do("-cat", fs_path) if fs_path and self.is_file(fs_path) else ""

    @_SENT
    def upload(
        self, local_path: str, fs_path: str, multi_processes: int = 5, overwrite: bool = False
    ) -> None:
        """Send a file of this machine.

        Args:
            local_path: the file.
            fs_path: where to.
        """
        if not os.path.exists(local_path):
            raise FSFileNotExistsError(f"there is no {local_path}")
        self._do("-put", *(["-f"] if overwrite else []), local_path, fs_path)

    @_MOVED
    def upload_dir(self, local_dir: str, dest_dir: str, overwrite: bool = False) -> None:
        """Send a folder of this machine.

        Args:
            local_dir: the folder.
            dest_dir: where to.
        """
        self.upload(local_dir, dest_dir, overwrite=overwrite)

    @_SENT
    def download(
        self, fs_path: str, local_path: str, multi_processes: int = 5, overwrite: bool = False
    ) -> None:
        """Fetch a file.

        Args:
            fs_path: the file.
            local_path: where to.
        """
        if not self.is_exist(fs_path):
            raise FSFileNotExistsError(f"there is no {fs_path}")
        self._do("-get", *(["-f"] if overwrite else []), fs_path, local_path)

    def mkdirs(self, fs_path: str) -> None:
        """Make a folder, and those above it.

        Args:
            fs_path: the folder.

        Raises:
            ExecuteError: the command fails.
        """
        if not self.is_exist(fs_path):
            self._do("-mkdir", "-p", fs_path)

    def _rename(self, source: str, target: str) -> None:
        self._do("-mv", source, target)

    mv: Callable[..., None] = Spelling({"src_path": "fs_src_path", "dst_path": "fs_dst_path"})(
        FS.mv, defaults={"test_exists": True}
    )
    rename = mv

    def delete(self, fs_path: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing if it is missing.

        Args:
            fs_path: of the file or folder.

        Raises:
            ExecuteError: the command fails.
        """
        if self.is_exist(fs_path):
            self._do("-rm", "-r", fs_path)

    def need_upload_download(self) -> bool:
        """True: files are elsewhere."""
        return True


list_public_names(globals())
api_boundaries(globals())
