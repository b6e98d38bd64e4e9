"""Learning rates that change, by the names of fluid 1.8."""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_given_names
from ..ground.tracebacks import api_boundaries
from ..layers.decay import CosineDecay as CosineDecay
from ..layers.decay import ExponentialDecay as ExponentialDecay
from ..layers.decay import InverseTimeDecay as InverseTimeDecay
from ..layers.decay import LearningRateDecay as LearningRateDecay
from ..layers.decay import LinearLrWarmup as LinearLrWarmup
from ..layers.decay import NaturalExpDecay as NaturalExpDecay
from ..layers.decay import NoamDecay as NoamDecay
from ..layers.decay import PiecewiseDecay as PiecewiseDecay
from ..layers.decay import PolynomialDecay as PolynomialDecay
from ..layers.epoch_decay import LambdaDecay as LambdaDecay
from ..layers.epoch_decay import MultiStepDecay as MultiStepDecay
from ..layers.epoch_decay import ReduceLROnPlateau as ReduceLROnPlateau
from ..layers.epoch_decay import StepDecay as StepDecay

list_given_names(globals())
api_boundaries(globals())
answer(globals())
