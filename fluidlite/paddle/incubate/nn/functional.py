"""``paddle.incubate.nn.functional`` of paddle 2.6: several functions in one call."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from ....nn.functional.fused import (
    fused_bias_dropout_residual_layer_norm,
    fused_dropout_add,
    fused_feedforward,
    fused_layer_norm,
    fused_linear,
    fused_linear_activation,
    fused_matmul_bias,
    fused_rms_norm,
)
from ....nn.functional.fused_attention import (
    block_multihead_attention,
    fused_ec_moe,
    fused_multi_head_attention,
    fused_multi_transformer,
    fused_rotary_position_embedding,
    masked_multihead_attention,
    variable_length_memory_efficient_attention,
)
from ...holders import hold

__all__ = [
    "block_multihead_attention", "fused_bias_dropout_residual_layer_norm", "fused_dropout_add",
    "fused_ec_moe", "fused_feedforward", "fused_layer_norm", "fused_linear",
    "fused_linear_activation", "fused_matmul_bias", "fused_multi_head_attention",
    "fused_multi_transformer", "fused_rms_norm", "fused_rotary_position_embedding",
    "masked_multihead_attention", "variable_length_memory_efficient_attention",
]  # fmt: skip

list_public_names(globals())
hold(globals())
