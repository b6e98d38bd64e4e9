"""Training in many processes, as fluid 1.8's scripts ask for it."""

from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from . import collective, role_maker

__all__ = ["collective", "role_maker"]

list_public_names(globals())
answer(globals())
