"""``paddle.distributed.auto_parallel``: meshes, and tensors on them."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from ...holders import hold
from ..meshes import ProcessMesh
from . import static

__all__ = ["ProcessMesh", "static"]

list_public_names(globals())
hold(globals())
