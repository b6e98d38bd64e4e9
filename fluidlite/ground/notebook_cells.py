"""Cells of notebooks: what messages call the files that IPython makes of them."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, NamedTuple


class CellRun(NamedTuple):
    """One run of a cell."""

    cell: str  #: the notebook's name of the cell; where it gives none, that of the cell's text
    number: int  #: the number that the notebook counts runs with


def place(file: str, line: int) -> str:
    """A line of a file, as messages name it: ``cell 3, line 10`` in a notebook.

    The number is the one that stands beside the cell, that of its last run.

    >>> place("train.py", 10)
    'train.py:10'
    """
    number = _number(file)
    return f"{file}:{line}" if number is None else f"cell {number}, line {line}"


def may_run() -> bool:
    """Whether there may be cells: IPython has been imported."""
    return "IPython" in sys.modules


def running(file: str) -> CellRun | None:
    """The run of a cell that is under way in the calling code.

    Args:
        file: of the code; None comes back where it is no cell.
    """
    number = _number(file)
    if number is None:
        return None
    shell = _shell()
    try:
        told = shell.get_parent()["metadata"].get("cellId")
    except (AttributeError, KeyError, TypeError):
        told = None
    return CellRun(told or file, int(shell.execution_count))


def _shell() -> Any:
    """The shell of IPython that runs, if one does."""
    package = sys.modules.get("IPython")
    return None if package is None else package.get_ipython()


def _number(file: str) -> int | None:
    """The number of the last run of the cell that a file stands for."""
    if not may_run() or os.path.exists(file):
        return None
    shell = _shell()
    if shell is None:
        return None
    try:
        found = shell.compile.format_code_name(file)
    except AttributeError:  # another kind of shell
        return None
    number = re.search(r"\d+", found[1]) if found else None
    return None if number is None else int(number[0])
