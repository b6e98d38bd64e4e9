"""Functions that take sizes, or the order of dimensions, as numbers, as a list or by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import arranging, shapes

if TYPE_CHECKING:
    from .tensor import Tensor

Numbers = Sequence[int]


def reshape(input: Tensor, *sizes: int | Numbers, shape: Numbers | None = None) -> Tensor:
    """The tensor with its elements in another shape: a view.

    Args:
        input: a tensor.
        sizes: the sizes, or a list of them; -1 for one that follows from the others.
        shape: the same, by its name.

    >>> fluid.flow.reshape(fluid.flow.arange(6), shape=[2, -1]).shape
    oneflow.Size([2, 3])
    """
    return shapes.reshape(input, *(sizes if shape is None else (shape,)))


def permute(input: Tensor, *order: int | Numbers, dims: Numbers | None = None) -> Tensor:
    """The tensor with its dimensions in another order: a view.

    Args:
        input: a tensor.
        order: the dimensions, or a list of them.
        dims: the same, by its name.

    >>> fluid.flow.permute(fluid.flow.zeros(2, 3, 4), 2, 0, 1).shape
    oneflow.Size([4, 2, 3])
    """
    return shapes.permute(input, *(order if dims is None else (dims,)))


def tile(input: Tensor, *times: int | Numbers, dims: Numbers | None = None) -> Tensor:
    """The tensor repeated along its dimensions, and along new ones in front.

    Args:
        input: a tensor.
        times: how often along each, or a list of that.
        dims: the same, by its name.

    >>> fluid.flow.tile(fluid.flow.tensor([1, 2]), 2).tolist()
    [1, 2, 1, 2]
    """
    return arranging.tile(input, *(times if dims is None else (dims,)))
