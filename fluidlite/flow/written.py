"""Methods of tensors that are functions, too, under the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .tensor import Tensor

_METHODS: Any = Tensor

clamp_: Callable[..., Tensor] = _METHODS.clamp_
clamp_max_: Callable[..., Tensor] = _METHODS.clamp_max_
clamp_min_: Callable[..., Tensor] = _METHODS.clamp_min_
clip_: Callable[..., Tensor] = _METHODS.clip_
contiguous: Callable[..., Tensor] = _METHODS.contiguous
div_: Callable[..., Tensor] = _METHODS.div_
global_to_global: Callable[..., Tensor] = _METHODS.global_to_global
erfinv_: Callable[..., Tensor] = _METHODS.erfinv_
floor_: Callable[..., Tensor] = _METHODS.floor_
index_add_: Callable[..., Tensor] = _METHODS.index_add_
local_to_global: Callable[..., Tensor] = _METHODS.local_to_global
masked_fill_: Callable[..., Tensor] = _METHODS.masked_fill_
new_empty: Callable[..., Tensor] = _METHODS.new_empty
new_full: Callable[..., Tensor] = _METHODS.new_full
new_ones: Callable[..., Tensor] = _METHODS.new_ones
new_zeros: Callable[..., Tensor] = _METHODS.new_zeros
sin_: Callable[..., Tensor] = _METHODS.sin_

to_global: Callable[..., Tensor] = _METHODS.to_global
to_local: Callable[..., Tensor] = _METHODS.to_local


def zero_(input: Tensor) -> Tensor:
    """Make all elements 0, in place.

    >>> fluid.flow.zero_(fluid.flow.ones(2)).tolist()
    [0.0, 0.0]
    """
    made: Tensor = input.zero_()
    return made
