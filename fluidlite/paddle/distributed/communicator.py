"""``paddle.distributed.communicator``: talks to servers of parameters, which there are not."""

from __future__ import annotations

from typing import Any

from ...ground.console import say
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries

__all__ = ["Communicator"]


class Communicator:
    """What would talk to servers of parameters: it has none, and says so.

    Args:
        mode: accepted.
        kwargs: accepted.
        envs: accepted.
    """

    def __init__(self, mode: Any, kwargs: Any = None, envs: Any = None) -> None:
        self.mode: Any = mode

    def start(self) -> None:
        """Nothing, with a message."""
        _say("start")

    def stop(self) -> None:
        """Nothing, with a message."""
        _say("stop")

    def is_running(self) -> None:
        """Nothing, with a message."""
        _say("stop")

    def __repr__(self) -> str:
        return "<Communicator: without servers>"


def _say(what: str) -> None:
    say(f"you must call init_with_ctx first to init comm before {what}")


list_public_names(globals())
api_boundaries(globals())
