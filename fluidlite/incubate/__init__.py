"""What fluid 1.8 keeps under ``incubate``: ``fleet``, training in many processes."""

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from . import fleet

__all__ = ["fleet"]

list_public_names(globals())
answer(globals())
