"""``paddle.incubate.optimizer`` of paddle 2.6."""

from __future__ import annotations

from ....ground.missing_names import answer_of_paddle_2
from ....ground.public_names import list_public_names
from ....optimizer import GradientMergeOptimizer, LarsMomentumOptimizer, RecomputeOptimizer
from ...holders import hold
from ...optimizer import LBFGS
from . import functional
from .average import ModelAverage
from .lookahead import LookAhead

__all__ = [
    "GradientMergeOptimizer", "LBFGS", "LarsMomentumOptimizer", "LookAhead", "ModelAverage",
    "RecomputeOptimizer", "functional",
]  # fmt: skip

list_public_names(globals())
answer_of_paddle_2(globals())
hold(globals())
