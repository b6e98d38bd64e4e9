"""``oneflow.utils``: data sets and their loaders."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from . import data

__all__ = ["data"]

list_public_names(globals())
answer(globals())
