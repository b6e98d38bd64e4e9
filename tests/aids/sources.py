"""Sources of Python, as trees."""

import ast
import bisect
import contextlib
import gc
import re


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


def lines_with(pattern, source):
    """The numbers of the lines on which matches of a pattern begin, in order."""
    ends = [match.start() for match in re.finditer("\n", source)]
    return [bisect.bisect_left(ends, match.start()) + 1 for match in re.finditer(pattern, source)]


def stands_on(node, lines):
    """Whether a node, with its decorators, stands on one of some lines; True where it has no place.

    Args:
        lines: their numbers, in order.
    """
    first = getattr(node, "lineno", None)
    if first is None:
        return True
    for decorator in getattr(node, "decorator_list", ()):
        first = min(first, decorator.lineno)
    at = bisect.bisect_left(lines, first)
    return at < len(lines) and lines[at] <= node.end_lineno


def nodes_on(tree, lines):
    """The nodes of a tree that stand on some lines: far fewer than ``ast.walk`` gives."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if stands_on(node, lines):
            yield node
            waiting += ast.iter_child_nodes(node)
