"""Kernels of what is beside the products in a step of an LSTM, in C."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...ground import state
from .functions import NativeFunctions, kernel_of_function
from .source import KernelSource

#: by function: how many arrays it takes, and the first that it writes
_ARRAYS = {"lstm_step": (5, 2), "lstm_slope": (6, 4)}


@cache
def lstm_source(name: str, kind: str) -> KernelSource:
    """The kernel of a function of ``lstm.c``.

    Args:
        name: of the function.
        kind: the character of the element type: f.
    """
    return kernel_of_function("lstm.c", f"{name}(args)", *_ARRAYS[name])


class LstmKernels(NativeFunctions):
    """The kernels that are there."""

    def __init__(self) -> None:
        super().__init__(lstm_source)

    def function(self, name: str) -> Callable[[tuple[Any, ...]], int] | None:
        """A function of arrays in a tuple that gives a status; None while there is none.

        Args:
            name: of the function.
        """
        key = name, "f"
        kernel = self._known[key] if key in self._known else self._find(*key)
        return None if kernel is None else kernel.run


#: one for the process
KERNELS: state.StateSlot[LstmKernels] = state.slot("kernels of LSTMs", LstmKernels)
