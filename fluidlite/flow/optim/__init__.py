"""Optimizers of tensors, in the spelling of OneFlow."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_given_names
from ...ground.tracebacks import api_boundaries
from . import lr_scheduler as lr_scheduler
from .adaptive import LAMB as LAMB
from .adaptive import Adam as Adam
from .adaptive import AdamW as AdamW
from .descent import SGD as SGD
from .descent import Adadelta as Adadelta
from .descent import Adagrad as Adagrad
from .descent import RMSprop as RMSprop
from .optimizer import Optimizer as Optimizer

list_given_names(globals(), "lr_scheduler")
api_boundaries(globals())
answer(globals())
