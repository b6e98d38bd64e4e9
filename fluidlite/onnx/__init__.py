"""Programs as ONNX models, and models as programs.  Needs the package ``onnx``: ``pip install
fluidlite[onnx]``.
"""

from __future__ import annotations

from ..namespace import listing
from ..quiet import doors
from . import (  # they fill the tables of forms
    arrays,
    control,
    elementwise,
    maps,
    operators,
    rearranging,
)
from .exporting import Export, export
from .loading import Imported, load

__all__ = ["Export", "Imported", "export", "load"]

__dir__ = listing(globals())
doors(globals())
