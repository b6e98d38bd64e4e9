"""Further elements around sequences, images, volumes, or anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.items import get_item
from ...functions.shaping import concat, moveaxis, numbers_in, reshape, squeeze, unsqueeze

if TYPE_CHECKING:
    from ...functions.arguments import Numbers

_MODES = ("constant", "reflect", "replicate", "circular")


def pad(
    x: Tensor,
    pad: Numbers,
    mode: str = "constant",
    value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """x with further elements around it.

    Args:
        x: a tensor.
        pad: two numbers, before and after, for every dimension from the first one; or those of
            sequences, images or volumes, the last dimension first: left, right, top, bottom,
            front, back.
        mode: constant; of the latter also reflect; replicate, which repeats the edge; and circular,
            which goes on at the other end.
        value: what ``constant`` adds.
        data_format: ends in "C" where the channels come last.

    >>> x = fluid.to_tensor([[[1.0, 2.0]]])
    >>> fluid.nn.functional.pad(x, [1, 1], data_format="NCL").tolist()
    [[[0.0, 1.0, 2.0, 0.0]]]
    """
    if mode not in _MODES:
        raise ArgumentError(f"expected mode to be one of {', '.join(_MODES)}, got {mode!r}")
    amounts = numbers_in("pad", pad)
    rank = x.array.ndim - 2
    if len(amounts) == 2 * x.array.ndim and mode == "constant":
        return eager.pad(x, paddings=amounts, pad_value=float(value))
    if len(amounts) != 2 * rank or rank not in (1, 2, 3):
        raise ArgumentError(
            f"expected {2 * x.array.ndim} numbers, two for every dimension, or two, four or six "
            f"for sequences, images and volumes, got {list(amounts)}"
        )
    if mode == "circular":
        return _around(x, amounts, rank, data_format[-1] == "C")
    kind = {"replicate": "edge"}.get(mode, mode)
    attrs = dict(mode=kind, pad_value=float(value))
    if rank == 2:
        left, right, top, bottom = amounts
        given = (top, bottom, left, right)
        return eager.pad2d(x, paddings=given, data_format=data_format, **attrs)
    last = data_format[-1] == "C"
    x = moveaxis(x, -1, 1) if last else x
    if rank == 1:
        x = squeeze(eager.pad2d(unsqueeze(x, 2), paddings=(0, 0, *amounts), **attrs), 2)
        return moveaxis(x, 1, -1) if last else x
    left, right, top, bottom, front, back = amounts
    if kind == "constant":
        around = (0, 0, 0, 0, front, back, top, bottom, left, right)
        x = eager.pad(x, paddings=around, pad_value=float(value))
    else:  # planes first, then along the depth
        _, channels, _, height, width = x.array.shape
        x = eager.pad2d(
            reshape(x, [0, -1, height, width]), paddings=(top, bottom, left, right), **attrs
        )
        height, width = height + top + bottom, width + left + right
        x = reshape(x, [0, channels, -1, height * width])
        x = eager.pad2d(x, paddings=(front, back, 0, 0), **attrs)
        x = reshape(x, [0, channels, -1, height, width])
    return moveaxis(x, 1, -1) if last else x


def _around(x: Tensor, amounts: tuple[int, ...], rank: int, last: bool) -> Tensor:
    """x that goes on at its other end, in each of its last dimensions."""
    for k in range(rank):
        before, after = amounts[2 * k : 2 * k + 2]
        axis = x.array.ndim - 1 - k - last
        size = +x.array.shape[axis]
        if not 0 <= min(before, after) <= max(before, after) <= size:
            raise ArgumentError(f"expected numbers from 0 to {size}, got {before} and {after}")
        ends = [(size - before, size), (0, size), (0, after)]
        parts = [
            get_item(x, (*[slice(None)] * axis, slice(begin, end)))
            for begin, end in ends
            if end > begin
        ]
        x = concat(parts, axis)
    return x


def zeropad2d(
    x: Tensor, padding: Numbers, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Images with zeros around them.

    Args:
        x: [N, C, H, W].
        padding: how many: a number, or left, right, top, bottom.
        data_format: NCHW or NHWC.

    >>> fluid.nn.functional.zeropad2d(fluid.ones([1, 1, 1, 1]), [1, 1, 0, 0]).tolist()
    [[[[0.0, 1.0, 0.0]]]]
    """
    amounts = numbers_in("padding", padding)
    return pad(x, amounts * 4 if len(amounts) == 1 else amounts, data_format=data_format)
