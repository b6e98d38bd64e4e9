"""Functions of tensors whose OneFlow spelling is not paddle's: ``dim`` in the place of ``axis``."""

from __future__ import annotations

from typing import Any

from ..imperative import arithmetic, reduction, selection, shaping
from ..imperative.recording import eager


def sum(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The sum of the elements, over some dimensions or all.

    Args:
        input: a tensor.
        dim: a dimension or a list of them; all when None.
        keepdim: the dimensions stay, with size 1.

    >>> x = fluid.flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.flow.sum(x, dim=0)
    tensor([4., 6.], dtype=float32)
    """
    return reduction.sum(input, dim, keepdim=keepdim)


def mean(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The mean of the elements, over some dimensions or all; see :func:`sum`."""
    return reduction.mean(input, dim, keepdim)


def prod(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The product of the elements, over some dimensions or all; see :func:`sum`."""
    return reduction.prod(input, dim, keepdim)


def max(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The largest element; or those along a dimension, and their places.

    Equal ones share the gradient of the first form; that of the second goes to the one whose place
    is given.

    Args:
        input: a tensor.
        dim: along which dimension; None for the largest of all.
        keepdim: the dimension stays, with size 1.

    >>> fluid.flow.max(fluid.flow.tensor([[1.0, 3.0], [5.0, 2.0]]), dim=1)
    (tensor([3., 5.], dtype=float32), tensor([1, 0], dtype=int64))
    """
    if dim is None:
        return reduction.max(input)
    return _picked(input, reduction.argmax(input, dim, True), dim, keepdim)


def min(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest element; or those along a dimension, and their places; see :func:`max`."""
    if dim is None:
        return reduction.min(input)
    return _picked(input, reduction.argmin(input, dim, True), dim, keepdim)


def _picked(input: Any, places: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    found = selection.take_along_axis(input, places, dim)
    if keepdim:
        return found, places
    return shaping.squeeze(found, dim), shaping.squeeze(places, dim)


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The place of the largest element; the first one where several are."""
    return reduction.argmax(input, dim, keepdim)


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The place of the smallest element; the first one where several are."""
    return reduction.argmin(input, dim, keepdim)


def softmax(input: Any, dim: int) -> Any:
    """e^x divided by the sum of those along a dimension."""
    return eager.softmax(input, axis=dim)


def relu(input: Any) -> Any:
    """max(x, 0); its gradient at 0 is 0."""
    return eager.relu(input)


def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors behind each other along a dimension."""
    return shaping.concat(tensors, dim)


def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors of one shape along a new dimension."""
    return shaping.stack(tensors, dim)


def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged.

    >>> fluid.flow.transpose(fluid.flow.tensor([[1.0, 2.0]]), 0, 1).shape
    [2, 1]
    """
    return shaping.swapaxes(input, dim0, dim1)


def permute(input: Any, *dims: Any) -> Any:
    """The dimensions in another order.

    Args:
        input: a tensor.
        dims: the dimension to come first, the second, ...; or a list of them.
    """
    order = dims[0] if len(dims) == 1 and isinstance(dims[0], (list, tuple)) else dims
    return shaping.transpose(input, list(order))


def sub(input: Any, other: Any) -> Any:
    """input - other."""
    return arithmetic.subtract(input, other)


def mul(input: Any, other: Any) -> Any:
    """input * other."""
    return arithmetic.multiply(input, other)


def div(input: Any, other: Any) -> Any:
    """input / other."""
    return arithmetic.divide(input, other)
