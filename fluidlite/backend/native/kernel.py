"""A kernel that was compiled, in its library."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np


class Kernel:
    """The functions of a kernel, in a loaded library."""

    def __init__(self, library: Any, free: Any, name: str) -> None:
        def declared(where: Any, function: str, *more: Any) -> Any:
            made = where[function]
            made.argtypes, made.restype = [ctypes.py_object, *more], ctypes.c_int
            return made

        self.library = library
        self.free = free
        #: all of it, with Python's lock and without
        self.run: Any = declared(library, name)
        self.run_free: Any = declared(free, name)
        self.check: Any = declared(library, f"{name}_check")
        self.end: Any = declared(free, f"{name}_end")
        self.part: Any = declared(free, f"{name}_part", ctypes.c_longlong)
        #: all of it, with what starts threads of OpenMP
        self.team: Any = declared(free, f"{name}_team", ctypes.c_void_p)


def opened(path: Path) -> tuple[Any, Any] | None:
    """A library of kernels, with Python's lock and without; None where arrays lie in memory in
    another way than these expect.

    Raises:
        OSError: there is none.
        AttributeError: it is another library.
    """
    loaded, free = ctypes.PyDLL(str(path)), ctypes.CDLL(str(path))
    return (loaded, free) if _fits(loaded) else None


def _fits(library: Any) -> bool:
    """Whether tuples and arrays lie in memory as the library takes them to."""
    library.setup.argtypes = [ctypes.c_longlong, ctypes.c_longlong, ctypes.c_void_p]
    library.setup(tuple.__basicsize__, object.__basicsize__, id(np.ndarray))
    library.probe.argtypes, library.probe.restype = [ctypes.py_object], ctypes.c_longlong
    content = np.arange(6, dtype=np.uint8).reshape(2, 3) + 7
    return bool(
        library.probe((content,)) == 6007
        and library.probe((content.T,)) == -1
        and library.probe((None,)) == -1
    )
