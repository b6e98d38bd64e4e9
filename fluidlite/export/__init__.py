"""Programs in forms that run without fluidlite."""

from __future__ import annotations

from ..namespace import listing
from ..quiet import doors
from .exporting import NumpySource, numpy_source
from .stablehlo import stablehlo

__all__ = ["NumpySource", "numpy_source", "stablehlo"]

__dir__ = listing(globals())
doors(globals())
