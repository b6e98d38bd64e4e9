"""Largest elements with their places, and elements put back to such places."""

from __future__ import annotations

from math import prod
from typing import Any

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError, ShapeError
from ...functions.shaping import numbers_in, reshape
from ...ground.docstrings import Family
from .windows import each, windows_of

UNPOOLING = Family(
    {
        "x": "[N, C, ...], the largest elements.",
        "indices": "their places, counted by rows, in the same shape: what ``return_mask`` gives.",
        "kernel_size": "of the window of the pooling.",
        "stride": "its steps; its size when None.",
        "padding": "around what was pooled: a number, or one for every dimension.",
        "data_format": "channels come first.",
        "output_size": "sizes of the result, where the window leaves several.",
    },
    raises="ArgumentError: an option is of another form.\n"
    "ShapeError: the sizes do not fit each other.",
)


def with_places(
    rank: int,
    x: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    data_format: str,
) -> tuple[Tensor, Tensor]:
    """The largest elements under a window, and their places, counted by rows.

    Args:
        rank: how many dimensions the window has: 2 or 3.
        x: [N, C, ...].
        kernel_size, stride, padding, ceil_mode, data_format: as of ``max_pool2d``.

    Raises:
        ArgumentError: places are not given with such options.
    """
    windows = windows_of(rank, kernel_size, stride, padding, data_format)
    if ceil_mode or data_format[-1] == "C" or windows.algorithm != "EXPLICIT":
        raise ArgumentError(
            f"max_pool{rank}d with return_mask=True: expected ceil_mode=False, channels first, and "
            f"padding in numbers"
        )
    made = getattr(eager, f"max_pool{rank}d_with_index").all(
        x, ksize=windows.sizes, strides=windows.steps, paddings=windows.padding
    )
    return made["Out"], made["Mask"]


def places_of_parts(rank: int, x: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    """The largest elements of so many parts, and their places, counted by rows.

    Args:
        rank: how many dimensions are cut: 2 or 3.
        x: [N, C, ...].
        output_size: how many parts there are: a number, or one for every dimension.
    """
    sizes = each("output_size", output_size, rank)
    made = getattr(eager, f"max_pool{rank}d_with_index").all(x, ksize=sizes, adaptive=True)
    return made["Out"], made["Mask"]


def _put_back(
    rank: int,
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Tensor:
    """Zeros, and elements at places of them."""
    old = [+n for n in x.array.shape[1:]]
    if len(old) != rank + 1:
        raise ShapeError(f"expected x of {rank + 2} dimensions, got shape {list(x.array.shape)}")
    sizes = each("kernel_size", kernel_size, rank)
    steps = sizes if stride is None else each("stride", stride, rank)
    around = each("padding", padding, rank)
    new = [(n - 1) * step - 2 * pad + k for n, step, pad, k in zip(old[1:], steps, around, sizes)]
    if output_size is not None:
        new = list(numbers_in("output_size", output_size))[-rank:]
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


def _need_first(data_format: str, first: str) -> None:
    if data_format != first:
        raise ArgumentError(f"expected data_format {first}, got {data_format!r}")


@UNPOOLING
def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCL",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Max pooling of sequences undone: zeros, and the largest elements where they were."""
    _need_first(data_format, "NCL")
    return _put_back(1, x, indices, kernel_size, stride, padding, output_size)


@UNPOOLING
def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCHW",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Max pooling of images undone: zeros, and the largest elements where they were.

    >>> F = fluid.nn.functional
    >>> x, places = F.max_pool2d(fluid.arange(4.0).reshape([1, 1, 2, 2]), 2, return_mask=True)
    >>> F.max_unpool2d(x, places, 2).tolist()
    [[[[0.0, 0.0], [0.0, 3.0]]]]
    """
    _need_first(data_format, "NCHW")
    return _put_back(2, x, indices, kernel_size, stride, padding, output_size)


@UNPOOLING
def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    data_format: str = "NCDHW",
    output_size: Any = None,
    name: str | None = None,
) -> Tensor:
    """Max pooling of volumes undone: zeros, and the largest elements where they were."""
    _need_first(data_format, "NCDHW")
    return _put_back(3, x, indices, kernel_size, stride, padding, output_size)
