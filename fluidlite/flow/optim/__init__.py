"""Optimizers of tensors, in the spelling of OneFlow."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from . import lr_scheduler
from .adaptive import LAMB, Adam, AdamW
from .descent import SGD, Adadelta, Adagrad, RMSprop
from .optimizer import Optimizer

__all__ = [
    "LAMB", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
answer(globals())
