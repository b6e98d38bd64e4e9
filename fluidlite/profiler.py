"""Names only: where fluid 1.8 scripts look for measuring."""

from __future__ import annotations

from .runtime.profiler import (
    Profile,
    cuda_profiler,
    profiler,
    reset_profiler,
    start_profiler,
    stop_profiler,
)

__all__ = [
    "Profile",
    "cuda_profiler",
    "profiler",
    "reset_profiler",
    "start_profiler",
    "stop_profiler",
]
