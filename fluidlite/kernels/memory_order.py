"""Arrays as rows of elements in the order of their memory."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

#: the dimensions of an array, that of the longest steps first; None for those as they are written
Order = tuple[int, ...] | None


def order_of(array: Any) -> Order:
    """In which order the dimensions of an array lie."""
    if array.flags.c_contiguous:
        return None
    return tuple(sorted(range(array.ndim), key=lambda i: -array.strides[i]))


def empty_in(order: Order, shape: tuple[int, ...], dtype: Any) -> Any:
    """A new array whose dimensions lie in an order."""
    if order is None:
        return np.empty(shape, dtype)
    return from_row(np.empty(prod(shape), dtype), shape, order)


def as_row(array: Any, order: Order) -> Any:
    """The elements of an array, dimensions in an order; a copy where they do not lie so."""
    return (array if order is None else array.transpose(order)).reshape(-1)


def from_row(row: Any, shape: tuple[int, ...], order: Order) -> Any:
    """Elements in a row as an array of a shape, whose dimensions are in an order."""
    if order is None:
        return row.reshape(shape)
    lying = row.reshape([shape[i] for i in order])
    return lying.transpose(np.argsort(order))
