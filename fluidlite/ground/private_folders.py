"""Folders from which later processes load code: nobody else can write to them."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def private_folder(path: str | os.PathLike[str]) -> Path:
    """A folder that is the user's alone, by its absolute path; created if it does not exist.

    As ssh does with files that it trusts: the folder is the user's and nobody else may write to it;
    what it lies in, up to the user's home, or else to the root, is the user's or the system's, and
    nobody else may write there, or only what nobody else may move (a folder like ``/tmp``).

    Args:
        path: where it is, or is to be.

    Raises:
        OSError: it cannot be made, or somebody else may write there.
    """
    whole = Path(os.path.realpath(path))
    around = list(whole.parents)
    home = Path(os.path.realpath(os.path.expanduser("~")))
    if home in around:
        around = around[: around.index(home) + 1]
    for folder in reversed(around):
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_safe(folder):
            raise PermissionError(f"somebody else may write to {folder}, in which it lies")
    whole.mkdir(mode=0o700, exist_ok=True)
    if not os.access(whole, os.W_OK):
        raise PermissionError("nothing can be written there")
    if not is_ours(whole):
        raise PermissionError("it belongs to somebody else, or others may write there")
    return whole


def is_ours(path: Path) -> bool:
    """Whether a file or folder is the user's own, and nobody else may write to it."""
    if not hasattr(os, "getuid"):
        return True
    about = path.stat()
    return about.st_uid == os.getuid() and not about.st_mode & _OTHERS


def _is_safe(folder: Path) -> bool:
    """Whether nobody but the user and the system can move what lies in a folder."""
    if not hasattr(os, "getuid"):
        return True
    about = folder.stat()
    if about.st_uid not in (0, os.getuid()):
        return False
    return not about.st_mode & _OTHERS or bool(about.st_mode & stat.S_ISVTX)


_OTHERS = stat.S_IWGRP | stat.S_IWOTH
