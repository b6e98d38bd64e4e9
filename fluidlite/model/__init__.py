"""A training loop that one can call, in the spelling of paddle 2.x."""

from __future__ import annotations

from ..absent import answer
from ..namespace import listing
from ..quiet import doors
from . import callbacks, metric
from .batches import InputSpec
from .history import FitHistory
from .model import Model

__all__ = ["FitHistory", "InputSpec", "Model", "callbacks", "metric"]

__dir__ = listing(globals())
doors(globals())
answer(globals())
