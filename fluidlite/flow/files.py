"""Tensors in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import io
from ..eager.recording import TensorRecord
from .tensor import Tensor

if TYPE_CHECKING:
    from os import PathLike

    from .devices import DeviceLike


def save(obj: Any, path: str | PathLike[str]) -> None:
    """Write tensors, numbers and texts, and dictionaries and lists of them, to a file.

    Args:
        obj: what to write: the state of a module, or of an optimizer.
        path: the file.

    >>> import tempfile, os
    >>> file = os.path.join(tempfile.mkdtemp(), "state")
    >>> fluid.flow.save({"w": fluid.flow.ones(2), "step": 3}, file)
    >>> fluid.flow.load(file)
    {'w': tensor([1., 1.], dtype=oneflow.float32), 'step': 3}
    """
    io.save({"saved": _arrays(obj)}, path)


def load(path: str | PathLike[str], map_location: DeviceLike = None) -> Any:
    """What :func:`save` wrote.

    Args:
        path: the file.
        map_location: accepted: tensors are on the CPU.

    >>> fluid.flow.save({"step": 3}, "state")
    >>> fluid.flow.load("state")
    {'step': 3}
    """
    found: Any = io.load(path)
    return _tensors(found["saved"])


def _arrays(value: Any) -> Any:
    if isinstance(value, TensorRecord):
        return np.array(value.array)
    if isinstance(value, Mapping):
        return {name: _arrays(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_arrays(each) for each in value]
    return value


def _tensors(value: Any) -> Any:
    if isinstance(value, (TensorRecord, np.ndarray)):
        return Tensor.results(np.array(getattr(value, "array", value)))
    if isinstance(value, Mapping):
        return {name: _tensors(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tensors(each) for each in value]
    return value
