"""A thread that lets MPI go on while operators compute: it does so only when it is called."""

from __future__ import annotations

import threading
from collections.abc import Callable

PAUSE = 1e-3  #: seconds between two calls


class Progress:
    """Calls a function again and again while it is needed.

    Args:
        advance: is called.
    """

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance = advance
        self._needed = threading.Event()
        self._thread: threading.Thread | None = None

    def need(self, count: int) -> None:
        """Say how many calls of MPI are on their way."""
        if not count:
            self._needed.clear()
        elif not self._needed.is_set():
            self._needed.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="MPI progress", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._needed.wait()
            pause.wait(PAUSE)
            if self._needed.is_set():
                self._advance()
