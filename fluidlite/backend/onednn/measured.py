"""What is faster on this processor, measured once a process."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...ground import state
from . import memory
from .library import BFLOAT16, FLOAT32, NotDone, load

SIZE = 256  #: rows, columns and depth of the product that is measured
TIMES = 7
SOURCE, WEIGHTS, TARGET = 1, 33, 17
OF_WEIGHTS = 131


def gains_from_bfloat16() -> bool:
    """Whether a product of bfloat16 takes less time than one of float32."""
    return _gains.get()


def _compare() -> bool:
    library = load()
    if library is None or not library.has_bfloat16:
        return False
    contexts = memory.ContextFactory(library)
    try:
        functions = [contexts.within(1, _product, contexts, each) for each in (BFLOAT16, FLOAT32)]
    except NotDone:
        return False
    narrow, single = contexts.within(1, _least, functions)
    return narrow < single


def _product(contexts: memory.ContextFactory, dtype: int) -> Callable[[], None]:
    """What multiplies two matrices of zeros."""
    library, form = contexts.library, memory.row_major((SIZE, SIZE))
    first, last = memory.lying(library, form, dtype), memory.lying(library, form, FLOAT32)
    packed = memory.any_of(library, form.sizes, dtype)
    descriptor = memory.PrimitiveDescriptor(library, "matmul", first, packed, None, last)
    weights = descriptor.memory(OF_WEIGHTS)
    listed = [(SOURCE, first), (WEIGHTS, weights), (TARGET, last)]
    primitive = memory.Primitive(contexts, descriptor, listed)
    arrays = [memory.aligned(library.size(each)) for each in (first.handle, weights, last.handle)]
    for array in arrays:
        array.fill(0)
    run = primitive.at(contexts())
    return lambda: run(*arrays)


def _least(functions: list[Callable[[], None]]) -> list[float]:
    """The least seconds of each, which take turns."""
    least = [float("inf")] * len(functions)
    for _ in range(TIMES):
        for place, function in enumerate(functions):
            begin = time.perf_counter()
            function()
            least[place] = min(least[place], time.perf_counter() - begin)
    return least


_gains: state.StateSlot[bool] = state.slot("bfloat16 gains", _compare)
