"""Numbers that an attribute says unless tensors do: shapes, starts, times, offsets, axes."""

from __future__ import annotations

from typing import Any

from ..opdef.spec import size_of


def numbers(attribute: Any, tensor: Any, tensors: Any) -> Any:
    """The numbers, from the first that is there.

    Args:
        attribute: all numbers.
        tensor: all numbers in one tensor, or None; goes before the attribute.
        tensors: one tensor for each number, or None; goes before everything else.
    """
    if tensors:
        return [int(one.reshape(())) for one in tensors]
    return list(attribute) if tensor is None else [int(n) for n in tensor.reshape(-1)]


def foretold(attribute: Any, tensor: Any, tensors: Any) -> Any:
    """What is known of the numbers before the tensors are: -1 where nothing is, None where not even
    how many there are.

    Args:
        attribute: all numbers; next to tensors it may be empty.
        tensor: the spec of one tensor with all numbers, or None.
        tensors: the specs of one tensor for each number, or None.
    """
    if tensors:
        return attribute if len(attribute) == len(tensors) else (-1,) * len(tensors)
    if tensor is None:
        return attribute
    count = size_of(tensor.shape)
    if count == -1:
        count = len(attribute)
    return (-1,) * count if count else None
