"""``oneflow.version``: the version whose spelling this is."""

from __future__ import annotations

__version__ = "0.9.0"
__git_commit__ = ""
__all__ = ["__version__"]
