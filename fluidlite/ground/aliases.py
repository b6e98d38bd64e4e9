"""Other names of attributes, which are read by them alone.

>>> class Sheet:
...     width = 3
...     columns = Alias[int]("width", "How wide it is.")
>>> Sheet().columns
3
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

T = TypeVar("T")


class Alias(property, Generic[T]):
    """A property that is another attribute.

    Args:
        attribute: its name; with points, one of an attribute.
        doc: what ``help`` says of it.
    """

    def __init__(self, attribute: str, doc: str = "") -> None:
        read = operator.attrgetter(attribute)
        super().__init__(lambda instance: read(instance))
        self.__doc__ = doc

    if TYPE_CHECKING:

        def __get__(  # type: ignore[override]
            self, instance: Any, owner: type | None = None, /
        ) -> T: ...
