"""What fluid 1.8 keeps under ``contrib``."""

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from . import layers, mixed_precision, reader

__all__ = ["layers", "mixed_precision", "reader"]

list_public_names(globals())
answer(globals())
