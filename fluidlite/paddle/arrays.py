"""Arrays of tensors: lists in dynamic mode, variables of programs otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import layers
from ..errors import ArgumentError
from ..functions.arguments import DTypeLike
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable, is_tensor
from ..layers import array_read, array_write
from .modes import in_dynamic_mode

__all__ = ["array_length", "array_read", "array_write", "create_array"]


def create_array(dtype: DTypeLike, initialized_list: Sequence[Any] | None = None) -> Any:
    """An array of tensors: a list in dynamic mode.

    Args:
        dtype: the element type of the tensors.
        initialized_list: what it holds first; nothing when None.

    Raises:
        ArgumentError: ``initialized_list`` has something else than tensors or variables.

    >>> from fluidlite import paddle
    >>> array = paddle.tensor.create_array("float32", [paddle.ones([2])])
    >>> paddle.tensor.array_length(array)
    1
    """
    first = [] if initialized_list is None else initialized_list
    if not isinstance(first, (list, tuple)):
        raise ArgumentError(f"create_array: expected a list of tensors, got {first!r:.60}")
    for tensor in first:
        if not (is_tensor(tensor) or isinstance(tensor, Variable)):
            raise ArgumentError(f"create_array: expected tensors, got {tensor!r:.60}")
    if in_dynamic_mode():
        return list(first)
    array = layers.create_array(dtype)
    for place, tensor in enumerate(first):
        layers.array_write(tensor, layers.fill_constant([1], "int64", place), array)
    return array


def array_length(array: Any) -> Any:
    """How many tensors an array has: a number in dynamic mode, [1] of int64 otherwise.

    Args:
        array: an array.

    Raises:
        ArgumentError: it is no array.
    """
    return len(array) if isinstance(array, list) else layers.array_length(array)


list_public_names(globals())
api_boundaries(globals())
