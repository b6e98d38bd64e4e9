"""What fluid 1.8 keeps under ``incubate``: ``fleet``, training in many processes."""

from ..ground.public_names import listing
from . import fleet

__all__ = ["fleet"]

__dir__ = listing(globals())
