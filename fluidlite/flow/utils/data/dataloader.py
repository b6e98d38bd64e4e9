"""Names only: the loader, and what makes its batches, where OneFlow has them."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from .collation import collated as default_collate
from .loader import DataLoader

__all__ = ["DataLoader", "default_collate"]

list_public_names(globals())
