"""``paddle.distributed.fleet.base``: where paddle 2 keeps roles, strategies and topologies."""

from __future__ import annotations

from .....ground.public_names import list_public_names
from .. import roles as role_maker
from .. import strategies as distributed_strategy
from .. import topologies as topology

__all__ = ["distributed_strategy", "role_maker", "topology"]

list_public_names(globals())
