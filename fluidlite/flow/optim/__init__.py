"""Optimizers of tensors, in the spelling of OneFlow."""

from __future__ import annotations

from ...absent import answer
from ...namespace import listing
from ...quiet import doors
from . import lr_scheduler
from .adaptive import LAMB, Adam, AdamW
from .descent import SGD, Adadelta, Adagrad, RMSprop
from .optimizer import Optimizer

__all__ = [
    "LAMB", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler",
]  # fmt: skip

__dir__ = listing(globals())
doors(globals())
answer(globals())
