"""``paddle.static.amp`` of paddle 2.6: on a CPU losses are scaled, and nothing is cast."""

from __future__ import annotations

from ....ground.public_names import list_given_names
from ....ground.tracebacks import api_boundaries
from ...holders import hold
from . import bf16, debugging
from .decorating import (
    AutoMixedPrecisionLists,
    CustomOpLists,
    cast_model_to_fp16,
    cast_parameters_to_fp16,
    decorate,
    fp16_guard,
)  # fmt: skip

list_given_names(globals(), "bf16", "debugging")
api_boundaries(globals())
hold(globals())
