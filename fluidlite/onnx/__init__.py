"""Programs as ONNX models.  Needs the package ``onnx``: ``pip install fluidlite[onnx]``."""

from __future__ import annotations

from ..quiet import doors
from . import control, elementwise, maps, rearranging
from .exporting import Export, export

__all__ = ["Export", "control", "elementwise", "export", "maps", "rearranging"]

doors(globals())
