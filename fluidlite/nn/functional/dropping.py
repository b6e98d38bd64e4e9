"""Dropout of channels, and dropout that keeps mean and variance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError, ShapeError
from ...functions.arithmetic import add, multiply, subtract
from ...opdef.windows import FORMATS
from .activation import SELU_ALPHA, SELU_SCALE
from .projection import dropout
from .windows import of_rank


def dropout_of_channels(
    rank: int,
    x: Tensor,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """x with whole channels set to 0 with probability p.

    Args:
        rank: how many further dimensions there are.
        x: [N, C, H, W].
        p: the probability.
        training: False: nothing is set to 0.
        data_format: NCHW or NHWC.
    """
    if x.array.ndim != rank + 2:
        raise ShapeError(f"expected x of {rank + 2} dimensions, got shape {list(x.shape)}")
    first, last = FORMATS[rank]
    if data_format not in (first, last):
        raise ArgumentError(f"expected data_format {first} or {last}, got {data_format!r}")
    return dropout(x, p, [0, 1 if data_format == first else rank + 1], training)


dropout2d: Final = of_rank(
    2,
    dropout_of_channels,
    "dropout2d",
    example="""
    >>> fluid.nn.functional.dropout2d(fluid.ones([1, 2, 2, 2]), training=False).shape
    [1, 2, 2, 2]
    """,
)
dropout3d: Callable[..., Tensor] = of_rank(
    3,
    dropout_of_channels,
    "dropout3d",
    example="""
    >>> fluid.nn.functional.dropout3d(fluid.ones([1, 2, 2, 2, 2]), training=False).shape
    [1, 2, 2, 2, 2]
    """,
)
#: what SELU makes of values far below 0
_SATURATED = -SELU_SCALE * SELU_ALPHA


def alpha_dropout(
    x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None
) -> Tensor:
    """x with elements set to the value at which SELU saturates, with probability p, then scaled and
    moved so that a mean of 0 and a variance of 1 stay (Klambauer et al. 2017).

    Args:
        x: a tensor.
        p: the probability, below 1.
        training: False: x.

    Raises:
        ArgumentError: ``p`` is out of range.

    >>> fluid.nn.functional.alpha_dropout(fluid.ones([2]), training=False).tolist()
    [1.0, 1.0]
    """
    if not 0 <= p < 1:
        raise ArgumentError(f"expected p in [0, 1), got {p!r}")
    if not training or not p:
        return x
    kept = dropout(eager.fill_any_like(x, value=1.0), p, mode="downscale_in_infer")
    scale = ((1 - p) * (1 + p * _SATURATED**2)) ** -0.5
    dropped = multiply(subtract(kept, 1.0), -_SATURATED)
    out = multiply(add(multiply(x, kept), dropped), scale)
    return add(out, -scale * _SATURATED * p)
