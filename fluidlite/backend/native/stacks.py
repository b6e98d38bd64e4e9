"""Kernels of stacks of small matrices, for which calls of LAPACK take longer than what they
compute.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from ...ground import state
from ..commands import Status
from .compiler import COMPILER
from .kernel import Kernel
from .library import LONG
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


class StackKernels:
    """The kernels that are there; each is asked for when it is first needed.

    They are compiled in the background, and meanwhile there are none; where ``FLUIDLITE_KERNELS``
    asks for generated kernels, they are waited for.
    """

    def __init__(self) -> None:
        chosen = os.environ.get("FLUIDLITE_KERNELS") or "auto"
        self._are_used, self._waits = chosen in ("auto", "native"), chosen == "native"
        self._known: dict[tuple[str, str], Kernel | None] = {}

    def run(self, name: str, arrays: tuple[Any, ...]) -> bool:
        """Have a function computed; whether there are results, all of them finite.

        Args:
            name: of the function.
            arrays: that it reads and writes, their elements one behind the other.
        """
        key = name, arrays[0].dtype.char
        kernel = self._known[key] if key in self._known else self._find(*key)
        if kernel is None:
            return False
        run = kernel.run_free if arrays[0].size >= LONG else kernel.run
        return bool(run(arrays) == Status.DONE)

    def _find(self, name: str, kind: str) -> Kernel | None:
        compiler = COMPILER.get()
        if not self._are_used or not compiler.version:
            self._known[name, kind] = None
            return None
        source = stack_source(name, kind)
        there = compiler.find([source])
        if source.name not in there:
            events = compiler.request([source])
            if not self._waits:
                return None
            for event in events:
                event.wait()
            there = compiler.find([source])
        self._known[name, kind] = there.get(source.name)
        return self._known[name, kind]


#: one for the process
KERNELS: state.StateSlot[StackKernels] = state.slot("kernels of small matrices", StackKernels)
