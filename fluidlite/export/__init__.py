"""Programs in forms that run without fluidlite."""

from __future__ import annotations

from ..ground.public_names import listing
from ..ground.tracebacks import api_boundaries
from .exporting import NumpySource, numpy_source
from .stablehlo import stablehlo

__all__ = ["NumpySource", "numpy_source", "stablehlo"]

__dir__ = listing(globals())
api_boundaries(globals())
