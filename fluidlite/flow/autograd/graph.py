"""What is kept for gradients, in OneFlow's spelling."""

from __future__ import annotations

from ...eager.saving import saved_tensors_hooks
from ...ground.public_names import list_public_names

__all__ = ["saved_tensors_hooks"]

list_public_names(globals())
