"""Names only: the loader, where OneFlow has it."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from .loader import DataLoader

__all__ = ["DataLoader"]

list_public_names(globals())
