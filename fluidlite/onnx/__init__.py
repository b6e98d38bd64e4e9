"""Programs as ONNX models.  Needs the package ``onnx``: ``pip install fluidlite[onnx]``."""

from __future__ import annotations

from ..quiet import doors
from . import control, elementwise, maps, operators, rearranging
from .exporting import Export, export
from .loading import Imported, load

__all__ = [
    "Export",
    "Imported",
    "control",
    "elementwise",
    "export",
    "load",
    "maps",
    "operators",
    "rearranging",
]

doors(globals())
