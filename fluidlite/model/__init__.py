"""A training loop that one can call, in the spelling of paddle 2.x."""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from . import callbacks, metric
from .history import FitHistory
from .model import Model
from .specification import InputSpec

__all__ = ["FitHistory", "InputSpec", "Model", "callbacks", "metric"]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
