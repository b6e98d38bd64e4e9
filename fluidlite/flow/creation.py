"""Tensors from nothing, in OneFlow's spelling."""

from __future__ import annotations

from typing import Any

from ..functions import creation
from .devices import need_cpu
from .tensor import Tensor


def made(lenient: Any, requires_grad: bool, device: Any) -> Tensor:
    """The tensor of this spelling for one of another.

    Args:
        lenient: a new tensor.
        requires_grad: whether gradients with respect to it are wanted.
        device: the CPU, or None.
    """
    need_cpu(device)
    if lenient.appends is not None:
        return lenient
    found = Tensor(lenient.array)
    if requires_grad:
        found.requires_grad = True
    return found


def sizes_of(sizes: tuple[Any, ...]) -> Any:
    """What a user wrote as ``f(2, 3)`` or ``f([2, 3])``: the sizes."""
    listed = len(sizes) == 1 and isinstance(sizes[0], (list, tuple))
    return sizes[0] if listed else sizes


def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros.

    Args:
        size: sizes, or a list of them.
        dtype: the element type; the default one when None.
        device: the CPU, or None.
        requires_grad: whether gradients with respect to it are wanted.

    >>> fluid.flow.zeros(2, 3).shape
    [2, 3]
    """
    return made(creation.zeros(sizes_of(size), dtype), requires_grad, device)


def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones; see :func:`zeros`."""
    return made(creation.ones(sizes_of(size), dtype), requires_grad, device)


def full(
    size: Any, fill_value: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor of one number; see :func:`zeros`."""
    return made(creation.full(size, fill_value, dtype), requires_grad, device)


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones where row and column are the same, zeros elsewhere."""
    return made(creation.eye(n, m, dtype), requires_grad, device)


def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... as long as they lie before end, which is the only one given else.

    >>> fluid.flow.arange(3)
    tensor([0, 1, 2], dtype=int64)
    """
    return made(creation.arange(start, end, step, dtype), requires_grad, device)


def rand(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Random numbers, equally likely everywhere in [0, 1); see :func:`zeros`."""
    return made(creation.rand(sizes_of(size), dtype), requires_grad, device)


def randn(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Random numbers of the normal distribution with mean 0 and deviation 1; see :func:`zeros`."""
    return made(creation.randn(sizes_of(size), dtype), requires_grad, device)


def zeros_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Zeros in the shape of a tensor, and in its element type when None; see :func:`zeros`."""
    return made(creation.zeros_like(input, dtype), requires_grad, device)


def ones_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Ones in the shape of a tensor, and in its element type when None; see :func:`zeros`."""
    return made(creation.ones_like(input, dtype), requires_grad, device)


def full_like(
    input: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """One number in the shape of a tensor; see :func:`zeros`."""
    return made(creation.full_like(input, fill_value, dtype), requires_grad, device)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """So many numbers from start to end, at equal distances; see :func:`zeros`."""
    return made(creation.linspace(start, end, steps, dtype), requires_grad, device)
