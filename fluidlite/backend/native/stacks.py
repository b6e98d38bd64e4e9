"""Kernels of stacks of small matrices, for which calls of LAPACK take longer than what they
compute.
"""

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
    **dict.fromkeys(("inv", "det", "cholesky", "cofactors", "cholesky_slope"), (3, 2)),
    **dict.fromkeys(("lu", "qr"), (4, 2)),
    **dict.fromkeys(("solve", "triangular_solve", "lu_slope"), (4, 3)),
}


@cache
def stack_source(name: str, kind: str) -> KernelSource:
    """The kernel of a function of ``matrices.c``.

    Args:
        name: of the function.
        kind: the character of the element type.
    """
    macros = dict(zip(("T", "I", "LEAST"), _TYPES[kind]))
    return kernel_of_function("matrices.c", f"{name}(args)", *_ARRAYS[name], macros=macros)


class StackKernels(NativeFunctions):
    """The kernels that are there."""

    def __init__(self) -> None:
        super().__init__(stack_source)

    def run(self, name: str, arrays: tuple[Any, ...]) -> bool:
        """Have a function computed; whether there are results, all of them finite.

        Args:
            name: of the function.
            arrays: that it reads and writes, their elements in order.
        """
        return self.computed(name, arrays[0].dtype.char, arrays)


#: one for the process
KERNELS: state.StateSlot[StackKernels] = state.slot("kernels of small matrices", StackKernels)
