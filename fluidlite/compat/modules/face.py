"""Names of ``fluid`` itself that mean something else under the alias than in ``fluidlite``."""

from __future__ import annotations

from ...ground.values import LoDTensor as Tensor
from ...ir.program import Program
from ..served import notice
from .places import CUDAPinnedPlace, CUDAPlace

core_suffix = "so"
legacy_core = ""

__all__ = ["CUDAPinnedPlace", "CUDAPlace", "Tensor", "memory_optimize", "release_memory"]


def memory_optimize(
    input_program: Program,
    skip_opt_set: object = None,
    print_log: bool = False,
    level: int = 0,
    skip_grads: bool = True,
) -> None:
    """Nothing, with a notice: an executor plans memory by itself.

    Args:
        input_program: a program, which stays as it is.
        skip_opt_set, print_log, level, skip_grads: not read.
    """
    _told("memory_optimize")


def release_memory(input_program: Program, skip_opt_set: object = None) -> None:
    """Nothing, with a notice: an executor drops values behind their last use.

    Args:
        input_program: a program, which stays as it is.
        skip_opt_set: not read.
    """
    _told("release_memory")


def _told(name: str) -> None:
    notice(name, f"{name} does nothing: executors plan memory by themselves")
