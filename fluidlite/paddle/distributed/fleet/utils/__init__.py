"""``paddle.distributed.fleet.utils``: files, and parts that are computed again."""

from __future__ import annotations

from .....ground.public_names import list_public_names
from ..recomputing import recompute
from . import fs
from .fs import HDFSClient, LocalFS

__all__ = ["HDFSClient", "LocalFS", "fs", "recompute"]

list_public_names(globals())
