"""Optimizers, by the names of fluid 1.8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from .adaptive import (
    Adadelta,
    AdadeltaOptimizer,
    Adagrad,
    AdagradOptimizer,
    DecayedAdagrad,
    DecayedAdagradOptimizer,
    Ftrl,
    FtrlOptimizer,
    RMSProp,
    RMSPropOptimizer,
)
from .averages import ExponentialMovingAverage, ModelAverage
from .descent import (
    SGD,
    Dpsgd,
    DpsgdOptimizer,
    LarsMomentum,
    LarsMomentumOptimizer,
    Momentum,
    MomentumOptimizer,
    SGDOptimizer,
)
from .gradient_merge import GradientMergeOptimizer
from .lookahead import LookaheadOptimizer
from .moments import Adam, Adamax, AdamaxOptimizer, AdamOptimizer, AdamW, Lamb, LambOptimizer
from .optimizer import Optimizer
from .recompute import RecomputeOptimizer

if TYPE_CHECKING:
    from . import lr

__all__ = [
    "lr", "SGD", "Adadelta", "AdadeltaOptimizer", "Adagrad", "AdagradOptimizer", "Adam",
    "AdamOptimizer", "Adamax", "AdamaxOptimizer", "AdamW", "DecayedAdagrad",
    "DecayedAdagradOptimizer", "Dpsgd", "DpsgdOptimizer", "ExponentialMovingAverage", "Ftrl",
    "FtrlOptimizer", "GradientMergeOptimizer", "Lamb", "LambOptimizer", "LarsMomentum",
    "LarsMomentumOptimizer", "LookaheadOptimizer", "ModelAverage", "Momentum", "MomentumOptimizer",
    "Optimizer", "RMSProp", "RMSPropOptimizer", "RecomputeOptimizer", "SGDOptimizer",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals(), "lr")
