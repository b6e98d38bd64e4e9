"""Kernels of large matrices, each by itself: where LAPACK's products of blocks take longer."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...ground import state
from .functions import NativeFunctions, kernel_of_function
from .source import KernelSource

#: C's names by NumPy's character: of the type, of an integer of its size, and the least square that
#: says how long a vector is
_TYPES = {"f": ("float", "int", "1e-24f"), "d": ("double", "long", "1e-280")}
#: by function: how many arrays it takes, and the first that it writes
_ARRAYS = {
    "triangular_solve": (5, 3),
    "cholesky": (4, 2),
    "lu": (5, 2),
    "solve_by_factors": (6, 4),
    "inv_by_factors": (5, 3),
    "qr": (5, 3),
}


@cache
def panel_source(name: str, kind: str) -> KernelSource:
    """The kernel of a function of ``panels.c``.

    Args:
        name: of the function.
        kind: the character of the element type.
    """
    macros = dict(zip(("T", "I", "LEAST"), _TYPES[kind]))
    return kernel_of_function("panels.c", f"{name}(args)", *_ARRAYS[name], macros=macros)


def scratch_elements(name: str, rows: int, columns: int) -> int:
    """How many elements a kernel works in, where vectors are longest.

    Args:
        name: of the function.
        rows: of its matrices.
        columns: of them, no more than rows.
    """
    more = (rows + 8) * (columns + 32) + 32 * columns + 4096 if name == "qr" else 0
    return 80 * rows + 6000 + more


class PanelKernels(NativeFunctions):
    """The kernels that are there."""

    def __init__(self) -> None:
        super().__init__(panel_source)

    def run(self, name: str, arrays: tuple[Any, ...]) -> bool:
        """Have a function computed; whether there are results, all of them finite.

        Args:
            name: of the function.
            arrays: that it reads and writes, their elements in order.
        """
        return self.computed(name, arrays[0].dtype.char, arrays)


#: one for the process
KERNELS: state.StateSlot[PanelKernels] = state.slot("kernels of large matrices", PanelKernels)
