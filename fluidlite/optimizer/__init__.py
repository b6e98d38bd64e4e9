"""Optimizers, by the names of fluid 1.8."""

from __future__ import annotations

from .adam import Adam, AdamOptimizer
from .momentum import Momentum, MomentumOptimizer
from .optimizer import Optimizer
from .recompute import RecomputeOptimizer
from .sgd import SGD, SGDOptimizer

__all__ = [
    "SGD",
    "Adam",
    "AdamOptimizer",
    "Momentum",
    "MomentumOptimizer",
    "Optimizer",
    "RecomputeOptimizer",
    "SGDOptimizer",
]
