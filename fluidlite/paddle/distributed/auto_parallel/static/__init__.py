"""``paddle.distributed.auto_parallel.static``: parts of arrays, cut in another way."""

from __future__ import annotations

from .....ground.public_names import list_public_names
from . import converter

__all__ = ["converter"]

list_public_names(globals())
