"""Kernels of matrices where calls of LAPACK take longer: of stacks of small ones, of which each is
a call, and of large ones.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from ...ground import state
from .functions import NativeFunctions, kernel_of_function
from .source import KernelSource

#: C's names by NumPy's character: of the type, of an integer of its size, and the least square that
#: says how long a vector is
_TYPES = {"f": ("float", "int", "1e-24f"), "d": ("double", "long", "1e-280")}
#: by file and function: how many arrays it takes, and the first that it writes
_ARRAYS: dict[str, dict[str, tuple[int, int]]] = {
    "matrices.c": {
        **dict.fromkeys(("inv", "det", "cholesky", "cofactors", "cholesky_slope"), (3, 2)),
        **dict.fromkeys(("lu", "qr"), (4, 2)),
        **dict.fromkeys(("solve", "triangular_solve", "lu_slope"), (4, 3)),
    },
    "panels.c": {
        **dict.fromkeys(("lu", "qr"), (5, 2)),
        **dict.fromkeys(("triangular_solve", "inv_by_factors"), (5, 3)),
        "cholesky": (4, 2),
        "solve_by_factors": (6, 4),
    },
}


@cache
def matrix_source(file: str, name: str, kind: str) -> KernelSource:
    """The kernel of a function of a file in C.

    Args:
        file: the name of the file.
        name: of the function.
        kind: the character of the element type.
    """
    macros = dict(zip(("T", "I", "LEAST"), _TYPES[kind]))
    return kernel_of_function(file, f"{name}(args)", *_ARRAYS[file][name], macros=macros)


def scratch_elements(name: str, rows: int, columns: int) -> int:
    """How many elements a kernel of large matrices works in, where vectors are longest.

    Args:
        name: of the function.
        rows: of its matrices.
        columns: of them, no more than rows.
    """
    more = (rows + 8) * (columns + 32) + 32 * columns + 4096 if name == "qr" else 0
    return 80 * rows + 6000 + more


class MatrixKernels(NativeFunctions):
    """The kernels of a file that are there.

    Args:
        file: the name of the file, in C.
    """

    def __init__(self, file: str) -> None:
        super().__init__(partial(matrix_source, file))

    def run(self, name: str, arrays: tuple[Any, ...]) -> bool:
        """Have a function computed; whether there are results, all of them finite.

        Args:
            name: of the function.
            arrays: that it reads and writes, their elements in order.
        """
        return self.computed(name, arrays[0].dtype.char, arrays)


STACKS: state.StateSlot[MatrixKernels] = state.slot(
    "kernels of small matrices", partial(MatrixKernels, "matrices.c")
)
PANELS: state.StateSlot[MatrixKernels] = state.slot(
    "kernels of large matrices", partial(MatrixKernels, "panels.c")
)
