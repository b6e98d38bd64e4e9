"""Sources of Python, as trees."""

import ast
import contextlib
import gc


@contextlib.contextmanager
def garbage_waits():
    """Within it no garbage is looked for: many trees are made and kept, and each search among them
    takes longer than to read one.
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
