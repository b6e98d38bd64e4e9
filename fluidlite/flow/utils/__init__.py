"""``oneflow.utils``: data sets and their loaders, and what goes beside modules."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from . import checkpoint, data, global_view

__all__ = ["checkpoint", "data", "global_view"]

list_public_names(globals())
answer(globals())
