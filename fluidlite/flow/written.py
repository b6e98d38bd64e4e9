"""Methods of tensors that are functions, too, under the same names."""

from __future__ import annotations

from collections.abc import Callable

from .tensor import Tensor

clamp_: Callable[..., Tensor] = Tensor.clamp_
clamp_max_: Callable[..., Tensor] = Tensor.clamp_max_
clamp_min_: Callable[..., Tensor] = Tensor.clamp_min_
clip_: Callable[..., Tensor] = Tensor.clip_
contiguous: Callable[..., Tensor] = Tensor.contiguous
div_: Callable[..., Tensor] = Tensor.div_
global_to_global: Callable[..., Tensor] = Tensor.global_to_global
erfinv_: Callable[..., Tensor] = Tensor.erfinv_
floor_: Callable[..., Tensor] = Tensor.floor_
index_add_: Callable[..., Tensor] = Tensor.index_add_
local_to_global: Callable[..., Tensor] = Tensor.local_to_global
masked_fill_: Callable[..., Tensor] = Tensor.masked_fill_
new_empty: Callable[..., Tensor] = Tensor.new_empty
new_full: Callable[..., Tensor] = Tensor.new_full
new_ones: Callable[..., Tensor] = Tensor.new_ones
new_zeros: Callable[..., Tensor] = Tensor.new_zeros
sin_: Callable[..., Tensor] = Tensor.sin_

to_global: Callable[..., Tensor] = Tensor.to_global
to_local: Callable[..., Tensor] = Tensor.to_local


def zero_(input: Tensor) -> Tensor:
    """Make all elements 0, in place.

    >>> fluid.flow.zero_(fluid.flow.ones(2)).tolist()
    [0.0, 0.0]
    """
    made: Tensor = input.zero_()
    return made
