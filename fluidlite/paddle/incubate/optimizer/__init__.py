"""``paddle.incubate.optimizer`` of paddle 2.6."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from ....optimizer import GradientMergeOptimizer, LarsMomentumOptimizer, RecomputeOptimizer
from ...optimizer import LBFGS
from . import functional
from .average import ModelAverage
from .lookahead import LookAhead

__all__ = [
    "GradientMergeOptimizer", "LBFGS", "LarsMomentumOptimizer", "LookAhead", "ModelAverage",
    "RecomputeOptimizer", "functional",
]  # fmt: skip

list_public_names(globals())
