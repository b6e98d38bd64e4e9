"""``paddle.incubate.distributed.fleet``: parts that are computed again."""

from __future__ import annotations

from .....ground.public_names import list_public_names
from ....distributed.fleet.recomputing import recompute_hybrid, recompute_sequential

__all__ = ["recompute_hybrid", "recompute_sequential"]

list_public_names(globals())
