"""Training in 16 bits where that is safe, by the names of fluid 1.8."""

from ...absent import answer
from ...namespace import listing
from ...quiet import doors
from .decorator import decorate
from .fp16_lists import AutoMixedPrecisionLists

__all__ = ["AutoMixedPrecisionLists", "decorate"]

__dir__ = listing(globals())
doors(globals())
answer(globals())
