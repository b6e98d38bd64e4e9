"""The commands ``fluidlite run SCRIPT`` and ``fluidlite check SCRIPT``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from . import script

#: options that may stand before a script's name
_OPTIONS = ("--strict", "--synthetic-data", "--force")


def main(words: Sequence[str]) -> int | None:
    """Run one of the commands.

    Args:
        words: the command's name and what stands behind it.

    Returns:
        the exit status; None where ``run`` is given no script, but a saved program.
    """
    name, *rest = words
    if name == "check":
        status: int = import_module(f"{__package__}.check").main(rest)
        return status
    path = next((word for word in rest if word not in _OPTIONS), "")
    if path in ("-m", "-"):
        return script.main(rest)
    if path.startswith("-") or not script.is_script(path):
        return None
    return script.main(rest)
