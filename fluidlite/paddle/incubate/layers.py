"""``paddle.incubate.layers`` of paddle 2.6: layers of programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...contrib import layers as library
from ...contrib.layers import (
    fused_embedding_seq_pool,
    multiclass_nms2,
    partial_concat,
    partial_sum,
    search_pyramid_hash,
    shuffle_batch,
    tdm_child,
    tdm_sampler,
)
from ...eager.recording import eager
from ...errors import ArgumentError, ShapeError
from ...functions.arithmetic import matmul
from ...functions.shaping import unsqueeze
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.variable import Variable
from ...layer_helper import LayerHelper
from ...param_attr import ParamAttr
from ..holders import hold

__all__ = [
    "batch_fc", "correlation", "fused_embedding_seq_pool", "multiclass_nms2", "partial_concat",
    "partial_sum", "rank_attention", "search_pyramid_hash", "shuffle_batch", "tdm_child",
    "tdm_sampler",
]  # fmt: skip


def batch_fc(
    input: Variable,
    param_size: Sequence[int],
    param_attr: ParamAttr | str | None,
    bias_size: Sequence[int],
    bias_attr: ParamAttr | str | None,
    act: str | None = None,
) -> Any:
    """Linear layers of several slots at once, each with its own weight.

    Args:
        input: [slots, batch, in].
        param_size: [slots, in, out].
        param_attr: of the weight.
        bias_size: [slots, out].
        bias_attr: of the bias.
        act: an activation, by its name.

    Returns:
        [slots, batch, out].

    Raises:
        ShapeError: sizes do not fit.
    """
    rows: Any = input
    slots, _, size = input.shape
    if list(param_size[:2]) != [slots, size] or list(bias_size) != [slots, param_size[2]]:
        raise ShapeError(
            f"batch_fc: expected a weight [{slots}, {size}, out] and a bias [{slots}, out], got "
            f"{list(param_size)} and {list(bias_size)}"
        )
    helper = LayerHelper("batch_fc", act=act)
    dtype = input.dtype
    weight = helper.create_parameter(attr=param_attr, shape=list(param_size), dtype=dtype)
    bias = helper.create_parameter(attr=bias_attr, shape=list(bias_size), dtype=dtype)
    return helper.append_activation(matmul(rows, weight) + unsqueeze(bias, 1))


def rank_attention(
    input: Variable,
    rank_offset: Variable,
    rank_param_shape: Sequence[int],
    rank_param_attr: ParamAttr | str | None,
    max_rank: int = 3,
    max_size: int = 0,
) -> Any:
    """The same as ``fluid.contrib.layers.rank_attention``.

    Args:
        input: [rows, size].
        rank_offset: [rows, 2 * max_rank + 1], int32.
        rank_param_shape: of the weight.
        rank_param_attr: of the weight.
        max_rank: the largest rank.
        max_size: accepted.
    """
    return library.rank_attention(input, rank_offset, rank_param_shape, rank_param_attr, max_rank)


def correlation(
    x: Any,
    y: Any,
    pad_size: int,
    kernel_size: int,
    max_displacement: int,
    stride1: int,
    stride2: int,
    corr_type_multiply: int = 1,
) -> Any:
    """How alike the neighbourhoods of places in two pictures are, for each shift between them.

    Args:
        x: [batch, channels, height, width].
        y: the same.
        pad_size: zeros around both.
        kernel_size: the size of neighbourhoods.
        max_displacement: the largest shift.
        stride1: the step between places.
        stride2: the step between shifts.
        corr_type_multiply: 1: likeness is the mean of products.

    Returns:
        [batch, shifts, height', width'].

    Raises:
        ArgumentError: ``corr_type_multiply`` is not 1.
        ShapeError: nothing is left of the pictures.
    """
    if corr_type_multiply != 1:
        raise ArgumentError(f"expected corr_type_multiply to be 1, got {corr_type_multiply!r:.60}")
    return eager.correlation(
        x,
        y,
        pad_size=pad_size,
        kernel_size=kernel_size,
        max_displacement=max_displacement,
        stride1=stride1,
        stride2=stride2,
    )


list_public_names(globals())
api_boundaries(globals())
hold(globals())
