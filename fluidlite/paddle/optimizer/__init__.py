"""``paddle.optimizer`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_given_names
from ..holders import hold
from . import lr
from .kinds import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Lamb, Momentum, RMSProp
from .lbfgs import LBFGS
from .optimizer import Optimizer

list_given_names(globals(), "lr")
hold(globals())
