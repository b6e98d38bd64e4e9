"""Programs in forms that run without fluidlite."""

from __future__ import annotations

from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from .exporting import NumpySource, numpy_source
from .stablehlo import stablehlo

__all__ = ["NumpySource", "numpy_source", "stablehlo"]

list_public_names(globals())
api_boundaries(globals())
