"""Names of ``fluid`` itself that mean something else under the alias than in ``fluidlite``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

from ... import framework
from ...ground.values import LoDTensor as Tensor
from ..served import notice
from .places import CUDAPinnedPlace, CUDAPlace

P = ParamSpec("P")
core_suffix = "so"
legacy_core = ""

__all__ = ["CUDAPinnedPlace", "CUDAPlace", "Tensor", "memory_optimize", "release_memory"]


def _noticing(function: Callable[P, None]) -> Callable[P, None]:
    """A function that does nothing, and says so."""
    name = function.__name__

    @functools.wraps(function)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        notice(name, f"{name} does nothing: executors plan memory by themselves")

    return told


memory_optimize: Callable[..., None] = _noticing(framework.memory_optimize)
release_memory: Callable[..., None] = _noticing(framework.release_memory)
