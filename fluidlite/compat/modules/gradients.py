"""What ``fluid.backward`` had besides ``fluidlite.backward``."""

from __future__ import annotations

from typing import Any


def _as_list(x: Any) -> list[Any]:
    """A list of what is given: of a sequence its items, of None nothing, of another thing that."""
    if x is None:
        return []
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _append_grad_suffix_(name: str) -> str:
    """The name of the gradient of a variable."""
    return f"{name}@GRAD"


def _strip_grad_suffix_(name: str) -> str:
    """The name of the variable that a gradient is of, any number of derivatives below it."""
    return name.partition("@GRAD")[0]
