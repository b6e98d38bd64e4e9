"""The names of a function that its branches and bodies share, through the cells that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class Unbound:
    """What a name has that was assigned nothing."""

    def __repr__(self) -> str:
        return "nothing"


UNBOUND = Unbound()


class Assigned(NamedTuple):
    """Names that a branch or a body assigns."""

    names: Sequence[str] = ()
    lists: Sequence[str] = ()  #: of these, lists that it changes in place
    live: Sequence[str] = ()  #: of these, what is read elsewhere, or before it is assigned


class Cells:
    """The cells of some names.

    Args:
        functions: that share them.
        names: the names.
    """

    def __init__(self, functions: Iterable[Any], names: Sequence[str]) -> None:
        cells_by_name: dict[str, Any] = {}
        for function in functions:
            if function is not None:
                cells_by_name.update(zip(function.__code__.co_freevars, function.__closure__ or ()))
        self._cells = {name: cells_by_name[name] for name in names if name in cells_by_name}

    def get(self) -> dict[str, Any]:
        """What the names have."""
        values: dict[str, Any] = {}
        for name, cell in self._cells.items():
            try:
                values[name] = cell.cell_contents
            except ValueError:
                values[name] = UNBOUND
        return values

    def set(self, values: dict[str, Any]) -> None:
        """Give the names other values."""
        for name, value in values.items():
            cell = self._cells[name]
            if value is not UNBOUND:
                cell.cell_contents = value
            else:
                try:
                    del cell.cell_contents
                except ValueError:
                    pass
