"""Functions that fluid 1.8 makes programs of, by its names."""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from .traced import TracedLayer
from .translate import ProgramTranslator, declarative, dygraph_to_static_func

__all__ = ["ProgramTranslator", "TracedLayer", "declarative", "dygraph_to_static_func"]

list_public_names(globals())
answer(globals())
