"""What fluid 1.8 keeps under ``contrib``."""

from ..ground.public_names import listing
from . import layers, mixed_precision, reader

__all__ = ["layers", "mixed_precision", "reader"]

__dir__ = listing(globals())
