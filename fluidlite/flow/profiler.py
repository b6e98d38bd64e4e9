"""Marks in programs that are measured, in OneFlow's spelling."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ..ground.public_names import list_public_names
from ..ground.reprs import Described

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ProfilerActivity", "range_pop", "range_push", "record_function"]


class ProfilerActivity(Enum):
    """What is measured."""

    CPU = 1
    CUDA = 2


class record_function(Described):
    """A guard that names what runs within it.

    Args:
        name: the name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End what has the name."""


def range_push(range_name: str) -> None:
    """Begin what has a name.

    Args:
        range_name: the name, for tools that show it; there is none here.
    """


def range_pop() -> None:
    """End what was begun last."""


list_public_names(globals())
