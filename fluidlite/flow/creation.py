"""Tensors from nothing, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..functions import creation
from ..functions.mixing import default_float
from .generators import Generator, drawing_from
from .spelling import ONEFLOW
from .tensor import Tensor, made

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike, Numbers
    from .devices import DeviceLike
    from .spelling import Function


zeros: Function = ONEFLOW(
    creation.zeros,
    "zeros",
    """A tensor of zeros.

    Args:
        size: sizes, or a list of them.
        dtype: the element type; the default one when None.

    >>> fluid.flow.zeros(2, 3).shape
    oneflow.Size([2, 3])
    """,
    order="*size, dtype",
    then=made,
    shape="size",
)
ones: Function = ONEFLOW(creation.ones, order="*size, dtype", then=made, shape="size")
empty: Function = ONEFLOW(creation.empty, order="*size, dtype", then=made, shape="size")


def _rand(shape: Numbers, dtype: DTypeLike = None, generator: Generator | None = None) -> Tensor:
    """Random numbers, equally likely everywhere in [0, 1)."""
    with drawing_from(generator):
        return creation.rand(shape, dtype)


def _randn(shape: Numbers, dtype: DTypeLike = None, generator: Generator | None = None) -> Tensor:
    """Random numbers of a normal distribution of mean 0 and deviation 1."""
    with drawing_from(generator):
        return creation.randn(shape, dtype)


def _randperm(n: int, generator: Generator | None = None, dtype: DTypeLike = "int64") -> Tensor:
    """The numbers below n in random order."""
    with drawing_from(generator):
        return creation.randperm(n, dtype)


_SIZED = ">>> fluid.flow.{}(2, 3).shape\noneflow.Size([2, 3])"
_DRAWN: dict[str, Any] = dict(order="*size, dtype, generator", then=made, shape="size")
rand: Function = ONEFLOW(_rand, "rand", _SIZED.format("rand"), **_DRAWN)
randn: Function = ONEFLOW(_randn, "randn", _SIZED.format("randn"), **_DRAWN)
full: Function = ONEFLOW(
    creation.filled,
    "full",
    order="size, fill_value, dtype, device, requires_grad",
    then=made,
    shape="size",
    doc="""
    >>> fluid.flow.full((2,), 7.0).tolist()
    [7.0, 7.0]
    """,
)
eye: Function = ONEFLOW(
    creation.eye, order="n, m, *, dtype", then=made, num_rows="n", num_columns="m"
)
arange: Function = ONEFLOW(
    creation.arange,
    "arange",
    """start, start + step, ... as long as they lie before end, which is the only one given else.

    >>> fluid.flow.arange(3)
    tensor([0, 1, 2], dtype=oneflow.int64)
    """,
    order="start, end, step, dtype, device, requires_grad",
    then=made,
)
linspace: Function = ONEFLOW(
    creation.linspace, order="start, end, steps, *, dtype", then=made, stop="end", num="steps"
)
logspace: Function = ONEFLOW(
    creation.logspace, order="start, end, steps, base, *, dtype", then=made, stop="end", num="steps"
)
zeros_like: Function = ONEFLOW(creation.zeros_like, order="input, *, dtype", then=made)
ones_like: Function = ONEFLOW(creation.ones_like, order="input, *, dtype", then=made)
empty_like: Function = ONEFLOW(creation.empty_like, order="input, *, dtype", then=made)
full_like: Function = ONEFLOW(creation.full_like, order="input, fill_value, *, dtype", then=made)
randperm: Function = ONEFLOW(
    _randperm,
    "randperm",
    order="n, *, generator, dtype",
    then=made,
    doc="""
    >>> sorted(fluid.flow.randperm(4).tolist())
    [0, 1, 2, 3]
    """,
)


def hann_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeLike = None, device: DeviceLike = None
) -> Tensor:
    """A window that begins and ends at 0: half of 1 - cos.

    Args:
        window_length: how many elements.
        periodic: leave out the last zero, for windows that follow each other.
        dtype: the element type.
        device: the CPU, or None.

    >>> fluid.flow.hann_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    count = max(window_length - (not periodic), 1)
    values = 0.5 - 0.5 * np.cos(2 * np.pi / count * np.arange(window_length))
    kind = default_float() if dtype is None else dtype
    return made(creation.to_tensor(values, kind), device)
