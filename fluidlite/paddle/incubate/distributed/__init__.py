"""``paddle.incubate.distributed`` of paddle 2.6."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from . import fleet

__all__ = ["fleet"]

list_public_names(globals())
