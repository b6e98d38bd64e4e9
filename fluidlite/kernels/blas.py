"""The BLAS libraries of this process, as threadpoolctl finds them."""

from __future__ import annotations

from importlib import import_module
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
