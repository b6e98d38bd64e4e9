"""Files that the real thing wrote, from ``tests/data/saved_models``."""

import functools
import io
import json
import zipfile
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[1] / "data" / "saved_models"
FLUID18, PADDLE2 = "fluid18.zip", "paddle2.zip"


@functools.cache
def contents(archive):
    """The files of an archive: path -> bytes."""
    with zipfile.ZipFile(DATA / archive) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def file(path, archive=FLUID18):
    """The bytes of a file."""
    return contents(archive)[path]


def record(path):
    """A file of JSON."""
    return json.loads(file(path))


def arrays(path, archive=FLUID18):
    """The arrays of an ``.npz`` file."""
    with np.load(io.BytesIO(file(path, archive)), allow_pickle=False) as packed:
        return {key: packed[key] for key in packed.files}


def unpack(folder, begin="", archive=FLUID18):
    """Write files to a folder, those whose paths begin so; returns the folder of these."""
    for name, data in contents(archive).items():
        if name.startswith(begin):
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return Path(folder) / begin


def programs():
    """All program files: (archive, path)."""
    names = ("__model__", "/model", ".pdmodel")
    return [
        (archive, path)
        for archive in (FLUID18, PADDLE2)
        for path in contents(archive)
        if path.endswith(names)
    ]
