"""The command ``fluidlite``, also as ``python -m fluidlite``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from .ground.interrupts import quietly


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: programs from the time of fluid 1.8 at once, all else by ``cli``.

    Args:
        arguments: what stands behind its name; those of the process when None.

    Returns:
        the exit status.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    return quietly(lambda: _run(words))


def _run(words: list[str]) -> int:
    if words and words[0] in ("run", "check") and find_spec(f"{__package__}.compat"):
        taken: int | None = import_module(f"{__package__}.compat.command").main(words)
        if taken is not None:
            return taken
    status: int = import_module(f"{__package__}.command_line.cli").main(words)
    return status


if __name__ == "__main__":
    sys.exit(main())
