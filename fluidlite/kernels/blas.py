"""The BLAS libraries of this process, as threadpoolctl finds them."""

from __future__ import annotations

import os
from importlib import import_module
from itertools import product
from typing import Any


def blas_controllers() -> list[Any] | None:
    """What counts and sets the threads of each BLAS; None if threadpoolctl is not installed."""
    try:
        threadpoolctl = import_module("threadpoolctl")
    except ImportError:
        return None
    return list(threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers)


def blas_info() -> list[dict[str, Any]]:
    """What is known of each BLAS: its version, architecture and number of threads."""
    return [each.info() for each in blas_controllers() or ()]


def blas_cores() -> set[str]:
    """The processors for which the BLAS libraries of this process have kernels, in small letters.

    Each OpenBLAS is asked itself, where the system tells which libraries there are: to read
    threadpoolctl, which knows other libraries, too, takes longer than many a plan.
    """
    names = ("libopenblas", "libscipy_openblas", "libblas")
    paths = [path for path in _loaded() if os.path.basename(path).startswith(names)]
    cores = {core.lower() for path in paths for core in _cores_of(path)}
    return cores or {str(each.get("architecture")).lower() for each in blas_info()}


def _loaded() -> set[str]:
    """The files of libraries that are loaded; none where the system does not tell."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            return {line[line.index("/") : -1] for line in file if "/" in line}
    except OSError:
        return set()


def _cores_of(path: str) -> list[str]:
    """What an OpenBLAS that is loaded calls the processor that it has chosen kernels for."""
    ctypes = import_module("ctypes")
    try:
        library = ctypes.CDLL(path, mode=getattr(os, "RTLD_NOLOAD", 0))
    except OSError:
        return []
    names = (f"{a}openblas_get_corename{z}" for a, z in product(("", "scipy_"), ("", "64_", "_64")))
    cores = []
    for name in names:
        function = getattr(library, name, None)
        if function is not None:
            function.restype = ctypes.c_char_p
            cores.append((function() or b"").decode("ascii", "replace"))
    return cores
