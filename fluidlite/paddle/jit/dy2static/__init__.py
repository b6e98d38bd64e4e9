"""``paddle.jit.dy2static`` of paddle 2.6: what translates functions."""

from __future__ import annotations

from ....ground.public_names import list_public_names
from . import program_translator

__all__ = ["program_translator"]

list_public_names(globals())
