"""Sources of Python, as trees."""

import ast
import contextlib
import gc


@contextlib.contextmanager
def garbage_waits():
    """Within it no garbage is looked for: each search among many trees takes longer than to read
    one. Let go of them at its end: searches among what a process keeps slow its later tests down.
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@garbage_waits()
def tree_of(path):
    """The tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), path)
