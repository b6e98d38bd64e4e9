"""``paddle.amp`` of paddle 2.6: training in 16 bits, which its CPU has not.

There as here ``auto_cast`` and scalers check what they are given, say that they are without effect
on a CPU, and leave all as it is.
"""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ...ground.tracebacks import api_boundaries
from ..holders import hold
from . import debugging
from .casting import (
    amp_decorate,
    amp_guard,
    auto_cast,
    black_list,
    decorate,
    is_bfloat16_supported,
    is_float16_supported,
    white_list,
)  # fmt: skip
from .scaling import AmpScaler, GradScaler, OptimizerState

list_given_names(globals(), "debugging")
api_boundaries(globals())
hold(globals())
