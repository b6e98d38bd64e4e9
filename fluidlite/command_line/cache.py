"""The command ``fluidlite cache``: what is kept of generated kernels, and how it goes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from ..backend.native.kernel_cache import KernelCache, place
from ..errors import FileError
from ..ground.console import say
from ..ground.files import file_error
from ..ground.options import end_with
from ..ground.quantities import quantity

_EXAMPLES = """\
The folder is FLUIDLITE_CACHE, or ~/.cache/fluidlite. A folder to which somebody else can write is
refused. Only files that fluidlite keeps there are removed; what else lies there stays.

examples:
  fluidlite cache
  fluidlite cache --empty
"""


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite cache`` takes."""
    end_with(parser, _EXAMPLES)
    parser.add_argument("--empty", action="store_true", help="remove all of it")
    parser.set_defaults(run=_cache)


def _cache(given: argparse.Namespace) -> int:
    path = place()
    if not path.is_dir():  # to look for the folder would make it
        say(f"{path}: no such folder, so nothing is kept")
        return 0
    cache = KernelCache(_refuse)
    assert cache.folder is not None
    files = cache.contents()
    if not given.empty:
        say(f"{cache.folder}: {_described(files)}")
        return 0
    for file, _ in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise file_error("remove", file, error) from None
    say(f"{cache.folder}: removed {_described(files)}")
    return 0


def _refuse(fault: str) -> NoReturn:
    raise FileError(fault)


def _described(files: Iterable[tuple[Path, float]]) -> str:
    """How many kernels and notes there are, and their bytes."""
    texts = []
    for noun, first, endings in (("kernel", ".so", (".so", ".sum")), ("note", ".note", (".note",))):
        own = [(path, size) for path, size in files if path.suffix in endings]
        count = sum(path.suffix == first for path, _ in own)
        texts.append(f"{quantity(count, noun)} ({round(sum(size for _, size in own))} bytes)")
    return ", ".join(texts)
