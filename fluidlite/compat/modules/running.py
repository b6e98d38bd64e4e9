"""What ``fluid.executor`` had besides executors and scopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ground.dtypes import as_dtype
from ...ground.values import LoDTensor, LoDTensorArray
from ...scope import Scope, global_scope


def as_numpy(tensor: Any) -> Any:
    """The array of a tensor, or a list of those of several.

    Args:
        tensor: a tensor without sequences, or a list of them.

    Raises:
        ArgumentError: it holds sequences.
    """
    if isinstance(tensor, (list, LoDTensorArray)):
        return [as_numpy(each) for each in tensor]
    if isinstance(tensor, LoDTensor) and tensor.lod():
        raise ArgumentError("expected a tensor without sequences: fetch it with return_numpy=False")
    return np.array(tensor)


def _fetch_var(name: str, scope: Scope | None = None, return_numpy: bool = True) -> Any:
    found = (scope or global_scope()).find_var(name)
    if found is None:
        raise ArgumentError(f"expected the name of a variable in the scope, got {name!r}")
    tensor = found.get_tensor()
    return as_numpy(tensor) if return_numpy else tensor


def _as_lodtensor(data: Any, place: Any, dtype: Any = None) -> LoDTensor:
    """A tensor of an array, or of a list of numbers.

    Args:
        data: the array or the list.
        place: accepted for old scripts; there is one place.
        dtype: what a list is made an array of; as NumPy does when None.

    Raises:
        ArgumentError: it is a list of several lengths.
    """
    if isinstance(data, (list, tuple)):
        try:
            data = np.array(data, None if dtype is None else as_dtype(dtype).dtype)
        except ValueError:
            raise ArgumentError(
                "expected an array or a list of numbers; make a LoDTensor of sequences: "
                "fluid.create_lod_tensor(...)"
            ) from None
    made = LoDTensor()
    made.set(data, place)
    return made


def _to_name_str(var: Any) -> str:
    return var if isinstance(var, str) else str(var.name)


def dimension_is_compatible_with(first: Any, second: Any) -> bool:
    """Whether sizes may be of one shape, unknown ones fitting all."""
    return len(first) == len(second) and all(
        a == b or a is None or b is None or a < 0 or b < 0 for a, b in zip(first, second)
    )


def dtype_is_compatible_with(first: Any, second: Any) -> bool:
    """Whether two element types are the same."""
    return as_dtype(first) == as_dtype(second)


def has_feed_operators(block: Any, feed_targets: Any, feed_holder_name: str) -> bool:
    """Whether a block holds operators that feed."""
    return any(op.type == "feed" for op in block.ops)


def has_fetch_operators(block: Any, fetch_targets: Any, fetch_holder_name: str) -> bool:
    """Whether a block holds operators that fetch."""
    return any(op.type == "fetch" for op in block.ops)
