"""Kernels of stacks of small matrices, for which calls of LAPACK take longer than what they
compute.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ...ground import state
from .functions import NativeFunctions
from .source import KernelSource, entries, named

_CODE = Path(__file__).with_name("matrices.c")
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
    own, integer, least = _TYPES[kind]
    count, written = _ARRAYS[name]
    lines = [
        *(f"#define T {own}", f"#define I {integer}", f"#define LEAST {least}"),
        _CODE.read_text(encoding="utf-8"),
        f"int NAME_part(PyObject *args, i64 block) {{ return {name}(args); }}",
        "int NAME_end(PyObject *args) { return 0; }",
        *entries(count, written, 1),
    ]
    return named(lines, written, 0, 1, 0)


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
