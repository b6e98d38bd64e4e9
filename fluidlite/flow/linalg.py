"""Linear algebra, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..functions import composed, linear_algebra
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from . import algebra
from .norms import matrix_norm, vector_norm
from .norms import norm_of_order as norm
from .spelling import ONEFLOW

if TYPE_CHECKING:
    from .spelling import Function

__all__ = ["cross", "diagonal", "inv", "matrix_norm", "norm", "vector_norm"]

cross: Function = ONEFLOW(composed.cross, defaults={"dim": -1})
inv: Function = ONEFLOW(linear_algebra.inverse, "inv", words={"flow.inv": "flow.linalg.inv"})
diagonal: Function = ONEFLOW(algebra.diagonal, defaults={"dim1": -2, "dim2": -1})

list_public_names(globals())
api_boundaries(globals(), quick=True, imported=True)
answer(globals())
