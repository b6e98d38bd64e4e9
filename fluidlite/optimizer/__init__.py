"""Optimizers, by the names of fluid 1.8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ground.missing_names import answer
from ..ground.public_names import list_given_names
from ..ground.tracebacks import api_boundaries
from .adaptive import Adadelta as Adadelta
from .adaptive import AdadeltaOptimizer as AdadeltaOptimizer
from .adaptive import Adagrad as Adagrad
from .adaptive import AdagradOptimizer as AdagradOptimizer
from .adaptive import DecayedAdagrad as DecayedAdagrad
from .adaptive import DecayedAdagradOptimizer as DecayedAdagradOptimizer
from .adaptive import Ftrl as Ftrl
from .adaptive import FtrlOptimizer as FtrlOptimizer
from .adaptive import RMSProp as RMSProp
from .adaptive import RMSPropOptimizer as RMSPropOptimizer
from .averages import ExponentialMovingAverage as ExponentialMovingAverage
from .averages import ModelAverage as ModelAverage
from .descent import SGD as SGD
from .descent import Dpsgd as Dpsgd
from .descent import DpsgdOptimizer as DpsgdOptimizer
from .descent import LarsMomentum as LarsMomentum
from .descent import LarsMomentumOptimizer as LarsMomentumOptimizer
from .descent import Momentum as Momentum
from .descent import MomentumOptimizer as MomentumOptimizer
from .descent import SGDOptimizer as SGDOptimizer
from .gradient_merge import GradientMergeOptimizer as GradientMergeOptimizer
from .lookahead import LookaheadOptimizer as LookaheadOptimizer
from .moments import Adam as Adam
from .moments import Adamax as Adamax
from .moments import AdamaxOptimizer as AdamaxOptimizer
from .moments import AdamOptimizer as AdamOptimizer
from .moments import AdamW as AdamW
from .moments import Lamb as Lamb
from .moments import LambOptimizer as LambOptimizer
from .optimizer import Optimizer as Optimizer
from .recompute import RecomputeOptimizer as RecomputeOptimizer

if TYPE_CHECKING:
    from . import lr as lr

list_given_names(globals(), "lr")
api_boundaries(globals())
answer(globals(), "lr")
