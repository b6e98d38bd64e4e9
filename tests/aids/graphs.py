"""Graphs from text, for tests of passes: text in, text out."""

from textwrap import dedent

import numpy as np

from fluidlite import backend
from fluidlite.inspect.graph_text import parsed, printed
from fluidlite.runtime.compile import CompiledSegment
from fluidlite.runtime.graph import verify
from fluidlite.runtime.passes.form import Context

NUMPY = backend.get("numpy")


def graph(text, constants=()):
    """The graph of a text; ``constants`` are arrays, named by their digests in it."""
    return parsed(dedent(text), digests(constants), NUMPY)


def digests(constants):
    """Arrays by what tells them apart in texts."""
    made = parsed("return")
    return {made.constant(array).digest: array for array in constants}


def after(each, text, constants=(), libraries=()):
    """Whether a pass changed a graph, and the text of what it made; the graph stays well-formed."""
    made = graph(text, constants)
    changed = each.run(made, Context(made.builder, libraries))
    verify(made)
    return changed, printed(made)


def rewrites(each, text, expected, constants=()):
    """Assert that a pass makes one graph of another, and nothing more when it runs again."""
    changed, found = after(each, text, constants)
    assert found == dedent(expected)
    assert changed
    assert after(each, found, constants) == (False, found)


def leaves(each, text, constants=()):
    """Assert that a pass does not change a graph."""
    assert after(each, text, constants) == (False, dedent(text))


def computed(text, feeds, passes=(), constants=()):
    """What a compiled graph gives for each of several feeds, by name."""
    compiled = CompiledSegment(lambda: graph(text, constants), NUMPY, passes=passes)
    found = []
    for feed in feeds:
        env = {name: np.asarray(value) for name, value in feed.items()}
        compiled(env, lambda key: None)
        found.append({name: env[name] for name in compiled.results})
    return found
