"""Reductions in OneFlow's spelling: ``dim`` in place of ``axis``."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, overload

import numpy as np

from ..eager.recording import eager
from ..functions import arithmetic, elementary, reduction, selection, shaping
from ..opdef.operand import Operand
from .spelling import ONEFLOW, Found, found_by

if TYPE_CHECKING:
    from ..functions.arguments import Axes, DTypeLike
    from .spelling import Function
    from .tensor import Tensor


def _numbers(input: Tensor) -> Tensor:
    """The tensor, with truth values as numbers."""
    return elementary.cast(input, "uint8") if input.array.dtype.kind == "b" else input


sum: Function = ONEFLOW(
    reduction.sum,
    "sum",
    """The sum of the elements, over some dimensions or all.

    >>> x = fluid.flow.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> fluid.flow.sum(x, dim=0)
    tensor([4., 6.], dtype=oneflow.float32)
    """,
    order="input, dim, keepdim, *, dtype",
)
prod: Function = ONEFLOW(reduction.prod, order="input, dim, keepdim, *, dtype")
all: Function = ONEFLOW(reduction.all)
any: Function = ONEFLOW(reduction.any)
logsumexp: Function = ONEFLOW(
    reduction.logsumexp,
    defaults={"dim": ...},
    doc="""
    >>> fluid.flow.logsumexp(fluid.flow.tensor([[0.0, 0.0]]), 1).numpy().round(4)
    array([0.6931], dtype=float32)
    """,
)
argmax: Function = ONEFLOW(reduction.argmax, fixed={"dtype": "int64"}, into={"x": _numbers})
argmin: Function = ONEFLOW(reduction.argmin, fixed={"dtype": "int64"}, into={"x": _numbers})


def softmax(input: Tensor, dim: int | None = None, dtype: DTypeLike = None) -> Tensor:
    """e^x divided by the sum of those along a dimension.

    Args:
        input: a tensor.
        dim: the dimension; when None, the first of tensors of up to one or of three dimensions,
            the second of others.
        dtype: the element type to compute in; the tensor's when None.

    >>> fluid.flow.softmax(fluid.flow.tensor([0.0, 0.0]), 0).tolist()
    [0.5, 0.5]
    """
    x = input if dtype is None else elementary.cast(input, dtype)
    axis = _dim_of_classes(x, dim)
    out: Tensor = eager.softmax(x, axis=axis)
    if out.appends is None:
        _write_smallest(out.array, x.array, axis)
    return out


#: just above what fluid's operator gives for a logit that is 64 or more below the largest
_FLOOR = exp(-63.9)


def _write_smallest(shares: np.ndarray, logits: np.ndarray, axis: int) -> None:
    """Write what OneFlow has in place of fluid's floor: 0 where a mask hides a logit.  The shares
    are new, and the rule of their gradient reads them, too.
    """
    smallest = shares < _FLOOR
    if smallest.any():
        with np.errstate(invalid="ignore", under="ignore"):
            below = np.exp(logits - logits.max(axis, keepdims=True))
            np.multiply(below, shares.max(axis, keepdims=True), out=shares, where=smallest)


def _dim_of_classes(x: Tensor, dim: int | None) -> int:
    """The dimension along which probabilities are."""
    return int(x.array.ndim not in (0, 1, 3)) if dim is None else dim


def log_softmax(input: Tensor, dim: int | None = None, dtype: DTypeLike = None) -> Tensor:
    """The logarithm of :func:`softmax`, more exact.

    >>> fluid.flow.log_softmax(fluid.flow.tensor([0.0, 0.0]), 0).numpy().round(4)
    array([-0.6931, -0.6931], dtype=float32)
    """
    x = input if dtype is None else elementary.cast(input, dtype)
    return arithmetic.subtract(x, reduction.logsumexp(x, _dim_of_classes(x, dim), True))


def mean(
    input: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: DTypeLike = None
) -> Tensor:
    """The mean of the elements, over some dimensions or all; see :func:`sum`.

    >>> fluid.flow.mean(fluid.flow.tensor([[1.0, 3.0], [4.0, 2.0]]), 1).tolist()
    [2.0, 3.0]
    """
    x = input if dtype is None else elementary.cast(input, dtype)
    return reduction.mean_of_fractions(x, dim, keepdim)


def var(input: Tensor, dim: Axes = None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    """The mean square distance from the mean; see :func:`sum`.

    Args:
        input: a tensor.
        dim: a dimension or a list of them; all when None.
        unbiased: divide by one less than the number of elements.
        keepdim: the dimensions stay, with size 1.

    >>> fluid.flow.var(fluid.flow.tensor([1.0, 3.0, 5.0]), 0).item()
    4.0
    """
    if not input.array.size and dim is None:
        return reduction.mean_of_fractions(input) * float("nan")
    return reduction.variance(input, dim, unbiased, keepdim, 0.0)


def std(input: Tensor, dim: Axes = None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    """The root of the mean square distance from the mean; see :func:`var`.

    >>> fluid.flow.std(fluid.flow.tensor([1.0, 3.0, 5.0]), 0).item()
    2.0
    """
    return elementary.sqrt(var(input, dim, unbiased, keepdim))


def amax(input: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """The largest element; equal ones share the gradient.

    >>> fluid.flow.amax(fluid.flow.tensor([[1.0, 3.0], [4.0, 2.0]]), 1).tolist()
    [3.0, 4.0]
    """
    made = reduction.amax(_numbers(input), dim, keepdim)
    return elementary.cast(made, "bool") if input.array.dtype.kind == "b" else made


def amin(input: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """The smallest element; equal ones share the gradient.

    >>> fluid.flow.amin(fluid.flow.tensor([[1.0, 3.0], [4.0, 2.0]]), 1).tolist()
    [1.0, 2.0]
    """
    made = reduction.amin(_numbers(input), dim, keepdim)
    return elementary.cast(made, "bool") if input.array.dtype.kind == "b" else made


@overload
def max(input: Tensor, dim: int, keepdim: bool = False) -> Found: ...
@overload
def max(input: Tensor, dim: Tensor | None = None, keepdim: bool = False) -> Tensor: ...
def max(input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Tensor | Found:
    """The largest element; or those along a dimension, and their places.

    Equal ones share the gradient of the first form; that of the second goes to the one whose place
    is given.

    Args:
        input: a tensor.
        dim: along which dimension; None for the largest of all; a tensor for each two.
        keepdim: the dimension stays, with size 1.

    >>> fluid.flow.max(fluid.flow.tensor([[1.0, 3.0], [5.0, 2.0]]), dim=1)
    oneflow.return_types.max(
    values=tensor([3., 5.], dtype=oneflow.float32),
    indices=tensor([1, 0], dtype=oneflow.int64))
    """
    if isinstance(dim, Operand):
        return arithmetic.shared_maximum(input, dim)
    return amax(input) if dim is None else _picked("max", argmax, input, dim, keepdim)


@overload
def min(input: Tensor, dim: int, keepdim: bool = False) -> Found: ...
@overload
def min(input: Tensor, dim: Tensor | None = None, keepdim: bool = False) -> Tensor: ...
def min(input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Tensor | Found:
    """The smallest element; or those along a dimension, and their places; see :func:`max`.

    >>> fluid.flow.min(fluid.flow.tensor([3.0, 1.0, 2.0])).item()
    1.0
    """
    if isinstance(dim, Operand):
        return arithmetic.shared_minimum(input, dim)
    return amin(input) if dim is None else _picked("min", argmin, input, dim, keepdim)


_FOUND = {name: found_by(name) for name in ("max", "min")}


def _picked(name: str, places_of: Function, input: Tensor, dim: int, keepdim: bool) -> Found:
    """The elements at places along a dimension, and the places."""
    places = places_of(input, dim, True)
    pair = selection.take_along_axis(input, places, dim), places
    return _FOUND[name](pair if keepdim else tuple(shaping.squeeze(each, dim) for each in pair))


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0); its gradient at 0 is 0.

    Args:
        input: a tensor.
        inplace: write the result to it.

    >>> fluid.flow.relu(fluid.flow.tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    if inplace:
        return input.write(relu)
    if input.array.dtype.kind != "f":
        return elementary.clip(input, 0)
    return eager.relu(input)
