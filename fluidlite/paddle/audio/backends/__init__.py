"""``paddle.audio.backends`` of paddle 2.6: what reads and writes sound files."""

from __future__ import annotations

from ....errors import ArgumentError
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ...holders import hold
from . import backend as backend
from . import wave_backend as wave_backend

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]

_BACKEND = "wave_backend"


def list_available_backends() -> list[str]:
    """The names of what can read and write sound files: the standard library alone."""
    return [_BACKEND]


def get_current_backend() -> str:
    """The name of what does."""
    return _BACKEND


def set_backend(backend_name: str) -> None:
    """Have sound files read by something else: there is one only.

    Args:
        backend_name: "wave_backend".

    Raises:
        ArgumentError: it is another name.
    """
    if backend_name != _BACKEND:
        raise ArgumentError(
            f"expected backend_name to be {_BACKEND!r}, got {backend_name!r:.60}: the standard "
            "library reads WAV files"
        )


list_public_names(globals())
api_boundaries(globals())
hold(globals())
