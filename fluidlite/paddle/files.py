"""``paddle.save`` and ``paddle.load``: tensors, and plain data of them, in pickles.

Those of dictionaries are as paddle 2 has them; other objects stand in a dictionary of one entry.

They are read by a reader that makes plain data and arrays only, so a file cannot act.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..eager.recording import TensorRecord
from ..eager.tensor import Tensor
from ..ground.files import Path
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ground.values import LoDTensor
from ..io.states import load_state, write_tensors
from ..ir.program import Program
from ..proto.state import NAME_TABLE, checked_path
from .static.models import save_to_file

#: what stands for an object that is no dictionary, in a file that holds one
_WHOLE = "paddle.save"


def save(obj: Any, path: Path, protocol: int = 4, **configs: Any) -> None:
    """Write tensors, numbers and texts, and dictionaries and lists of them, to a file.

    Args:
        obj: what is written: the state of a layer or of an optimizer, a tensor, nested data; or a
            program.
        path: the file.
        protocol: accepted; files are pickles of protocol 2, which every Python reads.
        configs: accepted.

    Raises:
        FileError: the file cannot be written; says why.

    >>> import os, tempfile
    >>> from fluidlite import paddle
    >>> file = os.path.join(tempfile.mkdtemp(), "linear.pdparams")
    >>> paddle.save(paddle.nn.Linear(2, 1).state_dict(), file)
    >>> sorted(paddle.load(file))
    ['bias', 'weight']
    """
    if isinstance(obj, Program):
        save_to_file(path, obj.serialize_to_string())
        return
    state = obj if isinstance(obj, Mapping) else {_WHOLE: obj}
    write_tensors({name: _arrays(each, name) for name, each in state.items()}, checked_path(path))


def load(path: Path, **configs: Any) -> Any:
    """What ``save`` wrote.

    Args:
        path: the file.
        configs: ``return_numpy=True`` gives arrays in the place of tensors; others are accepted.

    Raises:
        FileError: there is no such file.
        FileFormatError: it is not what it should be; says where.
    """
    state = load_state(path)
    whole = state[_WHOLE] if set(state) == {_WHOLE} else state
    return _tensors(whole, bool(configs.get("return_numpy", False)))


def _arrays(value: Any, name: Any = None) -> Any:
    if isinstance(value, LoDTensor):
        return np.array(value)
    if isinstance(value, TensorRecord):
        return value if isinstance(name, str) else np.array(value.array)
    if isinstance(value, Mapping):
        return {key: _arrays(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_arrays(each) for each in value)
    return value


def _tensors(value: Any, plain: bool) -> Any:
    if isinstance(value, (TensorRecord, np.ndarray)):
        array = np.array(getattr(value, "array", value))
        return array if plain else Tensor(array)
    if isinstance(value, Mapping):
        return {key: _tensors(each, plain) for key, each in value.items() if key != NAME_TABLE}
    if isinstance(value, (list, tuple)):
        return type(value)(_tensors(each, plain) for each in value)
    return value


list_public_names(globals())
api_boundaries(globals())
