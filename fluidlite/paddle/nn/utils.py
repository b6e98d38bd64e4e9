"""``paddle.nn.utils`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from ...nn.utils import (
    clip_grad_norm_,
    clip_grad_value_,
    parameters_to_vector,
    remove_weight_norm,
    spectral_norm,
    vector_to_parameters,
    weight_norm,
)  # fmt: skip
from ..holders import hold

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "remove_weight_norm",
    "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip

list_public_names(globals())
hold(globals())
