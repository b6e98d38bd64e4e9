"""Name scopes: the part of a model that an operator belongs to, as ``/encoder/layer_1/``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from ..errors import ArgumentError
from ..ground import state
from ..ground.tracebacks import api_boundary


class _NameScope:
    """One name scope; counts its children by name."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.counts: dict[str, int] = {}

    def child(self, name: str) -> _NameScope:
        count = self.counts.get(name, 0)
        self.counts[name] = count + 1
        return _NameScope(f"{self.path}{name}{f'_{count}' if count else ''}/")


_current: state.StateSlot[_NameScope] = state.slot("name_scope", lambda: _NameScope("/"))


def current_name_scope() -> str:
    """The path of the innermost name scope."""
    return _current.get().path


@api_boundary
def name_scope(prefix: str | None = None) -> AbstractContextManager[None]:
    """Mark the operators made inside as one part of the model.  Names of variables do not change.

    Args:
        prefix: the part's name; a second part of that name gets ``_1``.

    Raises:
        ArgumentError: no name was given.

    >>> with fluid.name_scope("encoder"):
    ...     y = fluid.layers.fc(fluid.data("x", [None, 3]), 2)
    """
    if not prefix:
        raise ArgumentError("a name scope needs a name")
    return _named(prefix)


@contextmanager
def _named(prefix: str) -> Iterator[None]:
    with _current.guard(_current.get().child(prefix)):
        yield
