"""States of layers and optimizers in single files, as ``state_dict()`` gives them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..functions.creation import to_tensor
from ..ground.files import Path, Transaction, missing_file
from ..proto.state import NAME_TABLE, checked_path, read_state, write_state


def write_tensors(state: Mapping[str, Any], path: str) -> None:
    """Write a state to a file.

    Args:
        state: name -> tensor, array, or plain data.
        path: the whole path.

    Raises:
        FileError: the file cannot be written; says why.
    """
    names = {
        key: value.name
        for key, value in state.items()
        if hasattr(value, "numpy") and isinstance(getattr(value, "name", None), str)
    }
    values = {
        key: value.numpy() if hasattr(value, "numpy") else value for key, value in state.items()
    }
    with Transaction() as files:
        write_state(files, path, {**values, NAME_TABLE: names})


def save_state(state: Mapping[str, Any], path: Path) -> None:
    """Write a state to a file of any name.

    Args:
        state: name -> tensor, array, or plain data.
        path: the whole path.

    Raises:
        ArgumentError: there is nothing to write.
        FileError: the file cannot be written; says why.
    """
    if not state:
        raise ArgumentError(f"expected a state to save, got {state!r:.60}")
    write_tensors(state, checked_path(path))


def load_state(path: Path) -> dict[str, Any]:
    """Read a state from a file of any name: name -> tensor, or plain data.

    Args:
        path: the whole path.

    Raises:
        FileError: there is no such file.
        FileFormatError: it is not what it should be; says where.
    """
    found = checked_path(path)
    if not os.path.isfile(found):
        raise missing_file(found)
    values = read_state(found)
    values.pop(NAME_TABLE, None)
    return {k: to_tensor(v) if isinstance(v, np.ndarray) else v for k, v in values.items()}
