"""Kernels of rows and elements at numbers, in C."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from ...ground import state
from .functions import NativeFunctions
from .source import KernelSource, entries, named

_CODE = Path(__file__).with_name("rows.c")
#: C's names by NumPy's character; integers without a sign, whose sums may go round
_TYPES = {"f": "float", "d": "double", "i": "unsigned", "l": "unsigned long long"}
#: by function: how many arrays it takes, and which has the sizes and the number of parts
_ARRAYS = {
    **dict.fromkeys(("add_rows", "set_rows", "take_along", "add_along"), (4, 2)),
    **dict.fromkeys(("max_rows", "min_rows"), (5, 2)),
    "sums_along": (3, 1),
}


@cache
def row_source(name: str, kind: str) -> KernelSource:
    """The kernel of a function of ``rows.c``.

    Args:
        name: of the function.
        kind: the character of the element type.
    """
    count, sizes = _ARRAYS[name]
    lines = [
        f"#define T {_TYPES[kind]}",
        _CODE.read_text(encoding="utf-8"),
        f"int NAME_part(PyObject *args, i64 block) {{ return {name}(args, block); }}",
        "int NAME_end(PyObject *args) { return 0; }",
        *entries(count, sizes + 1, f"((const i64 *)DATA(args, {sizes}))[2]"),
    ]
    return named(lines, sizes + 1, 0, 1, 0)


#: one for the process
KERNELS: state.StateSlot[NativeFunctions] = state.slot(
    "kernels of rows", partial(NativeFunctions, row_source)
)
