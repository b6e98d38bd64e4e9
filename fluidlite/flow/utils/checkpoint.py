"""Functions whose values are computed again for their gradients, in OneFlow's spelling."""

from __future__ import annotations

from ...eager.recompute import checkpoint
from ...ground.public_names import list_public_names

__all__ = ["checkpoint"]

list_public_names(globals())
