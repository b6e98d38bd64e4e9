"""Kernels of rows and elements at numbers, in C."""

from __future__ import annotations

from functools import cache, partial

from ...ground import state
from .functions import LONG as LONG
from .functions import NativeFunctions, kernel_of_function
from .source import KernelSource

#: C's names by NumPy's character; integers without a sign, whose sums may go round
_TYPES = {"f": "float", "d": "double", "i": "unsigned", "l": "unsigned long long"}
#: by function: how many arrays it takes, and which has the sizes and the number of parts
_ARRAYS = {
    **dict.fromkeys(("add_rows", "set_rows", "take_along"), (4, 2)),
    **dict.fromkeys(("max_rows", "min_rows"), (5, 2)),
    "sums_along": (3, 1),
    **dict.fromkeys(("take_rows", "segment_sum", "segment_mean", "segment_max"), (4, 2)),
    **dict.fromkeys(("segment_min", "segment_mean_slopes"), (4, 2)),
    **dict.fromkeys(("add_products", "segment_extreme_slopes"), (6, 4)),
    **dict.fromkeys(("sum_rows", "add_along", "set_along"), (5, 3)),
    "replace_rows": (6, 3),
    "flat_places": (3, 1),
    **dict.fromkeys(("largest_of", "short_lists"), (4, 1)),
}


@cache
def row_source(name: str, kind: str) -> KernelSource:
    """The kernel of a function of ``rows.c``.

    Args:
        name: of the function.
        kind: the character of the element type.
    """
    count, sizes = _ARRAYS[name]
    call, parts = f"{name}(args, block)", f"((const i64 *)DATA(args, {sizes}))[2]"
    macros = {"T": _TYPES[kind]}
    return kernel_of_function("rows.c", call, count, sizes + 1, blocks=parts, macros=macros)


#: one for the process
KERNELS: state.StateSlot[NativeFunctions] = state.slot(
    "kernels of rows", partial(NativeFunctions, row_source)
)
