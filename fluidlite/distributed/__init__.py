"""Programs on several devices and hosts."""

from __future__ import annotations

from .mesh import initialize, mesh, shard

__all__ = ["initialize", "mesh", "shard"]
