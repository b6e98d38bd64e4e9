"""Further elements around sequences, images, volumes, or anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError
from ...functions.shaping import moveaxis, numbers_in, squeeze, unsqueeze

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
    last = data_format[-1] == "C"
    if rank == 2 and mode != "circular":
        left, right, *above = amounts
        attrs = dict(mode={"replicate": "edge"}.get(mode, mode), pad_value=float(value))
        return eager.pad2d(x, paddings=(*above, left, right), data_format=data_format, **attrs)
    x = moveaxis(x, -1, 1) if last else x
    for _ in range(3 - rank):
        x = unsqueeze(x, 2)
    around = (*amounts, *[0] * (6 - len(amounts)))
    x = eager.pad3d(x, paddings=around, mode=mode, value=float(value))
    for _ in range(3 - rank):
        x = squeeze(x, 2)
    return moveaxis(x, 1, -1) if last else x


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
