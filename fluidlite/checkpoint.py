"""Names only: checkpoints, to stop a training and to go on with it."""

from __future__ import annotations

from .ground.public_names import list_public_names
from .ground.tracebacks import api_boundaries
from .io.checkpoint import Checkpoint, latest, load, save

__all__ = ["Checkpoint", "latest", "load", "save"]

list_public_names(globals())
api_boundaries(globals())
