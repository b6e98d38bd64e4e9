"""Names of signals, also of those that this system does not know."""

from __future__ import annotations

import signal


def signal_name(number: int) -> str:
    """The name of a signal, or its number: Windows has few, and ends processes with others.

    Args:
        number: of the signal.
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
