"""Learning rates that change when their ``step()`` is called, in the spelling of paddle 2.x."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_given_names
from ...ground.tracebacks import api_boundaries
from .cycles import CosineAnnealingDecay as CosineAnnealingDecay
from .cycles import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .cycles import CyclicLR as CyclicLR
from .cycles import OneCycleLR as OneCycleLR
from .falling import ExponentialDecay as ExponentialDecay
from .falling import InverseTimeDecay as InverseTimeDecay
from .falling import LambdaDecay as LambdaDecay
from .falling import LinearLR as LinearLR
from .falling import LinearWarmup as LinearWarmup
from .falling import MultiplicativeDecay as MultiplicativeDecay
from .falling import MultiStepDecay as MultiStepDecay
from .falling import NaturalExpDecay as NaturalExpDecay
from .falling import NoamDecay as NoamDecay
from .falling import PiecewiseDecay as PiecewiseDecay
from .falling import PolynomialDecay as PolynomialDecay
from .falling import StepDecay as StepDecay
from .scheduler import LRScheduler as LRScheduler
from .scheduler import ReduceOnPlateau as ReduceOnPlateau

list_given_names(globals())
api_boundaries(globals())
answer(globals())
