"""Programs as Python files that need NumPy alone."""

from __future__ import annotations

from .exporting import NumpySource, numpy_source

__all__ = ["NumpySource", "numpy_source"]
