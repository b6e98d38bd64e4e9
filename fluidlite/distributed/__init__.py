"""Programs on several devices, processes and hosts."""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from .joining import join
from .mesh import initialize, mesh, shard
from .rewriting import data_parallel
from .shares import shard_reader

__all__ = ["data_parallel", "initialize", "join", "mesh", "shard", "shard_reader"]

list_public_names(globals())
answer(globals())
