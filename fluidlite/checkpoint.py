"""Names only: checkpoints, to stop a training and to go on with it."""

from __future__ import annotations

from .io.checkpoint import Checkpoint, latest, load, save
from .quiet import doors

__all__ = ["Checkpoint", "latest", "load", "save"]

doors(globals())
