"""Random numbers that distributions are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import layers
from ...eager.recording import eager
from ...functions.shaping import concat, reshape
from ...functions.slices import shape as shape_of
from ...ground.dtypes import as_dtype
from ...ground.state import builds
from ..creation import to_tensor
from .distribution import sizes_in, stretched

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


def uniform(
    shape: Sequence[int], *like: Tensor, low: float = 0.0, high: float = 1.0, seed: int = 0
) -> Any:
    """Numbers equally likely everywhere in [low, high).

    Args:
        shape: sizes in front.
        like: parameters; the sizes behind and the element type are what they broadcast to.
        low, high: the bounds.
        seed: fixes the numbers; 0 for none.
    """
    return _drawn("uniform_random", shape, like, min=low, max=high, seed=seed)


def normal(shape: Sequence[int], *like: Tensor, seed: int = 0) -> Any:
    """Normally distributed numbers.

    Args:
        shape, like, seed: see :func:`uniform`.
    """
    return _drawn("gaussian_random", shape, like, mean=0.0, std=1.0, seed=seed)


def _drawn(operator: str, shape: Sequence[int], like: Sequence[Any], **options: Any) -> Any:
    front, dtype = sizes_in(shape), as_dtype(like[0].array.dtype)
    sizes: Any = [*front, *stretched(*like)]
    if -1 in sizes:  # a program knows them in a run only
        whole: Any = sum(like[1:], like[0])
        sizes = (
            concat([to_tensor([*front], "int32"), shape_of(whole)]) if front else shape_of(whole)
        )
        return getattr(layers, operator)(sizes, dtype=dtype, **options)
    one = sizes or [1]  # operators draw one number at least
    if builds.get():
        drawn: Any = getattr(layers, operator)(one, dtype=dtype, **options)
    else:
        drawn = to_tensor(getattr(eager, operator)(shape=one, dtype=dtype, **options))
    return drawn if sizes else reshape(drawn, [])
