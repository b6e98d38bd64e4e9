"""Training in 16 bits where that is safe, by the names of fluid 1.8."""

from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .decorator import decorate
from .fp16_lists import AutoMixedPrecisionLists

__all__ = ["AutoMixedPrecisionLists", "decorate"]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
