"""Names of ``paddle`` itself."""

from __future__ import annotations

import importlib.util

from ...errors import UnsupportedError
from ...ground import state

__version__ = "1.8.5"
__git_commit__ = ""


def enable_static() -> None:
    """Let layers build programs, as they do anyway: for scripts of paddle 2.0, too."""
    state.eager.switch(None)


def disable_static(place: object = None) -> None:
    """Refused: scripts that want this are written for paddle 2.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "paddle.disable_static is of paddle 2; here is 1.8, where layers run at once within "
        "fluid.dygraph.guard()"
    )


def in_dynamic_mode() -> bool:
    """Whether layers run at once."""
    return state.in_dygraph_mode()


def check_import_scipy(OsName: str) -> None:
    """Check that SciPy can be imported, on Windows.

    Args:
        OsName: "nt" on Windows.

    Raises:
        ImportError: it cannot.
    """
    if OsName == "nt" and importlib.util.find_spec("scipy") is None:
        raise ImportError("scipy is not installed: python -m pip install scipy")
