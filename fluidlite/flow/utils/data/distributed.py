"""Names only: samplers for several processes, where OneFlow has them."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from .samplers import DistributedSampler

__all__ = ["DistributedSampler"]

list_public_names(globals())
