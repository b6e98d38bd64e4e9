"""``paddle.distributed.auto_parallel``: meshes, and tensors on them."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from ..meshes import ProcessMesh

__all__ = ["ProcessMesh"]

list_public_names(globals())
