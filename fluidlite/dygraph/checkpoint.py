"""States of layers and optimizers in files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..errors import ArgumentError
from ..ground.files import Path, missing_file
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..io.states import write_tensors
from ..proto.state import NAME_TABLE, OPTIMIZER, PARAMETERS, checked_path, read_state


def save_dygraph(state_dict: Mapping[str, Any], model_path: Path) -> None:
    """Write the state of a layer (to ``.pdparams``) or of an optimizer (to ``.pdopt``).

    Args:
        state_dict: name -> tensor or array, as ``state_dict()`` gives it.
        model_path: the file's path without its ending, or with it.

    Raises:
        ArgumentError: there is nothing to write, or the path ends with a folder.
        FileError: the file cannot be written; says why.

    >>> fluid.save_dygraph({"weight": np.ones([2, 2], "float32")}, "net.pdparams")
    >>> fluid.load_dygraph("net")[0]["weight"].shape
    (2, 2)
    """
    if not isinstance(state_dict, Mapping) or not state_dict:
        raise ArgumentError(f"expected a state to save, got {state_dict!r:.60}")
    path = checked_path(model_path)
    if not path.endswith((PARAMETERS, OPTIMIZER)):
        path += PARAMETERS if _is_of_layer(state_dict) else OPTIMIZER
    write_tensors(state_dict, path)


def _is_of_layer(state: Mapping[str, Any]) -> bool:
    """Whether a state is a layer's: its first value is a parameter."""
    first = next(iter(state.values()))
    return getattr(first, "trainable", None) is not None


def load_dygraph(
    model_path: Path, keep_name_table: bool = False
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Read the states of a layer and of its optimizer.

    Args:
        model_path: the files' path without their endings, or with one.
        keep_name_table: keep the entry that says which parameter a key of the layer means.

    Returns:
        the layer's state, name -> array; the optimizer's, None if there is none.

    Raises:
        FileError: there is no file of parameters.
        FileFormatError: a file is not what it should be; says where.

    >>> with fluid.dygraph.guard():
    ...     layer = fluid.dygraph.Linear(2, 1)
    ...     fluid.dygraph.save_dygraph(layer.state_dict(), "linear")
    ...     parameters, _ = fluid.dygraph.load_dygraph("linear")
    ...     sorted(parameters)
    ['bias', 'weight']
    """
    path = checked_path(model_path)
    for ending in (PARAMETERS, OPTIMIZER):
        path = path.removesuffix(ending)
    if not os.path.exists(path + PARAMETERS):
        raise missing_file(path + PARAMETERS)
    parameters = read_state(path + PARAMETERS)
    if not keep_name_table:
        parameters.pop(NAME_TABLE, None)
    if not os.path.exists(path + OPTIMIZER):
        return parameters, None
    return parameters, read_state(path + OPTIMIZER)


list_public_names(globals())


api_boundaries(globals())
answer(globals())
