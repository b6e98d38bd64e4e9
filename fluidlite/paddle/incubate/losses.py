"""Losses as they are, and softmax of what a mask leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.recording import eager
from ...errors import ArgumentError, DTypeError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...opdef.operand import Operand

__all__ = ["identity_loss", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle"]

_REDUCTIONS: dict[Any, int] = {"sum": 0, "mean": 1, "none": 2, 0: 0, 1: 1, 2: 2}


def identity_loss(x: Operand, reduction: str | int = "none") -> Any:
    """A loss as it is, or put together; its gradient begins there.

    Args:
        x: a loss of fractions, of any shape.
        reduction: "none" or 2; "sum" or 0; "mean" or 1.

    Raises:
        ArgumentError: it is something else.

    >>> from fluidlite import paddle
    >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 3.0]), "mean").item()
    2.0
    """
    if not isinstance(x, Operand):
        raise ArgumentError(f"identity_loss: expected a tensor, got {x!r:.60}")
    if not isinstance(reduction, (str, int)) or reduction not in _REDUCTIONS:
        raise ArgumentError(f"expected reduction to be none, sum or mean, got {reduction!r:.60}")
    if np.dtype(x.array.dtype).kind != "f":
        raise DTypeError(f"identity_loss: expected fractions, got {x.array.dtype}")
    return eager.identity_loss(x, reduction=_REDUCTIONS[reduction])


def softmax_mask_fuse(x: Operand, mask: Operand, name: str | None = None) -> Any:
    """The softmax of a sum.

    Args:
        x: [B, heads, N, M].
        mask: [B, 1, N, M]: a large negative number where nothing is to stay; nothing flows to it.
        name: accepted.

    >>> from fluidlite import paddle
    >>> x = paddle.zeros([1, 1, 1, 2])
    >>> mask = paddle.to_tensor([[[[0.0, -1e9]]]])
    >>> paddle.incubate.softmax_mask_fuse(x, mask).numpy().round(3).tolist()
    [[[[1.0, 0.0]]]]
    """
    return eager.fused_softmax_mask(x, mask)


def softmax_mask_fuse_upper_triangle(x: Operand) -> Any:
    """The softmax of what is not above the diagonal.

    Args:
        x: [B, heads, N, N].

    >>> from fluidlite import paddle
    >>> out = paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.zeros([1, 1, 2, 2]))
    >>> out.numpy().round(3).tolist()
    [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    return eager.fused_softmax_mask_upper_triangle(x)


list_public_names(globals())
api_boundaries(globals())
