"""Array libraries that operators run on, and kernel libraries for compiled plans."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from math import prod
from types import ModuleType
from typing import Any

from ..errors import ArgumentError, UnsupportedError
from ..opdef.prepared import KernelLibrary
from . import numpy_

#: elements of the largest value of a kernel of oneDNN; below it NumPy is as fast
SMALLEST_OF_ONEDNN = 1 << 12
_CHOICES = ("numpy", "onednn", "native", "auto")
# read at their first use
_ONEDNN, _JAX = "fluidlite.backend.onednn", "fluidlite.backend.jax_"
_NATIVE, _PIECES = "fluidlite.backend.native.library", "fluidlite.backend.pieces"
_COMPILER = "fluidlite.backend.native.compiler"


def get(name: str) -> ModuleType:
    """The backend of that name: its ``name``, ``xp``, ``asarray`` and ``generators``.

    Raises:
        KeyError: there is none.
    """
    if name == "jax":
        return import_module(_JAX)
    return {"numpy": numpy_}[name]


def kept_notes() -> Any:
    """What keeps notes beside generated kernels, between processes (``native.kernel_cache``); None
    where ``FLUIDLITE_KERNELS`` leaves these out, no compiler is there, or nothing is kept so far.
    """
    if os.environ.get("FLUIDLITE_KERNELS", "") not in ("", "auto", "native"):
        return None
    return import_module(_COMPILER).COMPILER.get().kept_notes()


def kernel_libraries() -> list[Callable[[Any], KernelLibrary | None]]:
    """The kernel libraries that ``FLUIDLITE_KERNELS`` names: ``numpy`` for none beside NumPy,
    ``onednn`` wherever it has a kernel, ``native`` for generated kernels from the first plan on, or
    ``auto``: oneDNN where it is installed and pays, and generated kernels once they are compiled.

    Returns:
        functions, each of which takes a graph and gives what the library offers for it, or None.

    Raises:
        ArgumentError: ``FLUIDLITE_KERNELS`` is something else.
        UnsupportedError: oneDNN, or a compiler, is requested and not installed.
    """
    chosen = os.environ.get("FLUIDLITE_KERNELS", "") or "auto"
    if chosen not in _CHOICES:
        raise ArgumentError(
            f"expected FLUIDLITE_KERNELS to be one of {', '.join(_CHOICES)}, got {chosen!r}"
        )
    if chosen == "numpy":
        return [import_module(_PIECES).open_library]
    native = import_module(_NATIVE)
    if chosen == "native":
        if native.description() is None:
            raise UnsupportedError(
                "FLUIDLITE_KERNELS asks for generated kernels, and there is no C compiler: install "
                'one, or pip install "fluidlite[jit]", or set it to auto or numpy'
            )
        return [partial(native.open_library, waits=True)]
    if chosen == "onednn" and import_module(_ONEDNN).description() is None:
        raise UnsupportedError(
            "FLUIDLITE_KERNELS asks for oneDNN, which is not installed: "
            'pip install "fluidlite[fast]" (Linux on x86-64), or set it to auto or numpy'
        )
    opens = partial(_open_onednn, everywhere=chosen == "onednn")
    if chosen == "auto" and import_module(_COMPILER).COMPILER.get().version:
        return [opens, partial(native.open_library, waits=False)]
    return [opens, import_module(_PIECES).open_library]


def _open_onednn(graph: Any, everywhere: bool) -> KernelLibrary | None:
    """What oneDNN offers for a graph; its modules are read where a value is large enough."""
    if not everywhere:
        shapes = {value.shape for each in graph for value in (*each.inputs, *each.results)}
        if all(prod(shape) < SMALLEST_OF_ONEDNN for shape in shapes):
            return None
    library: KernelLibrary | None = import_module(_ONEDNN).open_library(graph, everywhere)
    return library
