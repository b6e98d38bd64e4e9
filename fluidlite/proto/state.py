"""States in files: pickles of arrays by name, ``.pdparams`` and ``.pdopt``."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ArgumentError, WorkLimitError
from ..ground.files import Path, Source, Transaction, excerpt, open_source
from ..ground.values import LoDTensor, SelectedRows
from .pickled import read_pickle
from .pickling import write_pickle

PARAMETERS, OPTIMIZER, MODEL = ".pdparams", ".pdopt", ".pdmodel"
MODELS = (MODEL, ".json")  #: the endings of programs: of Paddle 2, and of Paddle 3
#: the key under which files of state keep which parameter a key of a layer means
NAME_TABLE = "StructuredToParameterName@@"
#: bytes of a table that is written as a whole, if not more than so many times those of its rows
_LARGE_TABLE, _SPARSE = 1 << 30, 100
_SPLIT = "UnpackBigParamInfor@@"  # how Paddle 2 notes arrays that it wrote in pieces


def stem_of(path: str) -> str:
    """A path without the ending of a program's file."""
    return next((path.removesuffix(end) for end in MODELS if path.endswith(end)), path)


def program_at(stem: str) -> str | None:
    """The program's file of a model whose files begin so; None if there is none.

    Args:
        stem: what stands in front of ``.pdmodel`` or ``.json``.
    """
    return next((stem + end for end in MODELS if os.path.isfile(stem + end)), None)


def checked_path(model_path: Path) -> str:
    """A path that ends with the name of a file."""
    path = os.fspath(model_path)
    if not os.path.basename(path):
        raise ArgumentError(
            f"expected a path that ends with the name of a file, got {path!r}; such as "
            f"{path + 'model'!r}"
        )
    return path


def write_state(files: Transaction, path: str, values: Mapping[str, Any]) -> None:
    """Write a pickle of arrays by name; texts, numbers and dictionaries stay what they are."""
    plain = (str, int, float, Mapping, list, tuple)
    with files.open(path) as file:
        write_pickle(
            file, {n: v if isinstance(v, plain) else as_array(v, n) for n, v in values.items()}
        )


def read_state(path: str) -> dict[str, Any]:
    """A pickle of arrays by name.

    Raises:
        FileError: it cannot be read.
        FileFormatError: it holds something else.
    """
    with open_source(path) as source:
        return state_of(source)


def state_of(source: Source) -> dict[str, Any]:
    """A pickle of arrays by name; errors as of :func:`read_state`."""
    state = read_pickle(source)
    if not isinstance(state, dict):
        source.fail("a dictionary of arrays", f"a {type(state).__name__}", 0)
    for key in state:
        if not isinstance(key, str):
            source.fail("texts as keys of a dictionary of arrays", excerpt(key), 0)
    return _whole(state, source)


def stored_in(source: Source) -> Any:
    """What a pickle holds, arrays in one piece; errors as of :func:`read_state`."""
    value = read_pickle(source)
    if isinstance(value, dict) and _SPLIT in value:
        _join(value, source)
    return value


def _whole(stored: dict[str, Any], source: Source) -> dict[str, Any]:
    state = {name: _as_stored(value) for name, value in stored.items()}
    if _SPLIT in state:
        _join(state, source)
    return state


def _as_stored(value: Any) -> Any:
    """Paddle 2 stores some arrays as a pair of a name and the array."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return value[1]
    return value


def _join(found: dict[str, Any], source: Source) -> None:
    """Put arrays together that were written in pieces."""
    pieces = found.pop(_SPLIT)
    try:
        for name, info in pieces.items():
            parts = [found.pop(part) for part in info["slices"]]
            found[name] = np.concatenate(parts).reshape(info["OriginShape"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        source.fail("the pieces of an array", f"something else ({type(error).__name__})", 0)


def as_array(value: Any, name: str) -> Any:
    """The value of a variable as an array, where a file has no room for anything else.

    Raises:
        ArgumentError: it holds sequences, or is no tensor.
        WorkLimitError: it holds few rows of a table that would be very large.
    """
    if isinstance(value, LoDTensor) and not value.offsets:
        return value.data
    if isinstance(value, SelectedRows):
        whole = math.prod(value.shape) * value.dtype.itemsize
        if whole > max(_LARGE_TABLE, _SPARSE * value.value.nbytes):
            raise WorkLimitError(
                f"variable {name!r} holds {len(value.numbers)} rows of a table of "
                f"{value.shape[0]}, which takes {whole} bytes as a whole; save it with save_vars, "
                f"which keeps the rows"
            )
        return value.to_dense()
    if not isinstance(value, np.ndarray):
        raise ArgumentError(
            f"variable {name!r} holds {type(value).__name__}, which a file of arrays has no room "
            "for; save it with save_vars"
        )
    return value
