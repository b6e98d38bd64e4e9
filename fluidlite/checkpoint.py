"""Names only: checkpoints, to stop a training and to go on with it."""

from __future__ import annotations

from .io.checkpoint import Checkpoint, latest, load, save
from .namespace import listing
from .quiet import doors

__all__ = ["Checkpoint", "latest", "load", "save"]

__dir__ = listing(globals())
doors(globals())
