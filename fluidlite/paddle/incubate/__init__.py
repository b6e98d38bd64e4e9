"""``paddle.incubate`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from . import autograd

__all__ = ["autograd"]

list_public_names(globals())
