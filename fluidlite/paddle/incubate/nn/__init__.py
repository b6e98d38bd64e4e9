"""``paddle.incubate.nn`` of paddle 2.6: layers that are several functions in one call."""

from __future__ import annotations

from ....ground.module_tables import Table, hold_modules
from ....ground.public_names import list_public_names
from ....nn.fused import (
    FusedBiasDropoutResidualLayerNorm,
    FusedDropoutAdd,
    FusedEcMoe,
    FusedFeedForward,
    FusedLinear,
    FusedMultiHeadAttention,
    FusedMultiTransformer,
    FusedTransformerEncoderLayer,
)
from . import functional

__all__ = [
    "FusedBiasDropoutResidualLayerNorm", "FusedDropoutAdd", "FusedEcMoe", "FusedFeedForward",
    "FusedLinear", "FusedMultiHeadAttention", "FusedMultiTransformer",
    "FusedTransformerEncoderLayer", "functional",
]  # fmt: skip

_HERE = "paddle.incubate.nn"
_MODULES: Table = {
    "layer": {_HERE: " ".join(__all__[:-1])},
    "layer.fused_dropout_add": {_HERE: "FusedDropoutAdd"},
    "layer.fused_ec_moe": {_HERE: "FusedEcMoe"},
    "layer.fused_linear": {_HERE: "FusedLinear"},
    "layer.fused_transformer": {
        _HERE: "FusedBiasDropoutResidualLayerNorm FusedFeedForward FusedMultiHeadAttention "
        "FusedMultiTransformer FusedTransformerEncoderLayer"
    },
    "loss": {"paddle.incubate": "identity_loss"},
}
list_public_names(globals())
hold_modules(globals(), _MODULES)
