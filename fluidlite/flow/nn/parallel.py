"""Modules in several processes, of which there is one, in OneFlow's spelling."""

from __future__ import annotations

from typing import Any

from ...eager.engine import located
from ...errors import UnsupportedError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .. import env
from .module import Module

__all__ = ["DistributedDataParallel"]


def DistributedDataParallel(
    module: Module, *, broadcast_buffers: bool = True, bucket_size: int = 10, **options: Any
) -> Module:
    """The module: with one process there are no gradients to be gathered.

    Args:
        module: the module.
        broadcast_buffers, bucket_size, options: accepted.

    Raises:
        UnsupportedError: there are several processes.
    """
    if env.get_world_size() > 1:
        raise located(
            UnsupportedError,
            "DistributedDataParallel serves one process; fluid.dygraph.DataParallel several",
        )
    return module


list_public_names(globals())
api_boundaries(globals())
