"""Tensors in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import io
from ..eager.recording import TensorRecord
from ..errors import FileFormatError
from .kinds import Size, dtype
from .nn.module import Parameter
from .tensor import Tensor

if TYPE_CHECKING:
    from os import PathLike

    from .devices import DeviceLike


def save(obj: Any, path: str | PathLike[str]) -> None:
    """Write tensors, arrays, numbers and texts, and dictionaries, lists, tuples and sets of them,
    to a file.

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

    Raises:
        FileFormatError: something else wrote it, or a value in it has wrong parts.

    >>> fluid.flow.save({"step": 3}, "state")
    >>> fluid.flow.load("state")
    {'step': 3}
    """
    held: Any = io.load(path)
    if not isinstance(held, Mapping) or "saved" not in held:
        raise FileFormatError(f"expected a file that flow.save wrote, got {os.fspath(path)}")
    try:
        return _tensors(held["saved"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        said = f"cannot read {os.fspath(path)}: a value in it has wrong parts: {error!r:.80}"
        raise FileFormatError(said) from None


#: what marks a dictionary that stands for something else
_KIND = "oneflow.kind"


def _marked(kind: str, value: Any) -> dict[str, Any]:
    return {_KIND: kind, "value": value}


def _arrays(value: Any) -> Any:
    """Plain data that a file has room for: arrays are tensors, and other things marked."""
    if isinstance(value, Parameter):
        return _marked("parameter", np.array(value.array))
    if isinstance(value, TensorRecord):
        return np.array(value.array)
    if isinstance(value, (np.ndarray, np.generic)):
        return _marked("array" if isinstance(value, np.ndarray) else "number", np.array(value))
    if isinstance(value, Mapping):
        if any(not isinstance(name, str) or name == _KIND for name in value):
            return _marked("pairs", [_arrays(pair) for pair in value.items()])
        return {name: _arrays(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_arrays(each) for each in value]
    for kind, (known, parts, _) in _KINDS.items():
        if isinstance(value, known):
            return _marked(kind, _arrays(parts(value)))
    return value


def _tensors(value: Any) -> Any:
    """What :func:`_arrays` was given."""
    if isinstance(value, (TensorRecord, np.ndarray)):
        return Tensor.results(_bare(value))
    if isinstance(value, (list, tuple)):
        return [_tensors(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    kind = value.get(_KIND)
    if kind is None:
        return {name: _tensors(each) for name, each in value.items()}
    held = value["value"]
    if kind in _OF_ARRAYS:
        return _OF_ARRAYS[kind](_bare(held))
    if kind == "pairs":
        return dict(_tensors(held))
    return _KINDS[kind][2](_tensors(held))


def _bare(value: Any) -> Any:
    """The array of a tensor of a file.

    Raises:
        TypeError: it is none.
    """
    array = getattr(value, "array", value)
    if not isinstance(array, np.ndarray):
        raise TypeError("no array")
    return np.array(array)


#: what becomes of an array
_OF_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "array": lambda array: array,
    "number": lambda array: array[()],
    "parameter": lambda array: Parameter(Tensor.results(array)),
}
#: other things: their class, what they are made of, and what makes them of that
_KINDS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "size": (Size, list, Size),
    "tuple": (tuple, list, tuple),
    "set": (set, list, set),
    "frozenset": (frozenset, list, frozenset),
    "bytes": (bytes, list, lambda held: bytes([*held])),
    "complex": (complex, lambda value: [value.real, value.imag], lambda held: complex(*held)),
    "range": (
        range,
        lambda value: [value.start, value.stop, value.step],
        lambda held: range(*held),
    ),
    "dtype": (dtype, int, dtype),
}
