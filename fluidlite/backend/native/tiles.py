"""Kernels of the sums of rows of ``kernels/winograd.py``, in C."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from ...ground import state
from .functions import NativeFunctions, kernel_of_function
from .source import KernelSource


@cache
def tile_source(name: str, kind: str) -> KernelSource:
    """The kernel of a function of ``tiles.c``.

    Args:
        name: of the function.
        kind: the character of the element type: f.
    """
    return kernel_of_function("tiles.c", f"{name}(args)", 3, 2)


#: one for the process
KERNELS: state.StateSlot[NativeFunctions] = state.slot(
    "kernels of tiles", partial(NativeFunctions, tile_source)
)


def computed(name: str, arrays: tuple[Any, Any, Any]) -> bool:
    """Have a function computed; whether it is there.

    Args:
        name: of the function.
        arrays: of single precision; sizes; and those that are written.
    """
    return KERNELS.get().computed(name, "f", arrays)
