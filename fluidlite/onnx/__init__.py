"""Programs as ONNX models.  Needs the package ``onnx``: ``pip install fluidlite[onnx]``."""

from __future__ import annotations

from ..namespace import listing
from ..quiet import doors
from .exporting import Export, export

__all__ = ["Export", "export"]

__dir__ = listing(globals())
doors(globals())
