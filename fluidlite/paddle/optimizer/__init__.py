"""``paddle.optimizer`` of paddle 2.6."""

from __future__ import annotations

from ...ground.module_tables import make_modules
from ...ground.public_names import list_given_names
from ..holders import holders
from . import lr
from .kinds import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Lamb, Momentum, RMSProp
from .lbfgs import LBFGS
from .optimizer import Optimizer

list_given_names(globals(), "lr")
globals().update(make_modules(__name__, holders(__name__)))
