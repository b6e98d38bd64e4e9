"""Reductions in OneFlow's spelling: ``dim`` in the place of ``axis``."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..eager.recording import eager
from ..functions import arithmetic, elementary, reduction, selection, shaping
from ..opdef.operand import Operand


class Found(NamedTuple):
    """Elements that were looked for along a dimension, and their places."""

    values: Any
    indices: Any

    def __repr__(self) -> str:
        return f"({self.values!r}, {self.indices!r})"


def _as(input: Any, dtype: Any) -> Any:
    return input if dtype is None else elementary.cast(input, dtype)


def _numbers(input: Any) -> Any:
    """The tensor, with truth values as numbers."""
    return elementary.cast(input, "uint8") if input.array.dtype.kind == "b" else input


def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of the elements, over some dimensions or all.

    Args:
        input: a tensor.
        dim: a dimension or a list of them; all when None.
        keepdim: the dimensions stay, with size 1.
        dtype: the element type to compute in; the tensor's when None.

    >>> x = fluid.flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.flow.sum(x, dim=0)
    tensor([4., 6.], dtype=float32)
    """
    return reduction.sum(_as(input, dtype), dim, keepdim=keepdim)


def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of the elements, over some dimensions or all; see :func:`sum`."""
    return reduction.mean(_as(input, dtype), dim, keepdim)


def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of the elements, over some dimensions or all; see :func:`sum`."""
    return reduction.prod(_as(input, dtype), dim, keepdim)


def max(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element; or those along a dimension, and their places.

    Equal ones share the gradient of the first form; that of the second goes to the one whose place
    is given.

    Args:
        input: a tensor.
        dim: along which dimension; None for the largest of all; a tensor for each two.
        keepdim: the dimension stays, with size 1.

    >>> fluid.flow.max(fluid.flow.tensor([[1.0, 3.0], [5.0, 2.0]]), dim=1)
    (tensor([3., 5.], dtype=float32), tensor([1, 0], dtype=int64))
    """
    if isinstance(dim, Operand):
        return arithmetic.maximum(input, dim)
    if dim is None:
        return amax(input)
    return _picked(input, reduction.argmax(_numbers(input), dim, True), dim, keepdim)


def min(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element; or those along a dimension, and their places; see :func:`max`."""
    if isinstance(dim, Operand):
        return arithmetic.minimum(input, dim)
    if dim is None:
        return amin(input)
    return _picked(input, reduction.argmin(_numbers(input), dim, True), dim, keepdim)


def _picked(input: Any, places: Any, dim: int, keepdim: bool) -> Found:
    found = selection.take_along_axis(input, places, dim)
    if keepdim:
        return Found(found, places)
    return Found(shaping.squeeze(found, dim), shaping.squeeze(places, dim))


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The place of the largest element; the first one where several are."""
    return reduction.argmax(_numbers(input), dim, keepdim)


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The place of the smallest element; the first one where several are."""
    return reduction.argmin(_numbers(input), dim, keepdim)


def var(input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> Any:
    """The mean square distance from the mean; see :func:`sum`.

    Args:
        input: a tensor.
        dim: a dimension or a list of them; all when None.
        unbiased: divide by one less than the number of elements.
        keepdim: the dimensions stay, with size 1.
    """
    if not input.array.size and dim is None:
        return reduction.mean(input) * float("nan")
    return reduction.var(input, dim, unbiased, keepdim)


def std(input: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False) -> Any:
    """The root of the mean square distance from the mean; see :func:`var`."""
    return elementary.sqrt(var(input, dim, unbiased, keepdim))


def amax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element; equal ones share the gradient."""
    found = reduction.amax(_numbers(input), dim, keepdim)
    return elementary.cast(found, "bool") if input.array.dtype.kind == "b" else found


def amin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element; equal ones share the gradient."""
    found = reduction.amin(_numbers(input), dim, keepdim)
    return elementary.cast(found, "bool") if input.array.dtype.kind == "b" else found


def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all elements are true; see :func:`sum`."""
    return reduction.all(input, dim, keepdim)


def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether an element is true; see :func:`sum`."""
    return reduction.any(input, dim, keepdim)


def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False) -> Any:
    """The p-norm of the elements: (the sum of |x|^p)^(1/p); "fro" is 2."""
    return reduction.norm(input, p, dim, keepdim)


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """The logarithm of the sum of e^x, without overflow."""
    return reduction.logsumexp(input, dim, keepdim)


def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """e^x divided by the sum of those along a dimension.

    Args:
        input: a tensor.
        dim: the dimension.
        dtype: the element type to compute in; the tensor's when None.
    """
    return eager.softmax(input if dtype is None else elementary.cast(input, dtype), axis=dim)


def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """The logarithm of :func:`softmax`, more exact."""
    x = input if dtype is None else elementary.cast(input, dtype)
    return arithmetic.subtract(x, reduction.logsumexp(x, dim, True))


def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0); its gradient at 0 is 0.

    Args:
        input: a tensor.
        inplace: write the result to it.
    """
    if inplace:
        return input.write(relu)
    if input.array.dtype.kind != "f":
        return elementary.clip(input, 0)
    return eager.relu(input)
