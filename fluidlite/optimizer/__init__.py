"""Optimizers, by the names of fluid 1.8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from .adadelta import Adadelta, AdadeltaOptimizer
from .adagrad import Adagrad, AdagradOptimizer, DecayedAdagrad, DecayedAdagradOptimizer
from .adam import Adam, AdamOptimizer
from .adamax import Adamax, AdamaxOptimizer
from .adamw import AdamW
from .averages import ExponentialMovingAverage, ModelAverage
from .dpsgd import Dpsgd, DpsgdOptimizer
from .ftrl import Ftrl, FtrlOptimizer
from .gradient_merge import GradientMergeOptimizer
from .lamb import Lamb, LambOptimizer
from .lars import LarsMomentum, LarsMomentumOptimizer
from .lookahead import LookaheadOptimizer
from .momentum import Momentum, MomentumOptimizer
from .optimizer import Optimizer
from .recompute import RecomputeOptimizer
from .rmsprop import RMSProp, RMSPropOptimizer
from .sgd import SGD, SGDOptimizer

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
