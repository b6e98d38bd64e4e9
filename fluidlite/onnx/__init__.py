"""Programs as ONNX models, and models as programs.  Needs the package ``onnx``: ``pip install
fluidlite[onnx]``.
"""

from __future__ import annotations

from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
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

list_public_names(globals())
api_boundaries(globals())
