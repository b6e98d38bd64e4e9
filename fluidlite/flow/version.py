"""``oneflow.version``: the version whose spelling this is."""

from __future__ import annotations

from ..ground.public_names import list_public_names

__version__ = "0.9.0"
__git_commit__ = ""

list_public_names(globals())
