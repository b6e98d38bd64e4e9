"""Training in many processes, as fluid 1.8's scripts ask for it."""

from ...ground.public_names import listing
from . import collective, role_maker

__all__ = ["collective", "role_maker"]

__dir__ = listing(globals())
