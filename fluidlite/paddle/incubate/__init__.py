"""``paddle.incubate`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from . import autograd, nn

__all__ = ["autograd", "nn"]

list_public_names(globals())
