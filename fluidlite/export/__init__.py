"""Programs in forms that run without fluidlite."""

from __future__ import annotations

from .stablehlo import stablehlo

__all__ = ["stablehlo"]
