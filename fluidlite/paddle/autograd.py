"""``paddle.autograd`` of paddle 2.6."""

from __future__ import annotations

from ..autograd import PyLayer, PyLayerContext, backward, saved_tensors_hooks
from ..ground.public_names import list_public_names

__all__ = ["PyLayer", "PyLayerContext", "backward", "saved_tensors_hooks"]

list_public_names(globals())
