"""The largest elements of poolings put back to where they were."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError, ShapeError
from ...functions.arguments import Numbers
from ...functions.shaping import numbers_in, reshape
from ...opdef.windows import FORMATS
from .windows import each, of_rank


def max_unpooling(
    rank: int,
    x: Tensor,
    indices: Tensor,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    data_format: str = "NCHW",
    output_size: Numbers | None = None,
    name: str | None = None,
) -> Tensor:
    """Max pooling of images undone: zeros, and the largest elements where they were.

    Args:
        rank: how many dimensions windows have.
        x: [N, C, H, W], the largest elements.
        indices: their places, counted by rows, in the same shape: what ``return_mask`` gives.
        kernel_size: of the window of the pooling.
        stride: its steps; its size when None.
        padding: around what was pooled: a number, or one for every dimension.
        data_format: channels come first.
        output_size: sizes of the result, where the window leaves several.

    Raises:
        ArgumentError: an option is of another form.
        ShapeError: the sizes do not fit each other.
    """
    if data_format != FORMATS[rank][0]:
        raise ArgumentError(f"expected data_format {FORMATS[rank][0]}, got {data_format!r}")
    old = [+n for n in x.array.shape[1:]]
    if len(old) != rank + 1:
        raise ShapeError(f"expected x of {rank + 2} dimensions, got shape {list(x.array.shape)}")
    sizes = each("kernel_size", kernel_size, rank)
    steps = sizes if stride is None else each("stride", stride, rank)
    around = each("padding", padding, rank)
    new = [(n - 1) * step - 2 * pad + k for n, step, pad, k in zip(old[1:], steps, around, sizes)]
    if output_size is not None:
        usual, new = new, list(numbers_in("output_size", output_size))[-rank:]
        for size, near, step in zip(new, usual, steps):
            if not near - step < size < near + step:
                raise ShapeError(
                    f"expected output_size between {near - step} and {near + step}, got {size}"
                )
    if len(new) != rank or prod(new) < prod(old[1:]):
        raise ShapeError(
            f"expected {rank} sizes of the result with places for {old[1:]} elements, got {new}"
        )
    flat = [reshape(part, [0, 0, 1, prod(old[1:])]) for part in (x, indices)]
    span = prod(new) - prod(old[1:]) + 1
    out = eager.unpool(
        *flat, ksize=(1, span), strides=(1, 1), paddings=(0, 0), unpooling_type="max"
    )
    return reshape(out, [-1, old[0], *new])


_BACK = """>>> F = fluid.nn.functional
>>> x, places = F.max_pool{rank}d(fluid.ones([1, 1{2}]), 2, return_mask=True)
>>> float(F.{name}(x, places, 2).sum())
1.0"""

max_unpool1d: Callable[..., Tensor] = of_rank(1, max_unpooling, "max_unpool1d", _BACK)
max_unpool2d: Final = of_rank(2, max_unpooling, "max_unpool2d", _BACK)
max_unpool3d: Callable[..., Tensor] = of_rank(3, max_unpooling, "max_unpool3d", _BACK)
