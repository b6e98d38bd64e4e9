"""Names only: where fluid 1.8 scripts look for compiled programs and their strategies."""

from __future__ import annotations

from .runtime.compiled import BuildStrategy, CompiledProgram, ExecutionStrategy

__all__ = ["BuildStrategy", "CompiledProgram", "ExecutionStrategy"]
