"""Programs as Python files that need NumPy alone."""

from __future__ import annotations

from ..namespace import listing
from ..quiet import doors
from .exporting import NumpySource, numpy_source

__all__ = ["NumpySource", "numpy_source"]

__dir__ = listing(globals())
doors(globals())
