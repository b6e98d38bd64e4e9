"""Random tensors, and tensors of what is there, in OneFlow's spelling."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..eager.recording import TensorRecord
from ..functions import arithmetic, counting, creation, elementary, noise
from ..ground.dtypes import as_dtype
from ..opdef.operand import appends
from .creation import made, sizes_of
from .tensor import Tensor, tensor


def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros, which nobody should count on; see :func:`zeros`."""
    return made(creation.zeros(sizes_of(size), dtype), requires_grad, device)


def empty_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor in the shape of another one, of numbers that nobody should count on."""
    return made(creation.zeros_like(input, dtype), requires_grad, device)


def rand_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Random numbers in the shape of a tensor, equally likely everywhere in [0, 1)."""
    kind = as_dtype(input.array.dtype) if dtype is None else dtype
    if input.appends is not None:
        return made(elementary.cast(noise.uniform_like(input), kind), requires_grad, device)
    return made(creation.rand(list(input.array.shape), kind), requires_grad, device)


def randn_like(
    input: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """Random numbers in the shape of a tensor, of mean 0 and deviation 1."""
    kind = as_dtype(input.array.dtype) if dtype is None else dtype
    if input.appends is not None:
        return made(elementary.cast(noise.normal_like(input), kind), requires_grad, device)
    return made(creation.randn(list(input.array.shape), kind), requires_grad, device)


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    dtype: Any = "int64",
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Random integers from one number up to, without, another one.

    Args:
        low: the first one; 0 where it is left out, as in ``randint(10, (3,))``.
        high: the one behind the last.
        size: the shape.
        dtype: the element type.
        device: the CPU, or None.
        requires_grad: whether gradients with respect to it are wanted.

    >>> bool((fluid.flow.randint(3, (10,)) < 3).all())
    True
    """
    if isinstance(high, (list, tuple)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    return made(creation.randint(low, high, list(size), dtype), requires_grad, device)


def randint_like(
    input: Any, low: int, high: int | None = None, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """Random integers in the shape of a tensor; see :func:`randint`."""
    first, end = (0, low) if high is None else (low, high)
    kind = as_dtype(input.array.dtype) if dtype is None else dtype
    if input.appends is not None:
        drawn = noise.uniform_like(elementary.cast(input, "float64"), first, end)
        return made(elementary.cast(elementary.floor(drawn), kind), False, device)
    return made(creation.randint(first, end, list(input.array.shape), kind), False, device)


def randperm(n: int, *, dtype: Any = "int64", device: Any = None) -> Tensor:
    """The numbers from 0 to n - 1 in random order."""
    return made(creation.randperm(n, dtype), False, device)


def normal(
    mean: Any,
    std: Any = 1.0,
    *size: Any,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **more: Any,
) -> Tensor:
    """Random numbers of a normal distribution.

    Args:
        mean, std: numbers, or tensors of one shape, which the result has then.
        size: the shape where both are numbers; also by its name.
        dtype: element type; the default one when None.
        device: the CPU, or None.
        requires_grad: whether gradients with respect to it are wanted.
        more: ``size``.
    """
    like = next((each for each in (mean, std) if appends([each]) is not None), None)
    if like is not None:
        spread = arithmetic.multiply(noise.normal_like(like), std)
        return arithmetic.add(spread, mean)  # type: ignore[return-value]
    given = sizes_of(more["size"] if "size" in more and not size else size)
    parts = [
        each.array if isinstance(each, TensorRecord) else np.asarray(each) for each in (mean, std)
    ]
    shape = list(given) or list(np.broadcast_shapes(parts[0].shape, parts[1].shape))
    kind = dtype or next((as_dtype(p.dtype) for p in parts if p.ndim), None)
    drawn = creation.randn(shape, kind)
    array = np.asarray(drawn.array * parts[1] + parts[0], drawn.array.dtype)
    return made(drawn.results(array), requires_grad, device)


def bernoulli(input: Any, p: float | None = None) -> Any:
    """Ones with the probabilities that a tensor holds, or with one for all, and zeros else."""
    return creation.bernoulli(input if p is None else creation.full_like(input, p))


def multinomial(input: Any, num_samples: int, replacement: bool = False) -> Any:
    """Places drawn with the weights that a vector, or each row of a matrix, holds."""
    return counting.multinomial(input, num_samples, replacement)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """So many powers of a number, whose exponents go from start to end; see :func:`zeros`."""
    return made(creation.logspace(start, end, steps, base, dtype), requires_grad, device)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """What it is given, where that is such a tensor; else a tensor of it; see :func:`tensor`."""
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor with a copy of an array."""
    return tensor(np.asarray(ndarray))


def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Any) -> bool:
    """Whether a tensor holds fractions."""
    return bool(input.array.dtype.kind == "f")


def is_nonzero(input: Any) -> bool:
    """Whether the only element is not 0."""
    return bool(input if input.appends is None else input.array)


def numel(input: Any) -> int:
    """The number of elements."""
    return int(input.array.size)


def get_default_dtype() -> Any:
    """The element type of fractions that are given without one."""
    return as_dtype(arithmetic.get_default_dtype())


def set_default_dtype(dtype: Any) -> None:
    """Set the element type of fractions that are given without one; see ``fluid``'s."""
    arithmetic.set_default_dtype(dtype)
