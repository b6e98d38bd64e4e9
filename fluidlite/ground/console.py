"""What the package prints: text that no terminal obeys, to streams that may be closed."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from ..errors import FileError
from .quoting import encodable, terminal_text


def say(
    text: object = "", file: TextIO | None = None, end: str = "\n", flush: bool = False
) -> None:
    """Print a text: control characters, and characters that the stream has no bytes for, stand as
    escape sequences.  Where there is no such stream, nothing happens.

    Args:
        text: its lines.
        file: standard output when None.
        end: what comes behind the text.
        flush: whether it is to be seen at once.
    """
    stream = sys.stdout if file is None else file
    if stream is None:  # Python's answer to a descriptor that is closed
        return
    shown = encodable(terminal_text(f"{text}{end}"), getattr(stream, "encoding", None))
    with _writing(stream):
        stream.write(shown)
        if flush:
            stream.flush()


def say_json(data: Any, indent: int | None = None) -> None:
    """Print data as JSON."""
    import json

    say(json.dumps(data, indent=indent).replace("\x7f", "\\u007f"))


def complain(text: str) -> None:
    """Say on standard error, if there is one, in one line what was wrong."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # there is nobody to tell
            say(f"fluidlite: {' '.join(text.split())}", sys.stderr)


def command(run: Callable[[], int]) -> int:
    """The exit status of a command whose output may be closed, full or no longer read.

    Args:
        run: the command; it gives its exit status.
    """
    if sys.stdout is None:
        complain("standard output is closed")
        return 1
    try:
        try:
            return run()
        finally:
            with _writing(sys.stdout):
                sys.stdout.flush()
    except BrokenPipeError:  # what reads the output has seen enough
        return 0
    except FileError as error:
        complain(str(error))
        return 1


@contextlib.contextmanager
def _writing(stream: TextIO) -> Iterator[None]:
    """Within it a stream is written to; where that fails, what it still holds goes nowhere: Python
    would try it again at its end.
    """
    try:
        yield
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):  # a stream without a descriptor
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        if isinstance(error, BrokenPipeError):
            raise
        name = "standard output" if stream is sys.stdout else getattr(stream, "name", "a stream")
        raise FileError(f"{name} cannot be written: {error.strerror}") from None
