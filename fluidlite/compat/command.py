"""The commands ``fluidlite run SCRIPT`` and ``fluidlite check SCRIPT``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from ..ground.console import command
from . import script

#: options that may stand before a script's name
_OPTIONS = ("--strict", "--synthetic-data", "--force")
_WITH_VALUE = ("--allow", "--paddle")


def _first(words: Sequence[str]) -> str:
    """The first word behind the options of ``run``; empty if there is none."""
    rest = iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif word not in _OPTIONS and word.partition("=")[0] not in _WITH_VALUE:
            return word
    return ""


def main(words: Sequence[str]) -> int | None:
    """Run one of the commands.

    Args:
        words: the command's name and what stands behind it.

    Returns:
        the exit status; None where ``run`` is given no script, but a saved program.
    """
    name, *rest = words
    if name == "check":
        return command(lambda: import_module(f"{__package__}.check").main(rest))
    path = _first(rest)
    if path in ("-m", "-"):
        return script.main(rest)
    if path.startswith("-") or not script.is_script(path):
        return None
    return script.main(rest)
