"""Names of values that the backward pass computes again."""

from __future__ import annotations

import re

SUBPROGRAM = ".subprog_"
_RECOMPUTED = re.compile(rf"{re.escape(SUBPROGRAM)}\d+$")


def is_recomputed(name: str) -> bool:
    """Whether a name is that of a value which is computed again."""
    return _RECOMPUTED.search(name) is not None
