"""``paddle.save`` and ``paddle.load``: tensors, and plain data of them, in pickles as paddle 2 has
them.

They are read by a reader that makes plain data and arrays only, so a file cannot act.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

from ..eager.recording import TensorRecord
from ..eager.tensor import Tensor
from ..errors import ArgumentError
from ..ground.brain_float import bfloat16
from ..ground.files import Path, Source, Transaction, read_bytes
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ground.values import LoDTensor
from ..ir.program import Program
from ..proto.pickling import write_pickle
from ..proto.state import MODEL, NAME_TABLE, checked_path, stored_in
from .static.models import read_details, values_of_model

#: words that paddle 2.6 takes
_OF_SAVE = ("use_binary_format", "pickle_protocol")
_OF_LOAD = ("model_filename", "params_filename", "keep_name_table", "return_numpy")
_PICKLE = b"\x80"  #: what pickles begin with
_PLAIN = (str, int, float, complex, type(None), np.ndarray, np.generic)


def save(obj: Any, path: Path | BytesIO, protocol: int = 4, **configs: Any) -> None:
    """Write tensors, numbers and texts, and dictionaries and lists of them, to a file.

    Args:
        obj: what is written: the state of a layer or of an optimizer, a tensor, nested data; or a
            program.
        path: the file, or a buffer in memory.
        protocol: from 2 to 4; files are pickles of protocol 2, which every Python reads.
        configs: ``use_binary_format`` and ``pickle_protocol`` are accepted.

    Raises:
        ArgumentError: a file has no room for ``obj``, or an option is unknown.
        FileError: the file cannot be written; says why.

    >>> import os, tempfile
    >>> from fluidlite import paddle
    >>> file = os.path.join(tempfile.mkdtemp(), "linear.pdparams")
    >>> paddle.save(paddle.nn.Linear(2, 1).state_dict(), file)
    >>> sorted(paddle.load(file))
    ['bias', 'weight']
    """
    _refuse_others("save", configs, _OF_SAVE)
    if not isinstance(protocol, int) or not 1 < protocol < 5:
        raise ArgumentError(f"expected protocol to be 2, 3 or 4, got {protocol!r:.60}")
    if not isinstance(path, (str, os.PathLike, BytesIO)):
        raise ArgumentError(f"expected a path or a BytesIO, got {path!r:.60}")
    content = BytesIO()
    if isinstance(obj, Program):
        content.write(obj.serialize_to_string())
    else:
        write_pickle(content, _state(obj) if isinstance(obj, Mapping) else _stored(obj))
    if isinstance(path, BytesIO):
        path.write(content.getbuffer())
        return
    with Transaction() as files:
        files.write(checked_path(path), content.getvalue())


def load(path: Path | BytesIO, **configs: Any) -> Any:
    """What ``save`` wrote, or the parameters of a model as arrays.

    Args:
        path: the file, a buffer in memory, or what stands before ``.pdmodel`` of a model.
        configs: ``return_numpy=True`` gives arrays in place of tensors,
            ``keep_name_table=True`` the names of the tensors of a state, too.

    Raises:
        ArgumentError: an option is unknown.
        FileError: there is no such file.
        FileFormatError: it is not what it should be; says where.

    >>> fluid.paddle.save({"step": 3}, "state.pdparams")
    >>> fluid.paddle.load("state.pdparams")
    {'step': 3}
    """
    _refuse_others("load", configs, _OF_LOAD)
    if isinstance(path, BytesIO):
        name, data = "the buffer", path.read()
    else:
        name = checked_path(path)
        if not os.path.exists(name) and os.path.exists(name + MODEL):
            return _values_of_model(name)
        data = read_bytes(name)
    if data[:1] != _PICKLE and name.endswith(MODEL):
        return Program.parse_from_string(data)
    value, plain = stored_in(Source.of(data, name)), bool(configs.get("return_numpy", False))
    names = value.get(NAME_TABLE) if isinstance(value, dict) else None
    if not isinstance(names, dict):
        return _tensors(value, plain, arrays=not _has_pairs(value))
    if not configs.get("keep_name_table"):
        del value[NAME_TABLE]
    return {
        key: _tensors(each, plain, arrays=key in names, name=names.get(key))
        for key, each in value.items()
    }


def _values_of_model(path: str) -> dict[str, Any]:
    """The arrays of a model by where its layer had them, or else by their own names."""
    details = read_details(path)
    return {
        details.get(name, {}).get("structured_name", name): array
        for name, array in values_of_model(path)[1].items()
    }


def _refuse_others(function: str, configs: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = [name for name in configs if name not in known]
    if unknown:
        raise ArgumentError(f"paddle.{function} takes {', '.join(known)}; got {unknown[0]!r:.60}")


def _state(state: Mapping[Any, Any]) -> dict[Any, Any]:
    """A dictionary as paddle 2 stores it: of a state, the arrays, and the tensors' names beside
    them; of another one pairs.  In a state are tensors, and dictionaries without any.
    """
    stored: dict[Any, Any] = _stored(state)
    tensors = {key: each for key, each in state.items() if isinstance(each, TensorRecord)}
    rest = [each for key, each in state.items() if key not in tensors]
    if not tensors or not all(isinstance(each, Mapping) for each in rest) or _has_tensors(rest):
        return stored
    names = {key: getattr(each, "name", "") for key, each in tensors.items()}
    return {**stored, **{key: stored[key][1] for key in names}, NAME_TABLE: names}


def _has_tensors(value: Any) -> bool:
    """Whether there are tensors in nested data."""
    if isinstance(value, (Mapping, list, tuple)):
        return any(map(_has_tensors, value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, TensorRecord)


def _stored(value: Any) -> Any:
    """Nested data as paddle 2 stores it: a tensor as a pair of its name and an array.

    Raises:
        ArgumentError: it holds something that a reader would have to run.
    """
    if isinstance(value, LoDTensor):
        return np.array(value)
    if isinstance(value, TensorRecord):
        return getattr(value, "name", ""), np.array(value.array)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, (str, int, float)):
                raise ArgumentError(f"expected texts or numbers as keys to save, got {key!r:.60}")
        return _in_kind(value, {key: _stored(each) for key, each in value.items()})
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(map(_stored, value))
    if isinstance(value, set) and all(isinstance(each, _PLAIN) for each in value):
        return value
    if not isinstance(value, _PLAIN):
        raise ArgumentError(
            f"expected tensors, numbers, texts, lists and dictionaries to save, got "
            f"{type(value).__name__}; save the state_dict() of a layer"
        )
    return value


def _in_kind(given: Mapping[Any, Any], made: dict[Any, Any]) -> dict[Any, Any]:
    """A dictionary, an ordered one where the one that it was made of is."""
    return OrderedDict(made) if isinstance(given, OrderedDict) else made


def _is_pair(value: Any) -> bool:
    """Whether something stands for a tensor: its name, and its elements."""
    return isinstance(value, tuple) and list(map(type, value)) == [str, np.ndarray]


def _has_pairs(value: Any) -> bool:
    """Whether tensors stand in nested data; then its arrays are none."""
    if isinstance(value, (Mapping, list, tuple)) and not _is_pair(value):
        return any(map(_has_pairs, value.values() if isinstance(value, Mapping) else value))
    return _is_pair(value)


def _tensors(value: Any, plain: bool, arrays: bool, name: str | None = None) -> Any:
    """Nested data with tensors, or arrays, in place of what stands for them.

    Args:
        value: as it was stored.
        plain: give arrays.
        arrays: whether an array without a name stands for a tensor, too.
        name: of the tensor that an array stands for.
    """
    if _is_pair(value):
        return _tensors(value[1], plain, True, value[0])
    if isinstance(value, np.ndarray) and arrays:
        if value.dtype == np.uint16 and not plain:  # bfloat16, as paddle writes it
            value = value.view(bfloat16())
        if plain:
            return value
        tensor = Tensor(value)
        tensor.given_name = name or None
        return tensor
    if isinstance(value, Mapping):
        made = {key: _tensors(each, plain, arrays) for key, each in value.items()}
        return _in_kind(value, made)
    if isinstance(value, (list, tuple)):
        return type(value)(_tensors(each, plain, arrays) for each in value)
    return value


list_public_names(globals())
api_boundaries(globals())
