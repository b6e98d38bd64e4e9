"""Other names of attributes, which are read by them, and some written.

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
        written: whether the attribute is written by the other name, too.
    """

    def __init__(self, attribute: str, doc: str = "", written: bool = False) -> None:
        read = operator.attrgetter(attribute)

        def write(instance: Any, value: Any) -> None:
            setattr(instance, attribute, value)

        super().__init__(lambda instance: read(instance), write if written else None)
        self.__doc__ = doc

    if TYPE_CHECKING:

        def __get__(  # type: ignore[override]
            self, instance: Any, owner: type | None = None, /
        ) -> T: ...

        def __set__(self, instance: Any, value: T, /) -> None: ...
