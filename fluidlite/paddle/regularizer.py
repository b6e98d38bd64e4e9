"""``paddle.regularizer`` of paddle 2.6."""

from __future__ import annotations

from ..ground.public_names import list_public_names
from ..regularizer import L1Decay, L2Decay

__all__ = ["L1Decay", "L2Decay"]

list_public_names(globals())
