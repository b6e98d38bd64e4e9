"""Programs on several devices and hosts."""

from __future__ import annotations

from ..namespace import listing
from .mesh import initialize, mesh, shard

__all__ = ["initialize", "mesh", "shard"]

__dir__ = listing(globals())
