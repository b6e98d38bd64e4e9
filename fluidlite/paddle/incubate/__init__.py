"""``paddle.incubate`` of paddle 2.6."""

from __future__ import annotations

from ...ground.public_names import list_public_names
from . import autograd, nn, optimizer
from .optimizer import LookAhead, ModelAverage

__all__ = ["LookAhead", "ModelAverage", "autograd", "nn", "optimizer"]

list_public_names(globals())
