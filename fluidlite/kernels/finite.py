"""Whether all numbers are finite."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def is_finite(array: Any) -> bool:
    """Whether all elements of an array are finite.  The caller lets NumPy ignore overflow.

    The sum of squares says it in one pass without an array of truths; where that is not finite
    either, large numbers may be the reason, and each element is asked.
    """
    kind = array.dtype.kind
    if kind == "f":
        flat = array.ravel("K")
        return math.isfinite(np.dot(flat, flat)) or bool(np.isfinite(array).all())
    return kind != "c" or bool(np.isfinite(array).all())
