"""``paddle.optimizer`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from . import lr
from .kinds import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Lamb, Momentum, RMSProp
from .lbfgs import LBFGS
from .optimizer import Optimizer

__all__ = [
    "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Lamb", "Momentum", "Optimizer",
    "RMSProp", "SGD", "lr",
]  # fmt: skip

list_public_names(globals())
