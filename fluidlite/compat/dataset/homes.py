"""``paddle.dataset.common``: where data sets lie.

A file ``NAME`` of the set ``SET`` is ``DATA_HOME/SET/NAME``; ``DATA_HOME`` is
``~/.cache/paddle/dataset``, and programs may assign it.
"""

from __future__ import annotations

import glob
import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from ...dataset.formats.archives import archive as archive
from ...errors import ArgumentError, FileError
from ...ground import state
from ...ground.files import read_bytes, usable_path
from ...ground.tracebacks import api_boundaries
from ..served import synthetic_data

_home: state.StateSlot[str] = state.slot(
    "data home", lambda: os.path.expanduser("~/.cache/paddle/dataset")
)


class HomeState:
    """What ``paddle.dataset.common`` kept at module level."""

    @property
    def DATA_HOME(self) -> str:
        """The folder that holds the sets."""
        return _home.get()

    @DATA_HOME.setter
    def DATA_HOME(self, path: str) -> None:
        _home.switch(str(path))


class MissingDataError(FileError):
    """A file of a data set is missing; says where it belongs."""


def file_of(module: str, *names: str) -> str:
    """The path of a file of a set.

    Args:
        module: the set's folder.
        names: what the file may be called, the usual name first.

    Raises:
        MissingDataError: it is missing.
    """
    paths = [os.path.join(_home.get(), module, name) for name in names]
    existing = next((path for path in paths if os.path.exists(path)), None)
    if existing is None:
        raise MissingDataError(
            f"there is no {paths[0]}: put the file of the set {module!r} there (nothing is "
            "downloaded), or have made samples: fluidlite run --synthetic-data, or "
            "fluidlite.compat.install(synthetic_data=True)"
        )
    return existing


def is_synthetic() -> bool:
    """Whether samples are made instead of read."""
    return synthetic_data.get()


def download(url: str, module_name: str, md5sum: str | None, save_name: str | None = None) -> str:
    """The path of a file that is there already.

    Args:
        url: where it was once; its last part is the file's name.
        module_name: the set's folder.
        md5sum: not read: the file is the user's.
        save_name: the file's name, when it is another one.

    Raises:
        MissingDataError: it is missing.
    """
    return file_of(module_name, str(url).split("/")[-1] if save_name is None else save_name)


def must_mkdirs(path: str) -> None:
    """Make a folder if it is missing."""
    os.makedirs(path, exist_ok=True)


def md5file(fname: str) -> str:
    """The MD5 sum of a file."""
    return hashlib.md5(read_bytes(fname), usedforsecurity=False).hexdigest()


def fetch_all() -> None:
    """Nothing: nothing is downloaded."""


def fetch() -> None:
    """Nothing: nothing is downloaded."""


def split(
    reader: Callable[[], Any],
    line_count: int,
    suffix: str = "%05d.pickle",
    dumper: Callable[[Any, Any], None] = pickle.dump,
) -> None:
    """Write a reader's items to files, so many to each.

    Args:
        reader: gives the items.
        line_count: how many go into a file.
        suffix: the files' names, with the place of a number.
        dumper: writes a list of items to an open file.

    Raises:
        ArgumentError: the dumper is no function.
    """
    if not callable(dumper):
        raise ArgumentError(f"expected dumper to be a function, got {dumper!r:.60}")
    items: list[Any] = []
    number = 0
    for item in reader():
        items.append(item)
        if len(items) == line_count:
            _dump(suffix % number, items, dumper)
            items, number = [], number + 1
    if items:
        _dump(suffix % number, items, dumper)


def _dump(path: str, items: list[Any], dumper: Callable[[Any, Any], None]) -> None:
    with open(usable_path("write", path), "wb") as file:
        dumper(items, file)


def cluster_files_reader(
    files_pattern: str,
    trainer_count: int,
    trainer_id: int,
    loader: Callable[[Any], Any] = pickle.load,
) -> Callable[[], Iterator[Any]]:
    """A reader of the items in one machine's part of some files.

    Args:
        files_pattern: of the files' names.
        trainer_count: how many machines there are.
        trainer_id: which of them this is.
        loader: reads a list of items from an open file.
    """

    def read() -> Iterator[Any]:
        for number, path in enumerate(sorted(glob.glob(files_pattern))):
            if number % trainer_count == trainer_id:
                with open(path, "rb") as file:
                    yield from loader(file)

    return read


api_boundaries(globals())
