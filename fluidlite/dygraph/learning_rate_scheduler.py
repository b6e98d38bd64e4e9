"""Learning rates that change, by the names of fluid 1.8."""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..layers.decay import (
    CosineDecay,
    ExponentialDecay,
    InverseTimeDecay,
    LearningRateDecay,
    LinearLrWarmup,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
)
from ..layers.epoch_decay import LambdaDecay, MultiStepDecay, ReduceLROnPlateau, StepDecay

__all__ = [
    "CosineDecay", "ExponentialDecay", "InverseTimeDecay", "LambdaDecay", "LearningRateDecay",
    "LinearLrWarmup", "MultiStepDecay", "NaturalExpDecay", "NoamDecay", "PiecewiseDecay",
    "PolynomialDecay", "ReduceLROnPlateau", "StepDecay",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
