"""Passes over plans, one idea a file; ``pipeline.py`` says in which order they run.

This module is public and stable: its names, what :class:`Pass` and :class:`Context` have, and the
methods of graphs and instructions that docs/passes.md tells of.
"""

from __future__ import annotations

from ...ground.contracts import Condition, Contract, Invariant
from ...ground.public_names import list_public_names
from ..graph import verify
from .form import Context, Pass, no_blocks, outputs, plan_pass, static_sizes
from .pipeline import CLEANUP, NEEDED, PIPELINE, names, run, selected

__all__ = [
    "CLEANUP", "Condition", "Context", "Contract", "Invariant", "NEEDED", "PIPELINE", "Pass",
    "names", "no_blocks", "outputs", "plan_pass", "run", "selected", "static_sizes", "verify",
]  # fmt: skip

list_public_names(globals())
