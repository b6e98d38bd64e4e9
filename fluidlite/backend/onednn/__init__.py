"""oneDNN as a library of kernels behind compiled plans.

It serves float32 where it is installed: ``pip install "fluidlite[fast]"``.  Rules, shapes and
meaning stay with the operators; nothing but plans knows that it is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import (
    bfloat16,
    convolution,
    elementwise,
    integers,
    normalize,
    optimizer,
    pooling,
    product,
    reduction,
    rescale,
)
from .library import load
from .measured import gains_from_bfloat16
from .offers import OneDnnKernels, is_worth_loading, served


def description() -> dict[str, str] | None:
    """What the library is: ``path``, ``version`` and the ``instructions`` that it uses; None where
    it is not installed.
    """
    library = load()
    if library is None:
        return None
    return {"path": library.path, "version": library.version, "instructions": library.instructions}


def multiplies_int8() -> bool:
    """Whether the library is installed, and the processor multiplies whole numbers of 8 bits."""
    library = load()
    return library is not None and library.has_vnni


def why_not_bfloat16() -> str:
    """What keeps products of bfloat16 from being faster than those of float32; empty if nothing."""
    library = load()
    if library is None:
        return 'bfloat16 needs oneDNN (pip install "fluidlite[fast]")'
    if not library.has_bfloat16:
        return "bfloat16 needs a processor with AVX512_BF16, AVX-NE-CONVERT or AMX"
    if not gains_from_bfloat16():
        return "its products take longer in bfloat16 on this processor"
    return ""


def open_library(graph: Iterable[Any], everywhere: bool) -> OneDnnKernels | None:
    """What the library offers for a graph; None where it has nothing, or is not installed.

    Args:
        graph: the instructions.
        everywhere: whether it offers what does not pay, too.
    """
    worth = any(is_worth_loading(instruction, everywhere) for instruction in graph)
    library = load() if worth else None
    return None if library is None else OneDnnKernels(library, graph, everywhere)
