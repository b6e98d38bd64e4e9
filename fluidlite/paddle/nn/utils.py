"""``paddle.nn.utils`` of paddle 2.6."""

from __future__ import annotations

from ...ground.module_tables import make_modules
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
from ..holders import holders

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "remove_weight_norm",
    "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip

list_public_names(globals())
__path__: list[str] = []
globals().update(make_modules(__name__, holders(__name__)))
