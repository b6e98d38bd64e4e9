"""Tensors from nothing, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..functions import creation
from .devices import need_cpu
from .spelling import ONEFLOW
from .tensor import Tensor

if TYPE_CHECKING:
    from .devices import DeviceLike
    from .spelling import Function


def made(lenient: Tensor, device: DeviceLike = None, requires_grad: bool = False) -> Tensor:
    """The tensor of this spelling for one of another.

    Args:
        lenient: a new tensor.
        device: the CPU, or None.
        requires_grad: whether gradients with respect to it are wanted.
    """
    need_cpu(device)
    if lenient.appends is not None:
        return lenient
    found = Tensor.results(lenient.array)
    if requires_grad:
        found.requires_grad = True
    return found


zeros: Function = ONEFLOW(
    creation.zeros,
    "zeros",
    """A tensor of zeros.

    Args:
        size: sizes, or a list of them.
        dtype: the element type; the default one when None.

    >>> fluid.flow.zeros(2, 3).shape
    [2, 3]
    """,
    order="*size, dtype",
    then=made,
    shape="size",
)
ones: Function = ONEFLOW(creation.ones, order="*size, dtype", then=made, shape="size")
empty: Function = ONEFLOW(creation.empty, order="*size, dtype", then=made, shape="size")
rand: Function = ONEFLOW(creation.rand, order="*size, dtype", then=made, shape="size")
randn: Function = ONEFLOW(creation.randn, order="*size, dtype", then=made, shape="size")
full: Function = ONEFLOW(
    creation.full,
    order="size, fill_value, dtype, device, requires_grad",
    then=made,
    shape="size",
)
eye: Function = ONEFLOW(
    creation.eye, order="n, m, *, dtype", then=made, num_rows="n", num_columns="m"
)
arange: Function = ONEFLOW(
    creation.arange,
    "arange",
    """start, start + step, ... as long as they lie before end, which is the only one given else.

    >>> fluid.flow.arange(3)
    tensor([0, 1, 2], dtype=int64)
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
randperm: Function = ONEFLOW(creation.randperm, order="n, *, dtype", then=made)
